//! Tests of readers and writers, and of permits of several names.

use super::support::{Held, World, until};

#[test]
fn readers_share_a_name_and_a_writer_has_it_alone() {
    for world in [World::embedded(), World::redis()] {
        let (one, _) = Held::hold(&world, &["pages", "--shared"]);
        assert_eq!(world.seinpaal(&["run", "pages", "--shared", "-n", "true"]).code, 0);
        let done = world.seinpaal(&["run", "pages", "--exclusive", "-n", "true"]);
        assert_eq!(done.code, 75, "{done:?}");
        assert!(done.err.contains("1 reader"), "{done:?}");
        one.let_go();
        let (writer, _) = Held::hold(&world, &["pages", "--exclusive"]);
        let done = world.seinpaal(&["run", "pages", "--shared", "-n", "true"]);
        assert_eq!(done.code, 75, "{done:?}");
        assert!(done.err.contains("1 writer"), "{done:?}");
        assert_eq!(world.show("pages")["kind"], "rwlock");
        assert_eq!(writer.let_go().code, 0);
    }
}

#[test]
fn a_reader_does_not_pass_a_writer_that_waits() {
    let world = World::embedded();
    let (reader, _) = Held::hold(&world, &["pages", "--shared"]);
    let mut writer = Held::start(world.command(&["run", "pages", "--exclusive", "true"]));
    world.until_waiting("pages", 1);
    assert_eq!(world.seinpaal(&["run", "pages", "--shared", "-n", "true"]).code, 75);
    reader.let_go();
    assert_eq!(writer.end().code, 0);
}

#[test]
fn another_kind_of_lock_at_the_same_name_is_78_and_named() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a"]);
    let done = world.seinpaal(&["run", "a", "--shared", "true"]);
    assert_eq!((done.code, done.err.lines().count()), (78, 1), "{done:?}");
    assert!(done.err.contains("semaphore") && done.err.contains("readers-writer"), "{done:?}");
    held.let_go();
    let (held, _) = Held::hold(&world, &["b", "--exclusive"]);
    let done = world.seinpaal(&["limit", "b", "3"]);
    assert_eq!((done.code, done.err.lines().count()), (78, 1), "{done:?}");
    held.let_go();
}

#[test]
fn how_many_is_not_for_readers_and_writers_to_say() {
    let world = World::embedded();
    for flags in [["-j", "2"], ["-p", "2"], ["--exclusive", "--set-limit"]] {
        let done = world.seinpaal(&["run", "a", "--shared", flags[0], flags[1], "true"]);
        assert_eq!(done.code, 64, "{flags:?}: {done:?}");
    }
}

#[test]
fn all_names_are_had_or_none() {
    for world in [World::embedded(), World::redis()] {
        let (held, _) = Held::hold(&world, &["b"]);
        let done = world.seinpaal(&["run", "a", "--also", "b", "-n", "true"]);
        assert_eq!(done.code, 75, "{done:?}");
        let done = world.seinpaal(&["run", "a", "--also", "b", "-w", "1s", "true"]);
        assert_eq!(done.code, 75, "{done:?}");
        assert!(done.err.starts_with("seinpaal: b ("), "{done:?}");
        assert!(done.err.contains("timed out after 1s: held by "), "{done:?}");
        assert_eq!(world.show("a")["permits_held"], 0);
        held.let_go();
        let script = "echo $SEINPAAL_NAME $SEINPAAL_ALSO_SLOTS; test -n \"$SEINPAAL_ALSO_FENCES\"";
        let done = world.seinpaal(&["run", "a", "--also", "b", "--also", "c", "sh", "-c", script]);
        assert_eq!((done.code, done.out.as_str()), (0, "a 0,0\n"), "{done:?}");
    }
}

#[test]
fn a_request_in_another_order_does_not_wait_for_ever() {
    let world = World::embedded();
    let start = |first: &str, second: &str| {
        Held::start(world.command(&["run", first, "--also", second, "true"]))
    };
    let mut runs: Vec<_> =
        (0..8).map(|turn| if turn % 2 == 0 { start("a", "b") } else { start("b", "a") }).collect();
    assert!(runs.iter_mut().all(|run| run.end().code == 0));
}

#[test]
fn a_name_twice_or_a_number_that_nobody_can_have_is_64() {
    let world = World::embedded();
    for also in ["a", "b:0", ""] {
        let done = world.seinpaal(&["run", "a", "--also", also, "true"]);
        assert_eq!(done.code, 64, "{also:?}: {done:?}");
    }
    world.seinpaal(&["limit", "b", "2"]);
    assert_eq!(world.seinpaal(&["run", "a", "--also", "b:3", "true"]).code, 78);
    assert_eq!(world.seinpaal(&["run", "a", "--also", "b:2", "true"]).code, 0);
}

#[test]
fn cmd_ends_when_one_of_several_is_evicted() {
    let world = World::embedded();
    let (mut held, _) = Held::hold(&world, &["a", "--also", "b"]);
    let ticket = world.show("b")["holders"][0]["ticket"].as_str().unwrap().to_owned();
    assert_eq!(world.seinpaal(&["evict", "b", &ticket]).code, 0);
    let done = held.end();
    assert_eq!(done.code, 122, "{done:?}");
    until("a is free again", || world.show("a")["permits_held"] == 0);
}
