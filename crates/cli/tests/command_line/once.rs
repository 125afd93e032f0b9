//! Tests of jobs that run once although many machines start them, and of narrow names before wide
//! ones.

use super::support::{Held, World, both, program, until};

/// Runs `run job` with these options and this script as CMD.
fn run(world: &World, options: &[&str], script: &str) -> super::support::Done {
    world.seinpaal(&[&["run", "job"], options, &["--", "sh", "-c", script]].concat())
}

#[test]
fn what_was_done_is_not_run_again_and_another_key_is() {
    for world in both() {
        let script = "echo ran >> ran";
        for (key, times) in [("a", 1), ("a", 1), ("b", 2), ("a", 2)] {
            let done = run(&world, &["--once-per", key], script);
            assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""), "{done:?}");
            assert_eq!(std::fs::read_to_string(world.path("ran")).unwrap().lines().count(), times);
        }
        let done = run(&world, &["--once-per", "a", "-v", "-n"], script);
        assert!(done.err.contains("a was done already; not running it"), "{done:?}");
        // The record can be seen, and an eviction removes it sooner.
        let marker = world.show("job once-per a");
        let ticket = marker["holders"][0]["ticket"].as_str().unwrap();
        assert_eq!(world.seinpaal(&["evict", "job once-per a", ticket]).code, 0);
        assert_eq!(run(&world, &["--once-per", "a"], "exit 4").code, 4);
    }
}

#[test]
fn a_job_that_has_ended_is_done_though_max_hold_ends_what_it_left() {
    let world = World::embedded();
    let script = format!(
        "echo ran >> ran; mkfifo is_in
        {} run job sh -c 'echo >is_in; exec sleep 1000' >/dev/null 2>&1 &
        cat is_in; exit 0",
        program()
    );
    let options = ["--once-per", "a", "--max-hold", "3s", "-k", "100ms"];
    let done = run(&world, &options, &script);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.err.contains("stopping the processes that the command left behind"), "{done:?}");
    assert_eq!(run(&world, &options, &script).code, 0);
    assert_eq!(std::fs::read_to_string(world.path("ran")).unwrap(), "ran\n");
}

#[test]
fn of_many_that_start_at_once_one_runs_it() {
    for world in both() {
        let starts = (0..8).map(|_| {
            let script = "echo ran >> ran; sleep 0.2";
            Held::start(world.command(&[
                "run",
                "job",
                "--once-per",
                "1d",
                "--",
                "sh",
                "-c",
                script,
            ]))
        });
        let mut starts: Vec<_> = starts.collect();
        for started in &mut starts {
            let done = started.end();
            assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
        }
        assert_eq!(std::fs::read_to_string(world.path("ran")).unwrap(), "ran\n");
    }
}

#[test]
fn if_it_fails_the_next_that_waits_runs_it() {
    for world in both() {
        let fails = "mkdir failed 2>/dev/null && exit 3; echo ran >> ran";
        let starts = (0..4).map(|_| {
            Held::start(world.command(&["run", "job", "--once-per", "x", "--", "sh", "-c", fails]))
        });
        let mut starts: Vec<_> = starts.collect();
        let mut codes: Vec<_> = starts.iter_mut().map(|started| started.end().code).collect();
        codes.sort_unstable();
        assert_eq!(codes, [0, 0, 0, 3]);
        assert_eq!(std::fs::read_to_string(world.path("ran")).unwrap(), "ran\n");
    }
}

#[test]
fn it_is_forgotten_after_the_time_that_was_given() {
    for world in both() {
        let options = ["--once-per", "x", "--remember", "1s"];
        assert_eq!(run(&world, &options, "true").code, 0);
        assert_eq!(run(&world, &options, "exit 5").code, 0);
        until("it is forgotten", || run(&world, &options, "exit 5").code == 5);
    }
}

#[test]
fn a_run_that_does_not_wait_for_the_other_ends_as_usual() {
    for world in both() {
        let (held, _) = Held::hold(&world, &["job", "--once-per", "x"]);
        assert_eq!(run(&world, &["-n", "--once-per", "x"], "true").code, 75);
        assert_eq!(run(&world, &["-n", "-E", "0", "--once-per", "x"], "exit 5").code, 0);
        held.let_go();
    }
}

#[test]
fn once_per_is_refused_where_others_may_run_it_at_the_same_time() {
    for world in both() {
        let done = run(&world, &["-j", "2", "--once-per", "x"], "true");
        assert_eq!((done.code, done.err.lines().count()), (78, 1), "{done:?}");
        assert!(done.err.contains("the limit is 2"), "{done:?}");
        assert_eq!(run(&world, &["-j", "2", "-p", "2", "--once-per", "x"], "true").code, 0);
        assert_eq!(run(&world, &["--shared", "--once-per", "x"], "true").code, 64);
        assert_eq!(run(&world, &["--remember", "1h"], "true").code, 64);
        assert_eq!(run(&world, &["--once-per", "x", "--remember", "25h"], "true").code, 64);
    }
}

#[test]
fn a_store_that_forgets_sooner_says_so_before_anything_runs() {
    let mut world = World::redis();
    world.store = world.redis.as_ref().unwrap().socket_url("?restart-guard=on");
    let done = run(&world, &["--once-per", "x"], "touch ran");
    assert_eq!((done.code, done.err.lines().count()), (78, 1), "{done:?}");
    assert!(done.err.contains("--remember "), "{done:?}");
    assert!(!world.path("ran").exists());
}

#[test]
fn a_waiter_for_the_narrow_name_does_not_hold_the_wide_one() {
    for world in both() {
        // Sorted by bytes, `all` would come first.
        let (ann, _) = Held::hold(&world, &["user/ann"]);
        let waiting = ["run", "user/ann", "--within", "all", "--", "true"];
        let mut second = Held::start(world.command(&waiting));
        world.until_waiting("user/ann", 1);
        let bob = world.seinpaal(&["run", "user/bob", "--within", "all", "-n", "true"]);
        assert_eq!(bob.code, 0, "{bob:?}");
        assert_eq!(world.show("all")["waiters"].as_array().unwrap().len(), 0);
        ann.let_go();
        assert_eq!(second.end().code, 0);
    }
}

#[test]
fn a_waiter_for_the_wide_name_holds_the_narrow_one() {
    for world in both() {
        let (all, _) = Held::hold(&world, &["all"]);
        let mut waiting = Held::start(world.command(&[
            "run",
            "user/ann",
            "--also",
            "disk",
            "--within",
            "team",
            "--within",
            "all",
            "--",
            "sh",
            "-c",
            "echo $SEINPAAL_NAME $SEINPAAL_ALSO_SLOTS",
        ]));
        world.until_waiting("all", 1);
        for name in ["user/ann", "disk", "team"] {
            assert_eq!(world.show(name)["permits_held"], 1, "{name}");
        }
        all.let_go();
        let done = waiting.end();
        assert_eq!((done.code, done.out.as_str()), (0, "user/ann 0,0,0\n"), "{done:?}");
        let twice = world.seinpaal(&["run", "a", "--within", "a", "true"]);
        assert_eq!(twice.code, 64, "{twice:?}");
    }
}
