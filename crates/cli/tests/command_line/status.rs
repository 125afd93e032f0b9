//! Tests of exit statuses.

use super::support::{Held, World, both, kill, lives, until};

#[test]
fn the_status_is_that_of_cmd() {
    let world = World::embedded();
    for status in ["0", "1", "7", "75", "122", "255"] {
        let done = world.seinpaal(&["run", "a", "sh", "-c", &format!("exit {status}")]);
        assert_eq!(done.code.to_string(), status);
    }
}

#[test]
fn a_signal_that_ends_cmd_is_128_more() {
    let world = World::embedded();
    for (name, number) in [("KILL", 9), ("TERM", 15), ("SEGV", 11), ("INT", 2), ("HUP", 1)] {
        let done = world.seinpaal(&["run", "a", "sh", "-c", &format!("kill -{name} $$")]);
        assert_eq!(done.code, 128 + number, "{name}");
    }
}

#[test]
fn busy_is_75_with_the_reason_or_what_the_caller_says() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a"]);
    let done = world.seinpaal(&["run", "a", "-n", "true"]);
    assert_eq!((done.code, done.out.as_str()), (75, ""));
    assert_eq!(done.err.lines().count(), 1);
    assert!(done.err.contains("busy: held by "), "{done:?}");
    let skips = ["run", "a", "-n", "-E", "0", "true"];
    let done = world.seinpaal(&skips);
    assert_eq!(
        (done.code, done.err.as_str()),
        (0, ""),
        "with -E 0 it is no failure, and nothing is printed"
    );
    let done = world.seinpaal(&[&skips[..2], &["-v"], &skips[2..]].concat());
    assert!(done.err.contains("busy: held by "), "{done:?}");
    let done = world.seinpaal(&["run", "a", "-n", "-E", "0", "-q", "true"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert_eq!(world.seinpaal(&["run", "a", "-w", "0", "true"]).code, 75);
    assert_eq!(held.let_go().code, 0);
}

#[test]
fn a_wait_that_is_over_is_75_and_leaves_the_queue() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a"]);
    let done = world.seinpaal(&["run", "a", "-w", "1s", "-E", "3", "true"]);
    assert_eq!(done.code, 3, "{done:?}");
    assert!(done.err.contains("timed out"), "{done:?}");
    assert_eq!(world.show("a")["waiters"].as_array().unwrap().len(), 0);
    held.let_go();
}

#[test]
fn too_many_waiting_is_75() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a"]);
    let mut waiter = Held::start(world.command(&["run", "a", "true"]));
    world.until_waiting("a", 1);
    let done = world.seinpaal(&["run", "a", "--max-waiting", "1", "true"]);
    assert_eq!(done.code, 75, "{done:?}");
    assert!(done.err.contains("1 waiting"), "{done:?}");
    held.let_go();
    assert_eq!(waiter.end().code, 0);
}

#[test]
fn bad_flags_and_values_are_64_in_one_line() {
    let world = World::embedded();
    let long = "x".repeat(513);
    for args in [
        &["run"][..],
        &["run", "a"],
        &["run", "", "true"],
        &["run", "a\nb", "true"],
        &["run", &long, "true"],
        &["run", "a", "--no-such-flag", "true"],
        &["run", "a", "-j", "0", "true"],
        &["run", "a", "-j", "-1", "true"],
        &["run", "a", "-j", "99999999999999999999", "true"],
        &["run", "a", "-p", "0", "true"],
        &["run", "a", "-p", "x", "true"],
        &["run", "a", "-E", "256", "true"],
        &["run", "a", "-n", "-w", "1", "true"],
        &["run", "a", "-w", "1x", "true"],
        &["run", "a", "-w", "-1", "true"],
        &["run", "a", "--ttl", "99ms", "true"],
        &["run", "a", "--ttl", "25h", "true"],
        &["run", "a", "--priority", "101", "true"],
        &["run", "a", "--on-lost", "ignore", "true"],
        &["run", "a", "--max-hold", "0", "true"],
        &["run", "a", "--label", "x", "true"],
        &["run", "a", "--label", "=x", "true"],
        &["run", "a", "--set-limit", "true"],
        &["run", "a", "--adopt-limit", "--set-limit", "-j", "2", "true"],
        &["run", "a", "--events", "99", "true"],
        &["run", "a", "--events", "x", "true"],
        &["release", "a", "no-ticket"],
        &["renew", "a"],
        &["limit", "a", "-1"],
        &["limit", "a", "1000000001"],
        &["-s", "etcd://host", "list"],
        &["--store", "redis://host?nonsense=1", "list"],
        &["--store", "redis+sentinel://host:26379", "list"],
        &["no-such-command"],
        &["completions", "no-such-shell"],
        &["man", "no-such-command"],
        &[],
    ] {
        let done = world.seinpaal(args);
        assert_eq!((done.code, done.out.as_str()), (64, ""), "{args:?}: {done:?}");
        assert_eq!(done.err.lines().count(), 1, "{args:?}: {done:?}");
        assert!(done.err.starts_with("seinpaal: "), "{args:?}: {done:?}");
    }
}

