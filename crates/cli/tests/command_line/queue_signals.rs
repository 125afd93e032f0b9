//! Tests of signals to a worker.

use super::support::{Held, World, both, gate::Gate, lives, until};

fn work(world: &World, options: &[&str], script: &str) -> Held {
    let args = [&["queue", "work", "a"], options, &["sh", "-c", script]].concat();
    Held::start(world.command(&args))
}

#[test]
fn the_first_signal_lets_the_item_in_work_finish_and_takes_no_other() {
    for world in both() {
        for signal in ["TERM", "INT", "HUP"] {
            let gate = Gate::new(&world);
            world.push("a", "x");
            world.push("a", "y");
            let mut worker = work(&world, &[], gate.hold());
            worker.line();
            worker.signal(signal);
            until_told(&mut worker);
            gate.open();
            let done = worker.end();
            assert_eq!((done.code, done.out.as_str()), (0, ""), "{signal}: {done:?}");
            let shown = world.queue("a");
            assert_eq!((&shown["ready"], &shown["in_work"]), (&1.into(), &0.into()), "{signal}");
            assert_eq!(world.work("a", "cat; echo $SEINPAAL_ATTEMPT").out, "y1\n");
        }
    }
}

#[test]
fn with_until_empty_it_is_128_more_for_the_queue_is_not_empty() {
    let world = World::embedded();
    let gate = Gate::new(&world);
    world.push("a", "x");
    let mut worker = work(&world, &["--until-empty"], gate.hold());
    worker.line();
    worker.signal("TERM");
    until_told(&mut worker);
    gate.open();
    assert_eq!(worker.end().code, 143);
}

#[test]
fn a_worker_without_an_item_ends_at_once_and_says_nothing() {
    for world in both() {
        let mut worker = work(&world, &["-c", "2"], "true");
        until("it stands in line", || {
            !world.seinpaal(&["queue", "show", "a"]).out.contains(" 0 idle")
        });
        worker.signal("TERM");
        let done = worker.end();
        assert_eq!((done.code, done.err.as_str()), (0, ""));
        assert!(
            world.seinpaal(&["queue", "show", "a"]).out.contains(" 0 idle"),
            "it left the line"
        );
    }
}

#[test]
fn the_second_signal_ends_the_command_and_its_item_goes_back_uncounted() {
    for world in both() {
        world.push("a", "x");
        let script = "trap 'echo orderly; exit 1' TERM; echo $$; while :; do sleep 1 >/dev/null 2>&1 & wait; done";
        let mut worker = work(&world, &[], script);
        let cmd = worker.line().parse().unwrap();
        worker.signal("INT");
        until_told(&mut worker);
        worker.signal("TERM");
        let done = worker.end();
        assert_eq!((done.code, done.out.as_str()), (143, "orderly\n"));
        assert!(!lives(cmd));
        assert_eq!(world.work("a", "cat; echo $SEINPAAL_ATTEMPT").out, "x1\n");
    }
}

#[test]
fn the_third_signal_kills_a_cmd_that_ignores_the_others() {
    for world in both() {
        world.push("a", "x");
        let script =
            "trap 'echo heard' TERM; echo $$; while :; do sleep 1 >/dev/null 2>&1 & wait; done";
        let mut worker = work(&world, &[], script);
        let cmd = worker.line().parse().unwrap();
        worker.signal("TERM");
        until_told(&mut worker);
        worker.signal("TERM");
        assert_eq!(worker.line(), "heard");
        worker.signal("TERM");
        assert_eq!(worker.end().code, 143);
        assert!(!lives(cmd));
        assert_eq!(world.work("a", "echo $SEINPAAL_ATTEMPT").out, "1\n");
    }
}

/// Waits for the line that the worker prints after the first signal.
fn until_told(worker: &mut Held) {
    let mut told = String::new();
    let mut err = std::io::BufReader::with_capacity(1, worker.process.stderr.as_mut().unwrap());
    std::io::BufRead::read_line(&mut err, &mut told).unwrap();
    assert!(told.contains("finishing"), "{told:?}");
}
