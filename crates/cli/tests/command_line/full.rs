//! Tests with a disk without room. A limit on the size of files imitates one: every write beyond
//! the first bytes of a file fails. The limit needs no rights and no file system of its own.

use std::time::{Duration, Instant};

use super::support::{Done, Held, World};

/// A time that is shorter than the store's patience of 30 s.
const AT_ONCE: Duration = Duration::from_secs(20);

fn world() -> World {
    let world = World::embedded();
    assert_eq!(world.seinpaal(&["run", "n", "--", "true"]).code, 0);
    world
}

/// Runs the program in a shell that cannot write to files.
fn without_room(world: &World, arguments: &str) -> Done {
    world.shell(&format!("trap '' XFSZ; ulimit -f 1; exec \"$SEINPAAL\" {arguments}"))
}

fn assert_is_full(done: &Done, what: &str) {
    assert_eq!((done.code, done.out.as_str()), (69, ""), "{what}: {done:?}");
    assert_eq!(done.err.lines().count(), 1, "{what}: {done:?}");
    assert!(done.err.contains("seinpaal.db") && done.err.contains("make room"), "{what}: {done:?}");
    assert!(!done.err.contains("may have"), "{what}: {done:?}");
}

#[test]
fn a_store_without_room_is_69_at_once_and_nothing_was_done() {
    let world = world();
    for arguments in [
        "run n -- echo ran",
        "run -n n -- echo ran",
        "run -w 1d n -- echo ran",
        "run n --also m -- echo ran",
        "acquire n",
        "queue push q x",
        "queue work q -- cat",
        "queue work q --until-empty -- cat",
    ] {
        let begin = Instant::now();
        assert_is_full(&without_room(&world, arguments), arguments);
        assert!(begin.elapsed() < AT_ONCE, "{arguments}: {:?}", begin.elapsed());
    }
    assert_eq!(world.seinpaal(&["run", "-n", "n", "--", "true"]).code, 0, "it has room again");
    assert_eq!(world.seinpaal(&["queue", "work", "q", "--until-empty", "--", "cat"]).out, "");
}

#[test]
fn a_wait_ends_with_69_when_the_store_runs_out_of_room() {
    let world = world();
    let (held, _) = Held::hold(&world, &["n"]);
    let waits = "trap '' XFSZ; exec \"$SEINPAAL\" run n -- echo ran";
    let mut waiter = Held::start(world.shell_command(waits));
    world.until_waiting("n", 1);
    let pid = waiter.pid().to_string();
    let limited = world.shell(&format!("prlimit --pid {pid} --fsize=512"));
    assert_eq!(limited.code, 0, "{limited:?}");
    assert_is_full(&waiter.end(), "a waiter");
    assert_eq!(held.let_go().code, 0);
}

#[test]
fn how_many_hold_and_what_is_wrong_can_be_seen_without_room() {
    let world = world();
    let (held, _) = Held::hold(&world, &["n"]);
    let done = without_room(&world, "show n");
    assert_eq!((done.code, done.err.lines().count()), (69, 1), "{done:?}");
    assert!(done.out.starts_with("n: 1 of 1 held, 0 waiting"), "{done:?}");
    assert!(done.err.contains("make room"), "{done:?}");
    let done = without_room(&world, "doctor");
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.out.contains("directory") && done.out.contains("RISK  nobody gets in"),
        "{done:?}"
    );
    held.let_go();
}
