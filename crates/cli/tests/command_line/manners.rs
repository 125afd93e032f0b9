//! Tests of `run` with a short CMD, with a store that is away, and with other runs at the name.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use super::support::{Held, World, both, kill, until};

#[test]
fn permits_are_kept_for_min_hold_though_the_command_has_ended() {
    for world in both() {
        let (mut held, _) = Held::run(&world, &["tick", "--min-hold", "1h"], "echo $$; exit 3");
        until("the command has ended", || {
            let mut command = world.command(&["run", "tick", "-n", "-E", "9", "true"]);
            held.process.try_wait().unwrap().is_none()
                && command.status().unwrap().code() == Some(9)
        });
        assert_eq!(world.show("tick")["permits_held"], 1);
        // TERM makes the run give the permit back sooner.
        held.signal("TERM");
        let done = held.end();
        assert_eq!((done.code, done.err.as_str()), (3, ""), "the status is CMD's");
        assert_eq!(world.show("tick")["permits_held"], 0);
    }
}

#[test]
fn min_hold_ends_by_itself_and_adds_nothing_to_a_command_that_takes_longer() {
    let world = World::embedded();
    let began = Instant::now();
    assert_eq!(world.seinpaal(&["run", "tick", "--min-hold", "300ms", "true"]).code, 0);
    assert!(began.elapsed() >= Duration::from_millis(300));
    let (held, _) = Held::hold(&world, &["tick", "--min-hold", "1ms"]);
    assert_eq!(held.let_go().code, 0);
}

#[test]
fn a_loss_ends_min_hold_and_harms_nobody() {
    for world in both() {
        let (mut held, _) = Held::run(&world, &["tick", "--min-hold", "1h"], "echo $$");
        let ticket = world.show("tick")["holders"][0]["ticket"].as_str().unwrap().to_owned();
        until("the command has ended", || {
            let line = std::fs::read_to_string(format!("/proc/{}/task/{0}/children", held.pid()));
            line.is_ok_and(|children| children.trim().is_empty())
        });
        assert_eq!(world.seinpaal(&["evict", "tick", &ticket]).code, 0);
        assert_eq!(held.end().code, 0);
    }
}

#[test]
fn on_unreachable_run_runs_the_command_without_a_permit_and_says_so() {
    let mut world = World::redis();
    world.redis.take().unwrap().kill_and_forget();
    world.store += "?connect-timeout=500ms";
    let script = "echo $0 $1 ${SEINPAAL_TICKET-none}; exit 7";
    let done =
        world.seinpaal(&["run", "a", "--on-unreachable", "run", "sh", "-c", script, "zero", "one"]);
    assert_eq!((done.code, done.out.as_str()), (7, "zero one none\n"), "{done:?}");
    assert!(done.err.contains("running the command without a permit"), "{done:?}");
    assert_eq!(done.err.lines().count(), 1, "{done:?}");
    assert_eq!(world.seinpaal(&["run", "a", "true"]).code, 69, "that is not the default");
    let missing = world.seinpaal(&["run", "a", "--on-unreachable", "run", "/no/such/program"]);
    assert_eq!(missing.code, 127);
}

#[test]
fn what_starts_while_the_server_is_restarted_waits_for_it() {
    let mut world = World::redis();
    world.seinpaal(&["queue", "push", "q", "job"]);
    let mut redis = world.redis.take().unwrap();
    redis.kill();
    let lines: [&[&str]; 4] = [
        &["run", "a", "true"],
        &["acquire", "b"],
        &["queue", "push", "q", "another"],
        &["queue", "work", "q", "--until-empty", "true"],
    ];
    let started = lines.map(|line| Held::start(world.command(line)));
    redis.start_again();
    for (line, mut held) in lines.iter().zip(started) {
        let done = held.end();
        assert_eq!(done.code, 0, "{line:?}: {done:?}");
    }
}

