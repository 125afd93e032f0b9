//! Checks that the headers of the script files are true.

use seinpaal_proto::{
    Acquire, Enqueue, Kind, Limit, LimitRule, Name, OnMismatch, Permits, Priority, Slots, Ticket,
};

use super::*;

const GUARDED: RestartGuard = RestartGuard::ON;

const PIECES: [(&str, &str); 42] = [
    ("wire_single", include_str!("../lua/wire_single.lua")),
    ("wire_sharded", include_str!("../lua/wire_sharded.lua")),
    ("wire_moving", include_str!("../lua/wire_moving.lua")),
    ("together", TOGETHER),
    ("bundle", BUNDLE),
    ("forms", FORMS),
    ("over", OVER),
    ("lean", include_str!("../lua/lean.lua")),
    ("lean_end", include_str!("../lua/lean_end.lua")),
    ("line", include_str!("../lua/line.lua")),
    ("line_session", include_str!("../lua/line_session.lua")),
    ("line_acquire", include_str!("../lua/line_acquire.lua")),
    ("line_release", include_str!("../lua/line_release.lua")),
    ("line_renew", include_str!("../lua/line_renew.lua")),
    ("line_serve", include_str!("../lua/line_serve.lua")),
    ("line_end", include_str!("../lua/line_end.lua")),
    ("lean_renew", include_str!("../lua/lean_renew.lua")),
    ("lean_words", include_str!("../lua/lean_words.lua")),
    ("begin", include_str!("../lua/begin.lua")),
    ("guard", GUARD),
    ("pack", include_str!("../lua/pack.lua")),
    ("rows", include_str!("../lua/rows.lua")),
    ("plain", include_str!("../lua/plain.lua")),
    ("unfold", include_str!("../lua/unfold.lua")),
    ("unfold_line", include_str!("../lua/unfold_line.lua")),
    ("plain_read", include_str!("../lua/plain_read.lua")),
    ("plain_acquire", include_str!("../lua/plain_acquire.lua")),
    ("plain_release", include_str!("../lua/plain_release.lua")),
    ("plain_renew", include_str!("../lua/plain_renew.lua")),
    ("plain_grant", include_str!("../lua/plain_grant.lua")),
    ("plain_end", include_str!("../lua/plain_end.lua")),
    ("plain_fold", include_str!("../lua/plain_fold.lua")),
    ("state", include_str!("../lua/state.lua")),
    ("send", include_str!("../lua/send.lua")),
    ("flush", include_str!("../lua/flush.lua")),
    ("records", include_str!("../lua/records.lua")),
    ("slots", include_str!("../lua/slots.lua")),
    ("listening", include_str!("../lua/listening.lua")),
    ("settle", include_str!("../lua/settle.lua")),
    ("refusal", include_str!("../lua/refusal.lua")),
    ("start", include_str!("../lua/start.lua")),
    ("attach", include_str!("../lua/attach.lua")),
];

/// The text of a field in a header. Its further lines are indented as far as its first.
fn field(source: &str, field: &str) -> Option<String> {
    let start = format!("-- {field} ");
    let mut lines = source.lines().take_while(|line| line.starts_with("--"));
    let first = lines.find_map(|line| line.strip_prefix(&start))?;
    let more = lines.map_while(|line| line.strip_prefix("--        "));
    Some([first].into_iter().chain(more).map(str::trim).collect::<Vec<_>>().join(" "))
}

fn batch(requests: Vec<Request>) -> Batch {
    Batch { name: Name::new("n").unwrap(), inbox: None, fence_seen: 0, requests }
}

fn acquire() -> Request {
    Request::Acquire(Acquire {
        wishes: seinpaal_proto::SlotNames::none(),
        ticket: Ticket(1),
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        limit: Some(LimitRule { limit: Limit::ONE, on_mismatch: OnMismatch::Refuse }),
        enqueue: Enqueue::No,
        priority: Priority::default(),
        lease: Ticket(2).into(),
        ttl: 1_000_000,
        margin: 250_000,
        waiter_lease: Ticket(3).into(),
        waiter_ttl: 1_000_000,
        not_after: None,
        about: "two words".into(),
    })
}

#[test]
fn every_file_starts_with_what_it_is_given_and_answers() {
    let own = SCRIPTS.iter().map(|row| (row.name, row.own));
    for (name, source) in own.chain(PIECES) {
        assert!(source.starts_with(&format!("-- {name}: ")), "{name}");
        let keys = match name {
            "over" | "guard" => "records order marker",
            "write" => "records order id key...",
            "together" | "bundle" => "those of each name, name after name",
            _ => "records order",
        };
        assert_eq!(field(source, "keys").as_deref(), Some(keys), "{name}");
        for said in ["args", "reply", "cost"] {
            assert!(field(source, said).is_some(), "{name} does not say its {said}");
        }
    }
}

#[test]
fn headers_agree_with_the_table() {
    for row in &SCRIPTS {
        assert_eq!(field(row.own, "args").as_deref(), Some(row.args), "{}", row.name);
        assert_eq!(field(row.own, "reply").as_deref(), Some(row.reply), "{}", row.name);
    }
}