#[test]
fn a_mistyped_command_or_flag_gets_a_suggestion_and_the_help_to_read() {
    let world = World::embedded();
    for (args, suggested, help) in [
        (&["runn", "a", "true"][..], "'run'", "`seinpaal --help`"),
        (&["run", "a", "--wiat", "1", "true"], "'--wait'", "`seinpaal run --help`"),
        (
            &["queue", "work", "q", "--untl-empty", "x"],
            "'--until-empty'",
            "`seinpaal queue work --help`",
        ),
    ] {
        let done = world.seinpaal(args);
        assert_eq!((done.code, done.err.lines().count()), (64, 1), "{args:?}: {done:?}");
        assert!(done.err.contains("similar") && done.err.contains(suggested), "{args:?}: {done:?}");
        assert!(done.err.contains(help), "{args:?}: {done:?}");
    }
}

#[test]
fn a_refusal_names_a_holder_how_many_more_there_are_and_only_names_that_are_busy() {
    for world in both() {
        let (held, _) = Held::hold(&world, &["a", "-j", "2", "--label", "job=41"]);
        let (other, _) = Held::hold(&world, &["a"]);
        let mut waiter = Held::start(world.command(&["run", "a", "true"]));
        world.until_waiting("a", 1);
        let by = format!("held by {}@", held.pid());
        for (args, why) in [
            (&["run", "a", "-n", "true"][..], "a: busy: "),
            (&["run", "a", "-w", "1s", "true"], "a: timed out after 1s: "),
            (&["acquire", "a", "-n"], "a: busy: "),
        ] {
            let done = world.seinpaal(args);
            assert_eq!((done.code, done.err.lines().count()), (75, 1), "{args:?}: {done:?}");
            let err = done.err.replace(&format!(" ({})", world.store), "");
            for words in [why, &by, " job=41 for ", " and 1 more; 1 waiting; "] {
                assert!(err.contains(words), "{words:?}: {args:?}: {err}");
            }
        }
        let both = ["run", "free", "-j", "4", "--also", "a", "-n", "true"];
        let done = world.seinpaal(&both);
        assert!(done.code == 75 && !done.err.contains("free"), "{done:?}");
        held.let_go();
        other.let_go();
        assert_eq!(waiter.end().code, 0);
    }
}

#[test]
fn a_cmd_that_cannot_run_is_found_before_queueing() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a"]);
    std::fs::write(world.path("plain"), "").unwrap();
    assert_eq!(world.seinpaal(&["run", "a", "no-such-command"]).code, 127);
    assert_eq!(world.seinpaal(&["run", "a", "./no-such-file"]).code, 127);
    assert_eq!(world.seinpaal(&["run", "a", "./plain"]).code, 126);
    assert_eq!(world.seinpaal(&["run", "a", "/"]).code, 126);
    held.let_go();
}

#[test]
fn a_cmd_without_its_interpreter_gives_the_permit_back() {
    let world = World::embedded();
    world.shell("printf '#!/no/such/shell\\n' >script; chmod +x script");
    assert_eq!(world.seinpaal(&["run", "a", "./script"]).code, 127);
    assert_eq!(world.show("a")["permits_held"], 0);
}

#[test]
fn a_store_that_cannot_be_reached_is_69() {
    let world = World::embedded();
    for store in ["redis://127.0.0.1:1", "redis+sentinel://127.0.0.1:1,127.0.0.1:1/m"] {
        let store = format!("{store}?connect-timeout=100ms");
        let done = world.seinpaal(&["-s", &store, "list"]);
        assert_eq!(done.code, 69, "{done:?}");
        assert_eq!(done.err.lines().count(), 1);
    }
}

