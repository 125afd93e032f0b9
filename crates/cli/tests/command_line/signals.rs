//! Tests of signals that are sent to the program by its process id.

use super::support::{Held, World, both, is_stopped, kill, lives, until};

/// A script that prints its process id, and then the name of every signal that it gets. It ends
/// with 5 on USR2.
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
    // The group gets TERM, so the reader must ignore it. The reader prints its process id once it
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
    until("both are stopped", || is_stopped(cmd) && is_stopped(held.pid()));
    held.signal("CONT");
    until("both go on", || !is_stopped(cmd) && !is_stopped(held.pid()));
    std::io::Write::write_all(held.stdin.as_mut().unwrap(), b"still here\n").unwrap();
    assert_eq!(held.line(), "still here");
    assert_eq!(held.let_go().code, 0);
}

#[test]
fn a_cmd_that_was_stopped_is_continued_once() {
    let world = World::embedded();
    let listen = "import os, signal, sys
signal.signal(signal.SIGCONT, lambda *_: os.write(1, b'CONT\\n'))
signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b'USR1\\n'))
print(os.getpid(), flush=True)
while True: signal.pause()";
    let script = format!("exec python3 -c \"{listen}\"");
    let (mut held, cmd) = Held::run(&world, &["a"], &script);
    for _ in 0..5 {
        held.signal("TSTP");
        until("both are stopped", || is_stopped(cmd) && is_stopped(held.pid()));
        held.signal("CONT");
        assert_eq!(held.line(), "CONT");
        held.signal("USR1");
        assert_eq!(held.line(), "USR1", "nothing came twice");
    }
    held.signal("KILL");
    kill("KILL", cmd);
}

/// A library that sends INT to each process that `run` becomes or starts, in the last moment before
/// it is CMD.
const EARLY: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

static int begun;

__attribute__((constructor)) static void begin(void) { begun = getpid(); }

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    int (*real)(int, const sigset_t *, sigset_t *) = dlsym(RTLD_NEXT, "pthread_sigmask");
    int result = real(how, set, old), is_child = getpid() != begun;
    if (!set || how != SIG_SETMASK) return result;
    if (sigismember(set, SIGINT) != is_child || sigismember(set, SIGTTOU) != is_child) return result;
    kill(getpid(), SIGINT);
    return result;
}
"#;

#[test]
fn a_signal_that_comes_just_before_cmd_begins_ends_it() {
    for world in both() {
        let early = world.library("early", EARLY);
        for run in [&["run", "a"][..], &["run", "a", "--also", "b"]] {
            let mut run = world.command(&[run, &["sh", "-c", "echo ran"]].concat());
            let done = run.env("LD_PRELOAD", &early).output().unwrap();
            let told = (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned());
            assert_eq!(told, (Some(130), String::new()), "{done:?}");
        }
    }
}

#[test]
fn a_signal_that_comes_just_before_cmd_runs_without_a_permit_ends_it() {
    use std::os::unix::process::ExitStatusExt;
    let world = World::embedded();
    let unreachable =
        ["-s", "redis://127.0.0.1:1?connect-timeout=1s", "run", "--on-unreachable", "run", "a"];
    let mut run = world.command(&[&unreachable[..], &["sh", "-c", "echo ran"]].concat());
    let done = run.env("LD_PRELOAD", world.library("early", EARLY)).output().unwrap();
    assert_eq!((done.status.signal(), done.stdout.len()), (Some(2), 0), "{done:?}");
}

/// A script that prints its process id, and that of a process in the background. The latter prints
/// a word when it is asked to end, and goes on.
const LEAVES_ONE: &str = "(trap 'echo asked' TERM; echo up >up; while :; do sleep 1 >/dev/null 2>&1 & wait; done) & \
                          until [ -s up ]; do sleep 0.01; done; echo $$; echo $!; exec sleep 1000";

/// Starts a run past its `--max-hold` whose CMD is gone. Returns it with the process that CMD has
/// left in its group.
fn ending(world: &World, ttl: &str) -> (Held, u32) {
    let options = ["a", "--max-hold", "3s", "-k", "1h", "--ttl", ttl];
    let (mut held, cmd) = Held::run(world, &options, LEAVES_ONE);
    let left = held.line().parse().unwrap();
    assert_eq!(held.line(), "asked");
    until("CMD is reaped", || !std::path::Path::new(&format!("/proc/{cmd}")).exists());
    (held, left)
}

#[test]
fn a_signal_asks_what_a_cmd_that_was_ended_left_behind_and_a_second_one_kills_it() {
    for world in both() {
        let (mut held, left) = ending(&world, "10h");
        held.signal("TERM");
        assert_eq!(held.line(), "asked");
        assert!(lives(left));
        held.signal("INT");
        assert_eq!(held.end().code, 124);
        assert!(!lives(left), "nothing of it is left");
    }
}

#[test]
fn the_lease_is_looked_after_while_what_cmd_left_behind_ends() {
    let world = World::redis();
    // A busy machine may keep the run from renewing for a second or two.
    let (mut held, left) = ending(&world, "6s");
    until("it has held for more than two ttls", || {
        let shown = world.show("a");
        assert_eq!(shown["permits_held"], 1, "{shown}");
        shown["holders"][0]["held_ms"].as_u64().unwrap() > 13_000
    });
    assert!(lives(left), "the guard was told of each renewal");
    held.signal("TERM");
    assert_eq!(held.line(), "asked");
    held.signal("TERM");
    assert_eq!(held.end().code, 124);
    assert!(!lives(left));
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
        kill("KILL", daemon);
    }
}
