//! Tests of `--events FD`.

use super::support::{Held, World};

fn events(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn kinds(events: &[serde_json::Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

#[test]
fn a_plain_run_is_acquired_released_exited() {
    let world = World::embedded();
    let done = world.shell("$SEINPAAL run a --events 5 sh -c 'exit 3' 5>events; echo $?");
    assert_eq!(done.out, "3\n");
    let events = events(&std::fs::read_to_string(world.path("events")).unwrap());
    assert_eq!(kinds(&events), ["acquired", "released", "exited"]);
    assert_eq!(events[0]["slots"], serde_json::json!([0]));
    assert_eq!(events[0]["ticket"].as_str().unwrap().len(), 32);
    assert_eq!(events[2]["status"], 3);
}

#[test]
fn waiting_is_told_with_the_place_in_the_queue() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a"]);
    let mut waiter = Held::start(world.shell_command("exec $SEINPAAL run a --events 5 true 5>&1"));
    let first = events(&waiter.line()).remove(0);
    assert_eq!((&first["event"], &first["waiting"]), (&"queued".into(), &1.into()));
    let second = events(&waiter.line()).remove(0);
    assert_eq!((&second["event"], &second["position"]), (&"position".into(), &1.into()));
    assert_eq!(second["reasons"][0]["reason"], "held", "{second}");
    held.let_go();
    assert_eq!(kinds(&events(&waiter.end().out)), ["acquired", "released", "exited"]);
}

#[test]
fn danger_and_loss_are_told() {
    let world = World::redis();
    let script = "exec $SEINPAAL run a --ttl 1s --on-lost warn --events 5 cat 5>&1 >/dev/null";
    let mut held = Held::start(world.shell_command(script));
    assert_eq!(events(&held.line())[0]["event"], "acquired");
    world.redis.as_ref().unwrap().pause();
    assert_eq!(events(&held.line())[0]["event"], "danger");
    let lost = events(&held.line()).remove(0);
    assert_eq!((&lost["event"], lost["cause"].is_string()), (&"lost".into(), true));
    world.redis.as_ref().unwrap().resume();
    let done = held.let_go();
    assert_eq!(kinds(&events(&done.out)), ["exited"]);
}

#[test]
fn the_descriptor_must_be_open_for_writing_and_is_not_cmds() {
    let world = World::embedded();
    assert_eq!(world.shell("$SEINPAAL run a --events 5 true 5</dev/null").code, 64);
    assert_eq!(world.shell("$SEINPAAL run a --events 5 true 5>&-").code, 64);
    let done = world.shell("$SEINPAAL run a --events 5 sh -c 'echo x >&5' 5>/dev/null");
    assert_ne!(done.code, 0);
    assert_eq!(world.shell("$SEINPAAL run a --events 2 sh -c 'echo x >&2'").code, 0);
}

#[test]
fn a_reader_that_stops_listening_disturbs_nobody() {
    let world = World::embedded();
    let done =
        world.shell("{ $SEINPAAL run a --events 5 sh -c 'exit 4'; echo $? >status; } 5>&1 | true");
    assert_eq!(done.err, "");
    assert_eq!(std::fs::read_to_string(world.path("status")).unwrap(), "4\n");
}
