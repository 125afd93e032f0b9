//! Every way in which `run` can end that is not CMD's own: one line that says what happened, to
//! which name at which store, and what to do; and the events that belong to it.

mod waiting;

use std::{fs, process::Command};

use seinpaal::blocking::{Seinpaal, Wait};
use serde_json::Value;

use super::support::{Done, Held, World, both, gate::Gate, lives, until};

/// How a `run` ended.
struct Ended {
    done: Done,
    events: Vec<Value>,
}

impl Ended {
    fn kinds(&self) -> Vec<&str> {
        self.events.iter().map(|event| event["event"].as_str().unwrap()).collect()
    }

    /// One line, about this name at this store, with all of these words.
    fn must_say(&self, world: &World, words: &[&str]) {
        let line = self.done.err.trim_end();
        assert!(line.starts_with("seinpaal: a"), "{:?}", self.done);
        assert_eq!(line.lines().count(), 1, "{:?}", self.done);
        let store = world.store.split('?').next().unwrap();
        assert!(line.contains(store), "it names the store: {line}");
        for word in words {
            assert!(line.contains(word), "{word:?} is missing: {line}");
        }
    }

    /// The last of the events are these.
    fn must_end_with(&self, kinds: &[&str]) {
        assert!(self.kinds().ends_with(kinds), "{:?}: {:?}", self.kinds(), self.done);
    }

    fn must_not_hold(&self) {
        assert!(!self.kinds().contains(&"acquired"), "{:?}", self.kinds());
    }
}

/// `run a OPTIONS --events 5 sh -c SCRIPT`, in the background. CMD says its process id first.
fn watched(world: &World, options: &str, script: &str) -> Held {
    let _ = fs::remove_file(world.path("events"));
    let line = format!("exec $SEINPAAL run a {options} --events 5 -- sh -c \"$SCRIPT\" 5>events");
    let mut command: Command = world.shell_command(&line);
    command.env("SCRIPT", script);
    Held::start(command)
}

fn end(world: &World, run: &mut Held) -> Ended {
    let done = run.end();
    let events = fs::read_to_string(world.path("events")).unwrap();
    Ended { done, events: events.lines().map(|line| serde_json::from_str(line).unwrap()).collect() }
}

/// To the end, with a CMD that would hold for ever.
fn run(world: &World, options: &str) -> Ended {
    end(world, &mut watched(world, options, HOLD))
}

const HOLD: &str = "echo $$; exec sleep 1000";

fn ticket(world: &World, list: &str) -> String {
    world.show("a")[list][0]["ticket"].as_str().unwrap().to_owned()
}

#[test]
fn a_run_that_is_evicted_says_so_and_stops_its_command() {
    for world in both() {
        let mut holder = watched(&world, "", HOLD);
        holder.line();
        assert_eq!(world.seinpaal(&["evict", "a", &ticket(&world, "holders")]).code, 0);
        let ended = end(&world, &mut holder);
        assert_eq!(ended.done.code, 122);
        ended.must_say(&world, &["evict", "stopping the command"]);
        ended.must_end_with(&["acquired", "lost", "exited"]);
        assert!(ended.events[1]["cause"].as_str().unwrap().contains("evicted"));
    }
}

#[test]
fn a_run_whose_ticket_somebody_releases_says_so_and_stops_its_command() {
    for world in both() {
        let mut holder = watched(&world, "", HOLD);
        holder.line();
        assert_eq!(world.seinpaal(&["release", "a", &ticket(&world, "holders")]).code, 0);
        let ended = end(&world, &mut holder);
        assert_eq!(ended.done.code, 122);
        ended.must_say(&world, &["seinpaal release", "stopping the command"]);
        ended.must_end_with(&["acquired", "lost", "exited"]);
    }
}

#[test]
fn a_run_whose_ticket_another_client_takes_says_so_and_frees_nothing() {
    for world in both() {
        let mut holder = watched(&world, "", HOLD);
        holder.line();
        let ticket = ticket(&world, "holders").parse().unwrap();
        let seinpaal = Seinpaal::connect(&world.store).unwrap();
        let permit = seinpaal.asynchronous().semaphore("a").attach(ticket).wait().unwrap();
        let ended = end(&world, &mut holder);
        assert_eq!(ended.done.code, 122);
        ended.must_say(&world, &["attached to its ticket", "stopping the command"]);
        ended.must_end_with(&["acquired", "lost", "exited"]);
        assert!(permit.is_held(), "CMD's end took nothing from its new holder");
        assert_eq!(world.show("a")["permits_held"], 1);
    }
}

#[test]
fn a_run_whose_store_falls_silent_says_so_and_stops_its_command() {
    let world = World::redis();
    let mut holder = watched(&world, "--ttl 3s", HOLD);
    holder.line();
    world.redis.as_ref().unwrap().pause();
    let ended = end(&world, &mut holder);
    world.redis.as_ref().unwrap().resume();
    assert_eq!(ended.done.code, 122);
    ended.must_say(&world, &["has not answered for", "--ttl", "stopping the command"]);
    ended.must_end_with(&["danger", "lost", "exited"]);
}

