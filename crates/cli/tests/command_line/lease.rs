//! Tests of leases. The program is killed, stopped, or cut off from its store, and still there is
//! never a holder too many.

use super::support::{Held, World, kill, lives, until};

/// A script that prints its own process id, and that of a process in the background that ignores
/// TERM.
const STUBBORN: &str = "echo $$; (trap '' TERM; exec sleep 1000) & echo $!; exec sleep 1000";

#[test]
fn on_this_machine_a_cmd_whose_wrapper_was_killed_counts_until_it_ends() {
    let world = World::embedded();
    let (mut held, cmd) = Held::hold(&world, &["a"]);
    held.kill_hard();
    assert!(lives(cmd), "it is not to be disturbed");
    assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 75);
    held.stdin = None;
    until("it has ended", || !lives(cmd));
    assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 0, "free at once");
}

#[test]
fn on_this_machine_a_waiter_gets_in_when_the_orphaned_cmd_ends() {
    let world = World::embedded();
    let (mut held, _) = Held::hold(&world, &["a"]);
    let mut waiter = Held::start(world.command(&["run", "a", "echo", "in"]));
    world.until_waiting("a", 1);
    held.kill_hard();
    held.stdin = None;
    assert_eq!(waiter.end().out, "in\n");
}

/// A program that closes all inherited descriptors, as ssh, tcsh and closefrom(3) do, and then
/// holds.
const CLOSE_ALL: &str = "exec python3 -c 'import os, sys
os.closerange(3, 4096)
print(os.getpid(), flush=True)
sys.stdin.read()'";

#[test]
fn on_this_machine_an_orphaned_cmd_that_closed_what_it_inherited_counts_until_it_ends() {
    let world = World::embedded();
    let (mut held, cmd) = Held::run(&world, &["a"], CLOSE_ALL);
    held.kill_hard();
    assert!(lives(cmd), "it is not to be disturbed");
    assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 75);
    let mut waiter = Held::start(world.command(&["run", "a", "echo", "in"]));
    world.until_waiting("a", 1);
    held.stdin = None;
    assert_eq!(waiter.end().out, "in\n");
    assert!(!lives(cmd), "nobody got in before");
}

#[test]
fn on_this_machine_what_an_orphaned_cmd_left_in_the_background_does_not_hold() {
    let world = World::embedded();
    let script = "setsid sleep 1000 >/dev/null 2>&1 & echo $$; echo $!; exec cat >/dev/null";
    let (mut held, cmd) = Held::run(&world, &["a"], script);
    let daemon = held.line().parse().unwrap();
    held.kill_hard();
    held.stdin = None;
    until("CMD has ended", || !lives(cmd));
    assert!(lives(daemon));
    assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 0);
    kill("KILL", daemon);
}

#[test]
fn on_a_server_the_whole_group_of_a_killed_wrapper_is_gone_before_the_next_gets_in() {
    let world = World::redis();
    let (mut held, cmd) = Held::run(&world, &["a", "--ttl", "3s"], STUBBORN);
    let background: u32 = held.line().parse().unwrap();
    let script = states(&[cmd, background]);
    let mut next = Held::start(world.command(&["run", "a", "--ttl", "3s", "sh", "-c", &script]));
    world.until_waiting("a", 1);
    held.kill_hard();
    let done = next.end();
    // A zombie whose new parent has not looked yet does no harm.
    assert!(done.out.lines().all(|line| line.contains("zombie")), "{done:?}");
    until("the group is gone", || !lives(cmd) && !lives(background));
}

#[test]
fn on_a_server_a_cmd_dies_with_its_wrapper_even_without_the_guard() {
    let world = World::redis();
    let (mut held, cmd) = Held::run(&world, &["a"], "trap '' TERM; echo $$; exec sleep 1000");
    kill("KILL", guard_of(held.pid()));
    held.kill_hard();
    until("CMD is gone", || !lives(cmd));
}

#[test]
fn a_guard_that_was_killed_is_replaced() {
    let world = World::redis();
    let (mut held, cmd) = Held::run(&world, &["a", "--ttl", "3s"], STUBBORN);
    let background: u32 = held.line().parse().unwrap();
    let first = guard_of(held.pid());
    kill("KILL", first);
    until("there is another guard", || guards_of(held.pid()).iter().any(|guard| *guard != first));
    held.kill_hard();
    until("the group is gone", || !lives(cmd) && !lives(background));
}

#[test]
fn on_a_server_a_stopped_wrapper_cannot_keep_cmd_running_past_the_lease() {
    let world = World::redis();
    let (mut held, cmd) = Held::run(&world, &["a", "--ttl", "2s"], STUBBORN);
    let background: u32 = held.line().parse().unwrap();
    held.stop();
    let script = states(&[cmd, background]);
    let done = world.seinpaal(&["run", "a", "sh", "-c", &script]);
    assert!(done.out.lines().all(|line| line.contains("zombie")), "{done:?}");
    held.signal("CONT");
    assert_eq!(held.end().code, 122);
}