#[test]
fn on_unreachable_run_runs_the_command_where_the_store_cannot_be_written() {
    let world = World::redis();
    let user = "ACL SETUSER app on >hush ~* &* +@all -hset -zadd";
    let redis = world.redis.as_ref().unwrap();
    redis.say(&user.split(' ').collect::<Vec<_>>()).unwrap();
    let store = format!("redis://app:hush@127.0.0.1:{}", redis.port());
    let run = ["run", "-s", &store, "--on-unreachable", "run", "a", "echo", "ran"];
    let done = world.seinpaal(&run);
    assert_eq!((done.code, done.out.as_str()), (0, "ran\n"), "{done:?}");
    assert!(done.err.contains("running the command without a permit"), "{done:?}");
    assert_eq!(world.seinpaal(&["run", "-s", &store, "a", "echo", "ran"]).code, 77);
}

#[test]
fn a_command_without_a_permit_has_our_process_and_gets_our_signals() {
    let mut world = World::redis();
    world.redis.take().unwrap().kill_and_forget();
    world.store += "?connect-timeout=500ms";
    let args = [
        "run",
        "a",
        "--on-unreachable",
        "run",
        "sh",
        "-c",
        "trap 'exit 5' TERM; echo $$; while :; do sleep 0.1; done",
    ];
    let mut held = Held::start(world.command(&args));
    let pid: u32 = held.line().parse().unwrap();
    assert_eq!(pid, held.pid());
    kill("TERM", pid);
    assert_eq!(held.end().code, 5);
}

#[test]
fn on_unreachable_does_not_run_what_may_not_run_for_another_reason() {
    for world in both() {
        let (held, _) = Held::hold(&world, &["a"]);
        let done = world.seinpaal(&["run", "a", "-n", "--on-unreachable", "run", "true"]);
        assert_eq!(done.code, 75, "{done:?}");
        held.let_go();
    }
}

#[test]
fn skip_ends_well_where_somebody_holds() {
    for world in both() {
        let (held, _) = Held::hold(&world, &["a"]);
        let done = world.seinpaal(&["run", "a", "--on-conflict", "skip", "echo", "ran"]);
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""), "{done:?}");
        held.let_go();
        let done = world.seinpaal(&["run", "a", "--on-conflict", "skip", "echo", "ran"]);
        assert_eq!((done.code, done.out.as_str()), (0, "ran\n"), "{done:?}");
    }
}

#[test]
fn of_runs_that_replace_waiters_only_the_newest_runs_next() {
    for world in both() {
        let (held, _) = Held::hold(&world, &["a"]);
        let wait = |word: &str| {
            let mut command =
                world.command(&["run", "a", "--on-conflict", "replace-waiting", "echo", word]);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let first = wait("first");
        world.until_waiting("a", 1);
        let before = world.show("a")["waiters"][0]["ticket"].clone();
        let second = wait("second");
        until("the second has the place", || {
            let seen = world.show("a");
            let waiters = seen["waiters"].as_array().unwrap();
            waiters.len() == 1 && waiters[0]["ticket"] != before
        });
        let first = first.wait_with_output().unwrap();
        assert_eq!(
            (first.status.code(), first.stdout.as_slice()),
            (Some(75), &b""[..]),
            "{first:?}"
        );
        held.let_go();
        let second = second.wait_with_output().unwrap();
        assert_eq!((second.status.code(), second.stdout.as_slice()), (Some(0), &b"second\n"[..]));
    }
}

#[test]
fn a_run_that_cancels_another_ends_it_with_122_and_runs() {
    for world in both() {
        let (mut held, _) = Held::hold(&world, &["a"]);
        let args = ["run", "a", "-v", "--on-conflict", "cancel-running", "echo", "new"];
        let done = world.seinpaal(&args);
        assert_eq!((done.code, done.out.as_str()), (0, "new\n"), "{done:?}");
        assert!(done.err.contains("sent away 1"), "{done:?}");
        assert_eq!(held.end().code, 122);
        let quiet = world.seinpaal(&["run", "a", "--on-conflict", "cancel-running", "echo", "new"]);
        assert_eq!((quiet.code, quiet.err.as_str()), (0, ""));
    }
}