#[test]
fn a_store_that_refuses_us_is_77() {
    let world = World::with_redis(&["--requirepass", "right"]);
    let wrong = format!("{}?pass=wr0ng", world.store);
    let done = world.seinpaal(&["--store", &wrong, "run", "a", "true"]);
    assert_eq!(done.code, 77, "{done:?}");
    assert!(!done.err.contains("wr0ng"));
    let right = format!("{}?pass=right", world.store);
    assert_eq!(world.seinpaal(&["run", "-s", &right, "a", "true"]).code, 0);
}

#[test]
fn another_limit_is_78_with_both_numbers_unless_adopted_or_set() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a", "-j", "2"]);
    let done = world.seinpaal(&["run", "a", "-j", "3", "true"]);
    assert_eq!(done.code, 78);
    assert!(done.err.contains('2') && done.err.contains('3'), "{done:?}");
    let limit = &["sh", "-c", "echo $SEINPAAL_LIMIT"];
    let adopt = world.seinpaal(&[&["run", "a", "-j", "3", "--adopt-limit"][..], limit].concat());
    assert_eq!((adopt.code, adopt.out.as_str()), (0, "2\n"));
    let set = world.seinpaal(&[&["run", "a", "-j", "3", "--set-limit"][..], limit].concat());
    assert_eq!((set.code, set.out.as_str()), (0, "3\n"));
    let stored = world.seinpaal(&[&["run", "a"][..], limit].concat());
    assert_eq!((stored.code, stored.out.as_str()), (0, "3\n"));
    held.let_go();
}

#[test]
fn more_permits_than_the_limit_are_refused_at_once() {
    let world = World::embedded();
    assert_eq!(world.seinpaal(&["run", "a", "-j", "2", "-p", "3", "true"]).code, 78);
    assert_eq!(world.seinpaal(&["run", "a", "-p", "2", "true"]).code, 78);
    assert_eq!(world.seinpaal(&["run", "a", "-j", "2", "-p", "2", "true"]).code, 0);
}

#[test]
fn the_longest_hold_ends_in_124_even_if_cmd_ignores_term() {
    let world = World::embedded();
    let script = "trap '' TERM; while :; do read x </dev/zero; done";
    let done =
        world.seinpaal(&["run", "a", "--max-hold", "50ms", "-k", "50ms", "sh", "-c", script]);
    assert_eq!(done.code, 124, "{done:?}");
    let done = world.seinpaal(&["run", "a", "--max-hold", "50ms", "-q", "cat", "/dev/zero"]);
    assert_eq!(done.err, "");
    assert_eq!(done.code, 124);
}

#[test]
fn an_evicted_holder_is_122_and_its_whole_group_is_stopped() {
    let world = World::embedded();
    let script = "echo $$; sleep 1000 & echo $!; wait";
    let (mut held, _) = Held::run(&world, &["a"], script);
    let background = held.line().parse().unwrap();
    let ticket = world.show("a")["holders"][0]["ticket"].as_str().unwrap().to_owned();
    assert_eq!(world.seinpaal(&["evict", "a", &ticket]).code, 0);
    let done = held.end();
    assert_eq!(done.code, 122, "{done:?}");
    assert!(done.err.contains("evicted"), "{done:?}");
    until("the group is gone", || !lives(background));
}

#[test]
fn a_run_that_only_wants_a_warning_goes_on_and_ends_with_cmds_status() {
    let world = World::embedded();
    let (held, cmd) = Held::hold(&world, &["a", "--on-lost", "warn"]);
    let ticket = world.show("a")["holders"][0]["ticket"].as_str().unwrap().to_owned();
    world.seinpaal(&["evict", "a", &ticket]);
    // With `--on-lost warn`, the permit is free while the command goes on.
    assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 0);
    assert!(lives(cmd));
    let done = held.let_go();
    assert_eq!(done.code, 0);
    assert_eq!(done.err.lines().count(), 1, "{done:?}");
}

#[test]
fn an_evicted_waiter_is_not_admitted() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a"]);
    let mut waiter = Held::start(world.command(&["run", "a", "true"]));
    world.until_waiting("a", 1);
    let ticket = world.show("a")["waiters"][0]["ticket"].as_str().unwrap().to_owned();
    assert_eq!(world.seinpaal(&["evict", "a", &ticket]).code, 0);
    assert_eq!(waiter.end().code, 75);
    held.let_go();
}

#[test]
fn a_killed_cmd_frees_its_permit() {
    let world = World::embedded();
    let (mut held, cmd) = Held::hold(&world, &["a"]);
    kill("KILL", cmd);
    assert_eq!(held.end().code, 137);
    assert_eq!(world.show("a")["permits_held"], 0);
}