#[test]
fn on_a_server_a_stopped_wrapper_lets_go_on_what_a_cmd_left_that_has_ended() {
    for on_lost in [&["-k", "0"][..], &["--on-lost", "kill"], &[]] {
        let world = World::redis();
        let script = "sleep 1000 >/dev/null 2>&1 & echo $!; cat >/dev/null; exit 0";
        let options = [&["a", "--ttl", "2s"], on_lost].concat();
        let (mut held, left) = Held::run(&world, &options, script);
        held.stop();
        held.stdin = None;
        assert_eq!(world.seinpaal(&["run", "a", "true"]).code, 0, "the lease has ended");
        assert!(lives(left), "{on_lost:?}");
        held.signal("CONT");
        assert_eq!(held.end().code, 0, "CMD keeps its status");
        kill("KILL", left);
    }
}

#[test]
fn a_silent_store_costs_the_lease_and_cmd_ends_with_a_term() {
    let world = World::redis();
    let script = "trap 'echo orderly; exit 0' TERM; echo $$; while :; do sleep 1 >/dev/null 2>&1 & wait; done";
    let (mut held, _) = Held::run(&world, &["a", "--ttl", "2s"], script);
    world.redis.as_ref().unwrap().pause();
    assert_eq!(held.line(), "orderly");
    let done = held.end();
    world.redis.as_ref().unwrap().resume();
    assert_eq!(done.code, 122, "{done:?}");
    assert_eq!(done.err.lines().count(), 1, "{done:?}");
}

#[test]
fn a_command_that_ignores_term_is_killed_before_the_lease_ends() {
    let world = World::redis();
    let script = "trap '' TERM; echo $$; while :; do sleep 1000; done";
    let (mut held, cmd) = Held::run(&world, &["a", "--ttl", "2s", "-k", "1h"], script);
    world.redis.as_ref().unwrap().pause();
    let done = held.end();
    world.redis.as_ref().unwrap().resume();
    assert_eq!(done.code, 122, "{done:?}");
    assert!(!lives(cmd));
}

#[test]
fn on_lost_kill_gives_no_term() {
    let world = World::redis();
    let script =
        "trap 'echo asked' TERM; echo $$; while :; do sleep 1 >/dev/null 2>&1 & wait; done";
    let (mut held, _) = Held::run(&world, &["a", "--ttl", "1s", "--on-lost", "kill"], script);
    world.redis.as_ref().unwrap().pause();
    let done = held.end();
    world.redis.as_ref().unwrap().resume();
    assert_eq!((done.code, done.out.as_str()), (122, ""));
}

#[test]
fn on_lost_warn_goes_on_without_the_lease() {
    let world = World::redis();
    let (mut held, cmd) = Held::hold(&world, &["a", "--ttl", "500ms", "--on-lost", "warn", "-v"]);
    world.redis.as_ref().unwrap().pause();
    // There are two lines, about the danger and then about the loss.
    let mut err = std::io::BufReader::new(held.process.stderr.take().unwrap());
    until("the loss is told", || {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut err, &mut line).unwrap();
        line.contains("is lost")
    });
    assert!(lives(cmd));
    world.redis.as_ref().unwrap().resume();
    held.process.stderr = None;
    held.stdin = None;
    assert_eq!(held.process.wait().unwrap().code(), Some(0));
}

#[test]
fn a_lease_is_renewed_for_as_long_as_cmd_runs() {
    let world = World::redis();
    let (held, _) = Held::hold(&world, &["a", "--ttl", "2s"]);
    until("it has held for more than two ttls", || {
        let shown = world.show("a");
        assert_eq!(shown["permits_held"], 1, "{shown}");
        shown["holders"][0]["held_ms"].as_u64().unwrap() > 5000
    });
    assert_eq!(held.let_go().code, 0);
}

/// Returns a script that prints the states of those of these processes that are left.
fn states(pids: &[u32]) -> String {
    let files = pids.iter().map(|pid| format!("/proc/{pid}/status"));
    format!("grep -h ^State {} 2>/dev/null; true", files.collect::<Vec<_>>().join(" "))
}

fn guard_of(wrapper: u32) -> u32 {
    guards_of(wrapper)[0]
}

/// Returns the children of a process that are guards.
fn guards_of(wrapper: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{wrapper}/task/{wrapper}/children"));
    let children = children.unwrap_or_default();
    let is_guard = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.windows(7).any(|part| part == b"--guard")
    };
    children.split_whitespace().map(|pid| pid.parse().unwrap()).filter(is_guard).collect()
}
