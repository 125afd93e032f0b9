//! Tests of the end of an inner CMD with the runs around it, and of how long the permit is held.

use super::{
    super::support::{Held, World, both, gate::Gate, kill, lives, program, until, until_written},
    inside,
};

/// A script that prints its process id, and does not end by TERM.
const DEAF: &str = "trap : TERM; echo $$; while :; do sleep 1000; done";

/// Starts a `run` with a deaf CMD inside a `run`. Returns the outer run and the inner CMD's process
/// id.
fn deep(world: &World, job_control: &str) -> (Held, u32) {
    let seinpaal = program();
    let script = format!("{job_control} echo $$; {seinpaal} run a sh -c '{DEAF}'; true");
    let (mut held, _) = Held::run(world, &["a", "--ttl", "3s"], &script);
    let inner = held.line().parse().unwrap();
    (held, inner)
}

#[test]
fn the_permit_is_held_until_a_run_in_the_background_ends() {
    let seinpaal = program();
    for world in both() {
        let gate = Gate::new(&world);
        let script = format!(
            "S={seinpaal}; $S run a sh -c '{}' >inner & until [ -s inner ]; do sleep 0.01; done; echo $$",
            gate.hold()
        );
        let (mut held, cmd) = Held::run(&world, &["a"], &script);
        let inner: u32 = until_written(&world.path("inner")).trim().parse().unwrap();
        until("CMD is gone", || !lives(cmd));
        assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 75);
        assert!(lives(inner));
        gate.open();
        assert_eq!(held.end().code, 0);
        assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 0);
    }
}

#[test]
fn on_a_server_the_inner_cmd_of_a_killed_wrapper_is_gone_before_the_next_gets_in() {
    for job_control in ["", "set -m;"] {
        let world = World::redis();
        let (mut held, inner) = deep(&world, job_control);
        let script = format!("grep -h ^State /proc/{inner}/status; true");
        let mut next =
            Held::start(world.command(&["run", "a", "--ttl", "3s", "sh", "-c", &script]));
        world.until_waiting("a", 1);
        held.kill_hard();
        let done = next.end();
        assert!(done.out.lines().all(|line| line.contains("zombie")), "{done:?}");
        until("it is gone", || !lives(inner));
    }
}

#[test]
fn on_a_server_a_stopped_wrapper_cannot_keep_the_inner_cmd_running_past_the_lease() {
    for job_control in ["", "set -m;"] {
        let world = World::redis();
        let (mut held, inner) = deep(&world, job_control);
        held.stop();
        let script = format!("grep -h ^State /proc/{inner}/status; true");
        let done = world.seinpaal(&["run", "a", "sh", "-c", &script]);
        assert!(done.out.lines().all(|line| line.contains("zombie")), "{done:?}");
        held.signal("CONT");
        assert_eq!(held.end().code, 122);
    }
}

#[test]
fn a_silent_store_ends_the_inner_cmd_with_the_outer_one() {
    let world = World::redis();
    let (mut held, inner) = deep(&world, "");
    world.redis.as_ref().unwrap().pause();
    let done = held.end();
    world.redis.as_ref().unwrap().resume();
    assert_eq!(done.code, 122, "{done:?}");
    until("it is gone", || !lives(inner));
}

#[test]
fn on_the_embedded_store_the_inner_cmd_of_a_killed_wrapper_runs_on_and_holds() {
    let seinpaal = program();
    let world = World::embedded();
    let gate = Gate::new(&world);
    let script = format!("echo $$; {seinpaal} run a sh -c '{}'; true", gate.hold());
    let (mut held, cmd) = Held::run(&world, &["a"], &script);
    let inner: u32 = held.line().parse().unwrap();
    held.kill_hard();
    assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 75);
    assert!(lives(cmd) && lives(inner));
    gate.open();
    until("CMD has ended", || !lives(cmd));
    assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 0);
}

#[test]
fn on_the_embedded_store_the_inner_cmd_ends_when_the_cmd_around_it_was_killed_too() {
    let seinpaal = program();
    let world = World::embedded();
    let (mut held, cmd) =
        Held::run(&world, &["a"], &format!("echo $$; {seinpaal} run a sh -c '{DEAF}'; true"));
    let inner: u32 = held.line().parse().unwrap();
    held.kill_hard();
    kill("KILL", cmd);
    until("it is gone", || !lives(inner));
}

#[test]
fn the_inner_cmd_dies_with_its_own_wrapper() {
    let seinpaal = program();
    for world in both() {
        let script = format!(
            "echo $$; {seinpaal} run a sh -c 'echo $PPID; echo $$; exec sleep 1000'; echo ended $?"
        );
        let (mut held, _) = Held::run(&world, &["a"], &script);
        let wrapper: u32 = held.line().parse().unwrap();
        let inner: u32 = held.line().parse().unwrap();
        kill("KILL", wrapper);
        assert_eq!(held.line(), "ended 137");
        assert_eq!(held.end().code, 0);
        assert!(!lives(inner), "the permit was given back");
    }
}

#[test]
fn max_hold_is_the_inner_cmds_own() {
    for world in both() {
        let done = inside(&world, &["a"], "$S run a --max-hold 100ms sleep 1000; echo $?");
        assert_eq!((done.code, done.out.as_str()), (0, "124\n"), "{done:?}");
    }
}

#[test]
fn max_hold_of_the_outer_run_ends_the_inner_cmd() {
    let seinpaal = program();
    for world in both() {
        let script = format!("set -m; {seinpaal} run a sh -c '{DEAF}' & wait; wait");
        let mut held = Held::start(world.command(&[
            "run",
            "a",
            "--max-hold",
            "4s",
            "-k",
            "100ms",
            "sh",
            "-c",
            &script,
        ]));
        let inner: u32 = held.line().parse().unwrap();
        assert_eq!(held.end().code, 124);
        assert!(!lives(inner), "the permit was given back");
    }
}

#[test]
fn a_signal_to_the_outer_run_reaches_the_inner_cmd_once() {
    let seinpaal = program();
    for world in both() {
        // TERM misses a child that the shell is just starting, so that child gets none of our
        // output.
        let script = "trap 'echo term; exit 3' TERM; echo $$; while :; do sleep 1 >/dev/null 2>&1 & wait; done";
        let outer = format!(
            "echo $$; trap : TERM; {seinpaal} run a sh -c \"{}\"; exit $?",
            script.replace("$$", "\\$\\$")
        );
        let (mut held, _) = Held::run(&world, &["a"], &outer);
        held.line();
        held.signal("TERM");
        let done = held.end();
        assert_eq!((done.code, done.out.as_str()), (3, "term\n"), "{done:?}");
    }
}
