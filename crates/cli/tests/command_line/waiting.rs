//! Tests of the messages during a wait: why nobody gets in, and that the store does not answer.

use super::support::{Held, World, program, screen::Screen};

fn run() -> [&'static str; 5] {
    [program(), "run", "a", "echo", "in"]
}

#[test]
fn the_line_says_that_the_name_is_paused_and_why_and_blames_no_holder() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a"]);
    world.seinpaal(&["pause", "a", "--reason", "driver update"]);
    let mut screen = Screen::start(&world, &run());
    screen.until_shown("1st of 1 \u{b7} paused: driver update");
    assert!(!screen.shown().contains(&held.pid().to_string()), "{}", screen.shown());
    world.seinpaal(&["resume", "a"]);
    held.let_go();
    assert_eq!(screen.end(), 0);
}

#[test]
fn the_line_says_for_how_long_the_restart_guard_keeps_everybody_out() {
    let mut world = World::redis();
    world.store.push_str("?restart-guard=4s");
    let mut screen = Screen::start(&world, &run());
    screen.until_shown("guarded for ");
    assert_eq!(screen.end(), 0);
}

#[test]
fn the_line_says_that_the_limit_admits_nobody() {
    let world = World::embedded();
    world.seinpaal(&["limit", "a", "0"]);
    let mut screen = Screen::start(&world, &run());
    screen.until_shown("the limit is 0");
    world.seinpaal(&["limit", "a", "1"]);
    assert_eq!(screen.end(), 0);
}

#[test]
fn the_line_says_that_the_store_does_not_answer() {
    let world = World::redis();
    let (held, _) = Held::hold(&world, &["a"]);
    let mut screen = Screen::start(&world, &run());
    screen.until_shown("waiting for a");
    world.redis.as_ref().unwrap().pause();
    screen.until_shown("still waiting for a: the store has not answered for ");
    world.redis.as_ref().unwrap().resume();
    held.let_go();
    assert_eq!(screen.end(), 0);
}

#[test]
fn without_a_terminal_an_outage_is_one_line_and_with_q_none() {
    let world = World::redis();
    let (held, _) = Held::hold(&world, &["a"]);
    let mut waiters = [&["run", "a", "true"][..], &["run", "a", "-q", "true"]]
        .map(|args| Held::start(world.command(args)));
    world.until_waiting("a", 2);
    world.redis.as_ref().unwrap().pause();
    let mut line = String::new();
    let mut err = std::io::BufReader::new(waiters[0].process.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut err, &mut line).unwrap();
    assert!(line.contains("has not answered for") && line.contains("still waiting"), "{line}");
    assert!(line.contains(&world.store), "{line}");
    world.redis.as_ref().unwrap().resume();
    held.let_go();
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut err, &mut rest).unwrap();
    // A slow machine may let more than ten seconds pass.
    assert!(rest.lines().all(|line| line.starts_with("seinpaal: waiting for a: ")), "{rest}");
    assert_eq!(waiters[0].process.wait().unwrap().code(), Some(0));
    let quiet = waiters[1].end();
    assert_eq!((quiet.code, quiet.err.as_str()), (0, ""));
}

