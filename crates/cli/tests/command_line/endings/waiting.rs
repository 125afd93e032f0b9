//! Tests of waits that end without a permit.

use super::{
    super::support::{Held, World, both, kill},
    HOLD, end, run, ticket, watched,
};

#[test]
fn a_wait_that_ends_with_75_says_why() {
    for world in both() {
        let (held, _) = Held::hold(&world, &["a"]);
        for (options, words) in [
            ("-n", &["busy", "held by ", "leave out -n"][..]),
            ("-w 1s", &["timed out after 1s", "held by ", "longer -w"]),
            ("--max-waiting 0", &["wait already", "--max-waiting"]),
        ] {
            let ended = run(&world, options);
            assert_eq!(ended.done.code, 75, "{options}: {:?}", ended.done);
            ended.must_say(&world, words);
            ended.must_not_hold();
        }
        held.let_go();
        world.seinpaal(&["pause", "a", "--reason", "driver update"]);
        for options in ["-n", "-w 1s"] {
            let ended = run(&world, options);
            assert_eq!(ended.done.code, 75, "{options}: {:?}", ended.done);
            ended.must_say(&world, &["paused: driver update", "resume"]);
        }
    }
}

#[test]
fn a_run_at_a_limit_of_0_says_so() {
    for world in both() {
        world.seinpaal(&["limit", "a", "0"]);
        let ended = run(&world, "-n");
        assert_eq!(ended.done.code, 75, "{:?}", ended.done);
        ended.must_say(&world, &["limit is 0", "seinpaal limit"]);
    }
}

#[test]
fn a_run_at_a_guarded_store_says_for_how_long() {
    let mut world = World::redis();
    world.store.push_str("?restart-guard=20s");
    let ended = run(&world, "-n");
    assert_eq!(ended.done.code, 75, "{:?}", ended.done);
    ended.must_say(&world, &["guarded for", "s more"]);
}

#[test]
fn a_signal_ends_the_wait() {
    for world in both() {
        let (held, _) = Held::hold(&world, &["a"]);
        for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
            let mut waiter = watched(&world, "", HOLD);
            world.until_waiting("a", 1);
            waiter.signal(name);
            let ended = end(&world, &mut waiter);
            assert_eq!(ended.done.code, 128 + number);
            ended.must_say(&world, &[name, "while it waited"]);
            ended.must_not_hold();
            world.until_waiting("a", 0);
        }
        held.let_go();
    }
}

#[test]
fn a_waiter_that_is_evicted_says_so() {
    for world in both() {
        let (held, _) = Held::hold(&world, &["a"]);
        let mut waiter = watched(&world, "", HOLD);
        world.until_waiting("a", 1);
        assert_eq!(world.seinpaal(&["evict", "a", &ticket(&world, "waiters")]).code, 0);
        let ended = end(&world, &mut waiter);
        assert_eq!(ended.done.code, 75);
        ended.must_say(&world, &["out of the line", "evict"]);
        ended.must_not_hold();
        held.let_go();
    }
}

#[test]
fn a_store_that_falls_silent_ends_the_wait_as_unreachable() {
    let world = World::redis();
    let (held, cmd) = Held::hold(&world, &["a"]);
    let mut waiter = watched(&world, "-w 3s", HOLD);
    let mut quiet = Held::start(world.command(&["-q", "run", "a", "-w", "3s", "true"]));
    world.until_waiting("a", 2);
    world.redis.as_ref().unwrap().pause();
    let ended = end(&world, &mut waiter);
    assert_eq!(quiet.end().code, 69, "what is printed decides nothing");
    world.redis.as_ref().unwrap().resume();
    assert_eq!(ended.done.code, 69, "{:?}", ended.done);
    let last = ended.done.err.lines().last().unwrap();
    assert!(last.contains("answer") && last.contains(&world.store), "{last}");
    ended.must_not_hold();
    kill("KILL", cmd);
    drop(held);
}