#[test]
fn a_run_whose_store_loses_its_data_says_so_and_stops_its_command() {
    let world = World::redis();
    let mut holder = watched(&world, "--ttl 3s", HOLD);
    holder.line();
    world.redis.as_ref().unwrap().say(&["FLUSHALL"]).unwrap();
    let ended = end(&world, &mut holder);
    assert_eq!(ended.done.code, 122);
    ended.must_say(&world, &["lost its data", "restart-guard", "stopping the command"]);
    ended.must_end_with(&["lost", "exited"]);
}

#[test]
fn a_run_that_was_stopped_past_its_lease_says_so() {
    let world = World::redis();
    let mut holder = watched(&world, "--ttl 2s", HOLD);
    let cmd: u32 = holder.line().parse().unwrap();
    holder.stop();
    until("the guard has ended CMD", || !lives(cmd));
    holder.signal("CONT");
    let ended = end(&world, &mut holder);
    assert_eq!(ended.done.code, 122);
    ended.must_say(&world, &["stopped", "--ttl"]);
    ended.must_end_with(&["lost", "exited"]);
}

#[test]
fn a_cmd_that_ended_by_itself_keeps_its_status_though_the_lease_ended_before_that_was_seen() {
    let world = World::redis();
    let gate = Gate::new(&world);
    let mut holder = watched(&world, "--ttl 6s", gate.hold());
    let cmd: u32 = holder.line().parse().unwrap();
    holder.stop();
    gate.open();
    until("CMD has ended", || !lives(cmd));
    until("its lease has ended", || world.show("a")["permits_held"] == 0);
    holder.signal("CONT");
    let ended = end(&world, &mut holder);
    assert_eq!((ended.done.code, ended.done.err.as_str()), (0, ""));
    ended.must_end_with(&["lost", "exited"]);
    assert_eq!(ended.events.last().unwrap()["status"], 0);
}

#[test]
fn a_run_past_its_longest_hold_says_so_and_ends_with_124() {
    for world in both() {
        let ended = run(&world, "--max-hold 100ms");
        assert_eq!(ended.done.code, 124);
        ended.must_say(&world, &["--max-hold", "stopping the command"]);
        ended.must_end_with(&["acquired", "released", "exited"]);
    }
}

#[test]
fn a_run_at_odds_with_the_name_says_how_and_ends_with_78() {
    for world in both() {
        let (held, _) = Held::hold(&world, &["a", "-j", "2"]);
        for (options, words) in [
            ("-j 3", &["say the limit is 2", "says 3", "--adopt-limit", "--set-limit"][..]),
            ("-j 2 -p 3", &["3 permits", "the limit is 2", "-p"]),
            ("--shared", &["in use as a", "another name"]),
        ] {
            let ended = run(&world, options);
            assert_eq!(ended.done.code, 78, "{options}: {:?}", ended.done);
            ended.must_say(&world, words);
            ended.must_not_hold();
        }
        held.let_go();
    }
}

#[test]
fn the_error_says_that_an_operator_set_the_limit() {
    for world in both() {
        assert_eq!(world.seinpaal(&["limit", "a", "2"]).code, 0);
        let ended = run(&world, "-j 5 -p 3");
        assert_eq!(ended.done.code, 78, "{:?}", ended.done);
        ended.must_say(
            &world,
            &["3 permits", "an operator set the limit to 2", "-p", "seinpaal limit"],
        );
        assert!(!ended.done.err.contains("-j"), "no -j helps: {:?}", ended.done);
    }
}

#[test]
fn a_run_without_a_store_or_a_command_says_what_to_do() {
    for mut world in both() {
        for (line, code, words) in [
            ("run a no-such-command", 127, &["command not found", "PATH"][..]),
            ("run a /etc/passwd", 126, &["chmod"]),
            ("run a ./script", 127, &["interpreter"]),
        ] {
            world.shell("printf '#!/no/such/shell\n' >script; chmod +x script");
            let done = world.shell(&format!("$SEINPAAL {line}"));
            assert_eq!(done.code, code, "{done:?}");
            Ended { done, events: Vec::new() }.must_say(&world, words);
        }
        world.store = "redis://127.0.0.1:1?connect-timeout=100ms".to_owned();
        let ended = run(&world, "");
        world.store = "redis://127.0.0.1:1".to_owned();
        assert_eq!(ended.done.code, 69);
        ended.must_say(&world, &["start the server"]);
    }
}

#[test]
fn a_quiet_run_says_nothing_of_any_of_these() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a", "-j", "1"]);
    for options in ["-q -n", "-q -w 1s", "-q -j 7", "-q --shared", "-q -p 9"] {
        assert_eq!(run(&world, options).done.err, "", "{options}");
    }
    held.let_go();
    let ended = run(&world, "-q --max-hold 100ms");
    assert_eq!((ended.done.code, ended.done.err.as_str()), (124, ""));
}