/// The first line comes after ten seconds, which this test lets pass.
#[test]
fn without_a_terminal_a_wait_is_a_line_and_a_signal_repeats_what_kept_it() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a", "--label", "job=41"]);
    world.seinpaal(&["pause", "b", "--reason", "disk swap"]);
    world.push("q", "x");
    world.seinpaal(&["queue", "pause", "q", "--reason", "no mail"]);
    let start = |args: &[&str]| Held::start(world.command(args));
    let mut quiet = start(&["run", "-q", "a", "true"]);
    let work = ["queue", "work", "q", "--until-empty", "true"];
    for (args, words) in [
        (&["run", "a", "true"][..], format!("held by {}@", held.pid())),
        (&["run", "b", "true"], "paused: disk swap".to_owned()),
        (&work[..], "paused: no mail; waiting".to_owned()),
    ] {
        let mut waiter = start(args);
        let mut err = std::io::BufReader::new(waiter.process.stderr.take().unwrap());
        let mut line = String::new();
        std::io::BufRead::read_line(&mut err, &mut line).unwrap();
        assert!(line.contains(&words), "{words}: {line}");
        waiter.signal("TERM");
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut err, &mut rest).unwrap();
        let is_run = args[0] == "run";
        assert!(!is_run || rest.contains("stopped by SIGTERM") && rest.contains(&words), "{rest}");
        assert_eq!(waiter.process.wait().unwrap().code(), Some(143));
    }
    quiet.signal("TERM");
    assert_eq!(quiet.end().err, "");
    held.let_go();
}

#[test]
fn explaining_says_the_place_as_it_changes_and_then_the_slot() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a"]);
    let mut first = Held::start(world.command(&["run", "a", "-v", "true"]));
    world.until_waiting("a", 1);
    let mut second = Held::start(world.command(&["run", "a", "-v", "true"]));
    world.until_waiting("a", 2);
    held.let_go();
    let (first, second) = (first.end().err, second.end().err);
    assert!(first.contains("a: waiting, 0 ahead\n"), "{first}");
    assert!(first.contains("a: got slot 0 of 1 after "), "{first}");
    assert!(second.contains("a: waiting, 1 ahead\n"), "{second}");
}

#[test]
fn explaining_says_the_same_place_in_the_line_of_another_name() {
    let world = World::embedded();
    let [(a, _), (b, _)] = ["a", "b"].map(|name| Held::hold(&world, &[name]));
    let mut waiter = Held::start(world.command(&["run", "a", "--also", "b", "-v", "true"]));
    world.until_waiting("a", 1);
    a.let_go();
    world.until_waiting("b", 1);
    b.let_go();
    let said = waiter.end().err;
    let at = |words| said.find(words).unwrap_or_else(|| panic!("{words:?} in {said}"));
    assert!(at("a: waiting, 0 ahead\n") < at("b: waiting, 0 ahead\n"), "{said}");
}

#[test]
fn a_store_without_room_is_reported_at_once_with_69() {
    let world = World::with_redis(&["--maxmemory", "1", "--maxmemory-policy", "noeviction"]);
    for args in [
        &["run", "a", "true"][..],
        &["run", "a", "-n", "true"],
        &["run", "a", "-w", "1h", "true"],
        &["acquire", "a"],
        &["queue", "push", "q", "x"],
    ] {
        let began = std::time::Instant::now();
        let done = world.seinpaal(args);
        assert_eq!((done.code, done.err.lines().count()), (69, 1), "{args:?}: {done:?}");
        assert!(done.err.contains("memory"), "{args:?}: {done:?}");
        assert!(began.elapsed().as_secs() < 20, "{args:?} took {:?}", began.elapsed());
    }
}

#[test]
fn a_worker_says_that_its_store_does_not_answer_and_goes_on() {
    let world = World::redis();
    world.push("q", "x");
    let hold = ["queue", "work", "q", "--ttl", "3s", "--", "sh", "-c", "echo $$; exec sleep 1000"];
    let mut worker = Held::start(world.command(&hold));
    worker.line();
    world.redis.as_ref().unwrap().pause();
    let err = std::io::BufReader::new(worker.process.stderr.take().unwrap());
    let line =
        std::io::BufRead::lines(err).map(Result::unwrap).find(|line| line.ends_with("trying on"));
    let line = line.unwrap();
    assert!(line.starts_with("seinpaal: q") && line.contains("has not answered for"), "{line}");
    assert!(line.contains(&world.store), "{line}");
    world.redis.as_ref().unwrap().resume();
    worker.process.kill().unwrap();
    worker.process.wait().unwrap();
}