#[test]
fn every_reply_in_a_header_is_given_by_its_file() {
    for row in SCRIPTS.iter().filter(|row| row.operation != ScriptKind::Step) {
        for word in row.reply.split(' ') {
            let is_given = [format!("'{word}'"), format!("'{word} ")];
            assert!(is_given.iter().any(|w| row.own.contains(w.as_str())), "{}: {word}", row.name);
        }
    }
}

#[test]
fn a_row_stands_where_its_operation_points() {
    for (i, row) in SCRIPTS.iter().enumerate() {
        assert_eq!(row.operation as usize, i, "{}", row.name);
    }
}

#[test]
fn a_line_has_as_many_arguments_as_the_header_names() {
    let named = SCRIPTS[ScriptKind::Acquire as usize].args.split(' ').count();
    let line = line(&acquire());
    assert_eq!(line.splitn(named + 1, ' ').count(), named + 1);
    assert!(line.ends_with(" two words"));
}

#[test]
fn one_request_takes_the_lean_script_and_others_the_step() {
    assert_eq!(ScriptKind::of(&batch(vec![acquire()])), ScriptKind::Acquire);
    assert_eq!(ScriptKind::of(&batch(vec![])), ScriptKind::Step);
    assert_eq!(ScriptKind::of(&batch(vec![acquire(), acquire()])), ScriptKind::Step);
}

#[test]
fn no_slots_are_not_all_slots() {
    let release = |slots| line(&Request::Release { ticket: Ticket(1), slots });
    assert!(release(None).ends_with(" all"));
    assert!(release(Some(Slots::none())).ends_with(" ,"));
    assert!(release(Some(Slots::range(2, 4))).ends_with(" 2-4,"));
}

/// These pieces as the server gets them, with words and constants replaced.
fn as_loaded(pieces: &[&str]) -> String {
    let source = head::NAMES.expand(&[&[Wire::Single.piece(), FORMS], pieces].concat().concat());
    constants::written(&source).replace("GUARD_LENGTH", &GUARDED.length().as_micros().to_string())
}

#[test]
fn the_guard_comes_before_everything_that_could_grant_and_only_where_it_is_on() {
    let (plain, guarded) = (
        Scripts::new(Wire::Single, None, vec![]),
        Scripts::new(Wire::Single, Some(GUARDED), vec![]),
    );
    for row in SCRIPTS.iter().filter(|row| row.operation != ScriptKind::Write) {
        let (plain, guarded) = (plain.source(row.operation), guarded.source(row.operation));
        let lean = if row.operation.may_be_plain() { LEAN } else { "" };
        let lean = lean.replace(PLACE_OF_OVER, OVER);
        let before = as_loaded(&[&lean, BEGIN]);
        let first = as_loaded(&[&lean, BEGIN, GUARD]);
        assert!(guarded.starts_with(&first), "{}", row.name);
        let guard = first.strip_prefix(&*before).unwrap();
        let without = guarded.replace(OVER, "").replacen(guard, "", 1);
        assert_eq!(without, plain, "{}", row.name);
    }
}

#[test]
fn the_lean_path_writes_only_after_the_place_of_the_guard() {
    let line = LEAN.split_once("-- line: ").unwrap();
    let line = (line.0, line.1.split_once("-- lean_renew: ").unwrap().0);
    for piece in [line.0, line.1] {
        let (before, after) = piece.split_once(PLACE_OF_OVER).unwrap();
        assert!(!before.contains("'hset'") && after.contains("'hset'"));
        assert!(!after.contains(PLACE_OF_OVER));
    }
}

#[test]
fn several_names_take_the_scripts_of_one_as_they_are() {
    let scripts = Scripts::new(Wire::Single, Some(GUARDED), vec![]);
    let together = scripts.source(ScriptKind::Together);
    for part in [ScriptKind::Acquire, ScriptKind::Cancel] {
        assert!(together.contains(&*scripts.source(part)));
    }
    assert!(scripts.source(ScriptKind::Bundle).contains(&*scripts.source(ScriptKind::Step)));
}

#[test]
fn a_script_asks_the_clock_in_one_place_and_names_no_key_itself() {
    for row in &SCRIPTS {
        assert_eq!(row.source.matches("'time'").count(), 1, "{}", row.name);
        let keys = if row.operation == ScriptKind::Write { 5 } else { 2 };
        assert_eq!(row.source.matches("KEYS[").count(), keys, "{}", row.name);
    }
}

/// The names of all functions.
fn functions(source: &str) -> Vec<&str> {
    source
        .lines()
        .filter_map(|line| {
            line.trim_start().strip_prefix("local ").or_else(|| Some(line.trim_start()))
        })
        .filter_map(|line| line.strip_prefix("function ")?.split('(').next())
        .collect()
}

#[test]
fn no_function_is_written_twice() {
    for source in SCRIPTS.iter().map(|row| row.source).chain([QUEUE]) {
        let mut names = functions(source);
        assert!(!names.is_empty(), "{source}");
        names.sort_unstable();
        let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
