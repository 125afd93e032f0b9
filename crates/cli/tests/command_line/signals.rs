//! Signals, sent to the program by its id.

use super::support::{Held, World, lives, until};

/// Says its id, then the name of every signal that it gets; ends with 5 on USR2.
const LISTEN: &str = "for s in TERM INT HUP QUIT USR1 CONT WINCH; do trap \"echo $s\" $s; done; \
                      trap 'trap : TERM; kill 0; exit 5' USR2; echo $$; while :; do sleep 1 >/dev/null 2>&1 & wait; done";

#[test]
fn each_signal_reaches_cmd_once() {
    let world = World::embedded();
    let (mut held, _) = Held::run(&world, &["a"], LISTEN);
    for name in ["TERM", "INT", "HUP", "QUIT", "USR1", "CONT", "WINCH", "TERM"] {
        held.signal(name);
        assert_eq!(held.line(), name);
    }
    held.signal("USR2");
    let done = held.end();
    assert_eq!((done.code, done.out.as_str()), (5, ""), "nothing came twice");
}

#[test]
fn a_signal_that_ends_cmd_ends_us_with_128_more() {
    let world = World::embedded();
    for (name, number) in [("TERM", 15), ("INT", 2), ("HUP", 1), ("QUIT", 3), ("USR1", 10)] {
        let (mut held, _) = Held::run(&world, &["a"], "ulimit -c 0; echo $$; exec sleep 1000");
        held.signal(name);
        assert_eq!(held.end().code, 128 + number, "{name}");
    }
}

#[test]
fn a_signal_while_waiting_leaves_the_queue_at_once() {
    for world in [World::embedded(), World::redis()] {
        let (held, _) = Held::hold(&world, &["a"]);
        for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
            let mut waiter = Held::start(world.command(&["run", "a", "echo", "ran"]));
            world.until_waiting("a", 1);
            waiter.signal(name);
            let done = waiter.end();
            assert_eq!((done.code, done.out.as_str()), (128 + number, ""), "{name}");
            assert_eq!(world.show("a")["waiters"].as_array().unwrap().len(), 0, "{name}");
        }
        held.let_go();
    }
}

#[test]
fn a_signal_ends_the_waiting_of_acquire_too() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a"]);
    let mut waiter = Held::start(world.command(&["acquire", "a"]));
    world.until_waiting("a", 1);
    waiter.signal("TERM");
    let done = waiter.end();
    assert_eq!((done.code, done.out.as_str()), (143, ""));
    held.let_go();
}

#[test]
fn the_permit_is_given_back_only_when_cmd_is_gone() {
    let world = World::embedded();
    // The group gets TERM, so the reader is one that ignores it. It says that it is there once it
    // does.
    let script =
        "trap 'echo busy' TERM; (trap '' TERM; echo $$; exec cat); wait; exit 0 2>/dev/null";
    let (mut held, _) = Held::run(&world, &["a"], script);
    held.signal("TERM");
    assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 75);
    held.stdin = None;
    assert_eq!(held.line(), "busy");
    assert_eq!(held.end().code, 0);
    assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 0);
}

#[test]
fn a_stopped_cmd_is_continued_by_what_continues_us() {
    let world = World::embedded();
    let (mut held, cmd) = Held::run(&world, &["a"], "echo $$; exec cat");
    held.signal("TSTP");
    let state = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(") ").unwrap().1.as_bytes()[0]
    };
    until("both are stopped", || state(cmd) == b'T' && state(held.pid()) == b'T');
    held.signal("CONT");
    until("both go on", || state(cmd) != b'T' && state(held.pid()) != b'T');
    std::io::Write::write_all(held.stdin.as_mut().unwrap(), b"still here\n").unwrap();
    assert_eq!(held.line(), "still here");
    assert_eq!(held.let_go().code, 0);
}

#[test]
fn a_daemon_that_cmd_leaves_behind_does_not_hold_the_permit() {
    for world in [World::embedded(), World::redis()] {
        let script = "setsid sh -c 'exec sleep 1000 >/dev/null 2>&1' & echo $!";
        let done = world.seinpaal(&["run", "a", "sh", "-c", script]);
        let daemon = done.out.trim().parse().unwrap();
        assert_eq!(done.code, 0);
        assert!(lives(daemon));
        assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 0);
        super::support::kill("KILL", daemon);
    }
}
