//! Tests of `show --why`, in words and in JSON.

use super::support::{Held, World, both};

/// Lets one hold end. The set limit keeps the name, although no request holds or waits.
pub(super) fn one_hold_has_ended(world: &World, limit: &str) {
    for args in [&["limit", "a", limit][..], &["run", "a", "true"]] {
        assert_eq!(world.seinpaal(args).code, 0);
    }
}

/// Starts a `run` that waits, and returns it with its ticket.
fn waiting(world: &World, place: usize, options: &[&str]) -> (Held, String) {
    let held = Held::start(world.command(&[&["run"], options, &["a", "true"]].concat()));
    world.until_waiting("a", place);
    let waiters = world.show("a")["waiters"].clone();
    let ours = waiters.as_array().unwrap().iter().find(|row| row["pid"] == held.pid()).cloned();
    (held, ours.unwrap()["ticket"].as_str().unwrap().to_owned())
}

fn told(world: &World, ticket: &str) -> String {
    let done = world.seinpaal(&["show", "a", "--why", ticket]);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    done.out
}

fn json(world: &World, ticket: &str) -> serde_json::Value {
    let done = world.seinpaal(&["show", "a", "--why", ticket, "--json"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    serde_json::from_str(&done.out).unwrap()
}

fn reasons(world: &World, ticket: &str) -> Vec<String> {
    let told = json(world, ticket);
    let reasons = told["reasons"].as_array().unwrap();
    assert!(reasons.iter().all(|reason| !reason["text"].as_str().unwrap().is_empty()));
    reasons.iter().map(|reason| reason["reason"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_waiter_is_told_who_holds_who_is_ahead_and_about_how_long() {
    for world in both() {
        one_hold_has_ended(&world, "2");
        let (holder, _) = Held::hold(&world, &["a", "-j", "2", "--label", "job=42"]);
        let (mut first, first_ticket) = waiting(&world, 1, &["-p", "2"]);
        let (mut second, second_ticket) = waiting(&world, 2, &[]);
        assert_eq!(reasons(&world, &first_ticket), ["held"]);
        assert_eq!(reasons(&world, &second_ticket), ["ahead", "kept-free", "held"]);
        let text = told(&world, &second_ticket);
        for words in [
            "2nd of 2 in line",
            "1 is ahead and wants 2 permits",
            "nobody passes it",
            "1 of 2 held and 1 free",
            "job=42",
            "estimate: about",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(text.contains(&holder.pid().to_string()), "{text}");
        assert!(text.contains(&first_ticket[..8]), "{text}");
        let told = json(&world, &second_ticket);
        assert_eq!((&told["standing"], &told["position"]), (&"waits".into(), &2.into()));
        assert_eq!(told["estimate"]["kind"], "about");
        assert!(told["estimate"]["wait_ms"].is_u64());
        holder.let_go();
        assert_eq!((first.end().code, second.end().code), (0, 0));
    }
}

#[test]
fn a_run_that_waits_tells_of_a_large_request_ahead_and_not_only_of_holders() {
    let world = World::embedded();
    let (holder, _) = Held::hold(&world, &["a", "-j", "2"]);
    let (mut first, first_ticket) = waiting(&world, 1, &["-p", "2"]);
    let script = "exec $SEINPAAL run a -v --events 5 true 5>&1 2>&1";
    let mut second = Held::start(world.shell_command(script));
    let (mut event, mut line) = (None, None);
    while event.is_none() || line.is_none() {
        let told = second.line();
        event = event.or_else(|| told.contains("\"position\"").then(|| told.clone()));
        line = line.or_else(|| told.contains("kept for").then(|| told.clone()));
    }
    let event: serde_json::Value = serde_json::from_str(&event.unwrap()).unwrap();
    let kinds: Vec<_> = event["reasons"].as_array().unwrap().iter().collect();
    let kinds: Vec<_> = kinds.iter().map(|told| told["reason"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["ahead", "kept-free", "held"], "{event}");
    let line = line.unwrap();
    assert!(line.contains("which wants 2") && line.contains(&first_ticket[..8]), "{line}");
    holder.let_go();
    assert_eq!((first.end().code, second.end().code), (0, 0));
}

#[test]
fn a_pause_and_a_limit_of_0_are_reasons_and_have_no_estimate() {
    for world in both() {
        world.seinpaal(&["pause", "a", "--reason", "repairs"]);
        let (mut waiter, ticket) = waiting(&world, 1, &[]);
        let text = told(&world, &ticket);
        assert!(text.contains("paused: repairs") && text.contains("cannot say"), "{text}");
        assert_eq!(reasons(&world, &ticket), ["paused"]);
        world.seinpaal(&["limit", "a", "0"]);
        world.seinpaal(&["resume", "a"]);
        assert_eq!(reasons(&world, &ticket), ["limit-is-zero"]);
        assert!(json(&world, &ticket)["estimate"]["wait_ms"].is_null());
        world.seinpaal(&["limit", "a", "--unset"]);
        assert_eq!(waiter.end().code, 0);
    }
}

#[test]
fn a_writer_is_told_of_readers_and_readers_of_the_writer_ahead() {
    for world in both() {
        let (holder, _) = Held::hold(&world, &["a", "--shared"]);
        let (mut writer, writer_ticket) = waiting(&world, 1, &["--exclusive"]);
        let (mut reader, reader_ticket) = waiting(&world, 2, &["--shared"]);
        assert_eq!(reasons(&world, &writer_ticket), ["readers-hold"]);
        assert_eq!(reasons(&world, &reader_ticket), ["ahead", "writer-ahead", "readers-hold"]);
        assert!(told(&world, &reader_ticket).contains("no reader passes it"));
        holder.let_go();
        assert_eq!((writer.end().code, reader.end().code), (0, 0));
    }
}

#[test]
fn the_end_of_a_lease_that_nobody_renews_is_the_latest() {
    let world = World::redis();
    world.seinpaal(&["acquire", "a", "--ttl", "1h"]);
    let (waiter, ticket) = waiting(&world, 1, &[]);
    let told_of = json(&world, &ticket);
    assert_eq!(told_of["leases_end"]["leases"], 1);
    assert!(told_of["leases_end"]["within_ms"].as_u64().unwrap() <= 3_600_000);
    assert!(told(&world, &ticket).contains("at the latest: in "));
    waiter.signal("TERM");
}

#[test]
fn a_ticket_that_holds_says_so_and_an_unknown_one_is_122() {
    for world in both() {
        let (holder, _) = Held::hold(&world, &["a"]);
        let ticket = world.show("a")["holders"][0]["ticket"].as_str().unwrap().to_owned();
        let text = told(&world, &ticket[..6]);
        assert!(text.contains("holds 1 permit") && text.contains("waits for nothing"), "{text}");
        assert_eq!(json(&world, &ticket)["standing"], "holds");
        let other = if ticket.starts_with('0') { "1" } else { "0" };
        for unknown in [other, &other.repeat(32)] {
            let done = world.seinpaal(&["show", "a", "--why", unknown]);
            assert_eq!((done.code, done.err.lines().count()), (122, 1), "{done:?}");
        }
        assert_eq!(world.seinpaal(&["show", "a", "--why", "x"]).code, 64);
        holder.let_go();
    }
}
