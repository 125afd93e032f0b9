//! Compares a name in either form with B-trees, and checks the clients that a record lists.

use std::path::Path;

use rusqlite::Connection;
use seinpaal_proto::{
    Acquire, Batch, Enqueue, Inbox, Kind, MemoryState, Name, Replies, Request, Ticket, execute,
    time::SECOND,
};

use super::{super::rows::tests::*, *};
use crate::{name_state::NameState, trouble};
use seinpaal_store::{Certainty, StoreErrorKind};

/// Adds long texts to requests, which make a name large.
fn with_long_texts(mut batch: Batch, random: &mut Random) -> Batch {
    for request in &mut batch.requests {
        if let Request::Acquire(want) = request
            && random.below(2) == 0
        {
            want.about.push_str(&"x".repeat(900));
        }
    }
    batch
}

fn count(db: &Connection, table: &str) -> i64 {
    db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

fn compare_forms(db: &Connection, name: &Name, memory: &mut MemoryState, at: (u64, u32)) {
    match NameState::open(db, name).unwrap() {
        NameState::Small(_, small) => assert_eq!(small.state, *memory, "{at:?}"),
        NameState::Large(_, mut rows) => compare(&mut rows, memory, at.0, at.1),
    }
}

/// Runs a history, and returns how often the name changed its form.
fn run_history(seed: u64, steps: u32) -> u32 {
    let (mut random, db) = (Random::new(seed), database());
    let names = [Name::new("n").unwrap()];
    let (mut memory, mut now) = (MemoryState::default(), 1000 * SECOND);
    let (mut was_large, mut changes) = (false, 0);
    for step in 0..steps {
        now = (now + random.below(4 * SECOND)).saturating_sub(random.below(SECOND));
        let batch = with_long_texts(random_batch(&mut random, &names), &mut random);
        let oracle = Oracle(random.below(u64::MAX));
        let expected = execute(&mut memory, &mut oracle.clone(), now, &batch).unwrap();
        let mut state = NameState::open(&db, &batch.name).unwrap();
        let found = state.execute(&mut oracle.clone(), now, &batch).unwrap();
        assert_eq!(found, expected, "seed {seed}, step {step}: {batch:?}");
        state.keep(now).unwrap();
        assert_eq!(count(&db, "small") + count(&db, "name"), i64::from(!memory.is_empty()));
        compare_forms(&db, &names[0], &mut memory, (seed, step));
        let is_large = count(&db, "name") > 0;
        changes += u32::from(is_large != was_large);
        was_large = is_large;
    }
    changes
}

#[test]
fn a_name_in_either_form_and_b_trees_give_the_same_answers_to_random_histories() {
    let changes: u32 = (0..30).map(|seed| run_history(seed, 400)).sum();
    assert!(changes > 20, "the form changed {changes} times");
}

fn want(ticket: u128) -> Request {
    let mut want = Random::new(7).acquire();
    want.ticket = Ticket(ticket);
    (want.kind, want.enqueue, want.limit) = (Kind::Semaphore, Enqueue::No, None);
    Request::Acquire(Acquire { permits: seinpaal_proto::Permits::ONE, ..want })
}

fn call(db: &Connection, inbox: u128, now: Micros, request: Option<Request>) -> Replies {
    let (name, requests) = (Name::new("n").unwrap(), request.into_iter().collect());
    let batch = Batch { name, inbox: Some(Inbox(inbox)), fence_seen: 0, requests };
    let mut state = NameState::open(db, &batch.name).unwrap();
    let outcome = state.execute(&mut Oracle(3 << 5), now, &batch).unwrap();
    state.keep(now).unwrap();
    outcome.replies
}

fn pair(db: &Connection, inbox: u128, number: u128, now: Micros) {
    let ticket = inbox << 32 | number;
    call(db, inbox, now, Some(want(ticket)));
    call(db, inbox, now, Some(Request::Release { ticket: Ticket(ticket), slots: None }));
}

fn look_at(db: &Connection) -> Option<i64> {
    db.query_row("SELECT look_at FROM small", [], |row| row.get(0)).unwrap()
}

#[test]
fn using_a_name_leaves_the_time_to_look_at_it_alone_until_that_has_come() {
    let db = database();
    pair(&db, 5, 1, 1000 * SECOND);
    let first = look_at(&db);
    assert_eq!(first, Some((1000 * SECOND + LINGER) as i64));
    pair(&db, 5, 2, 1010 * SECOND);
    assert_eq!(look_at(&db), first);
    pair(&db, 5, 3, 1031 * SECOND);
    assert_eq!(look_at(&db), Some((1031 * SECOND + LINGER) as i64));
    pair(&db, 5, 4, 1026 * SECOND);
    assert_eq!(look_at(&db), Some((1026 * SECOND + LINGER) as i64), "the clock went back");
}

#[test]
fn clients_are_listed_while_they_hold_and_a_few_of_them_after_that() {
    let db = database();
    let names = |inbox| names_of(&db, Inbox(inbox)).unwrap().len();
    call(&db, 5, 1000 * SECOND, Some(want(5 << 32 | 1)));
    assert_eq!((names(5), names(6)), (1, 0));
    let release = Request::Release { ticket: Ticket(5 << 32 | 1), slots: None };
    call(&db, 5, 1000 * SECOND, Some(release));
    assert_eq!(names(5), 1, "a client that has left comes again");
    for inbox in 100..200 {
        pair(&db, inbox, 1, 1000 * SECOND);
        assert!(count(&db, "small_of") <= 1 + MOST_PAST_CLIENTS as i64);
    }
    assert_eq!(names(5), 0);
    call(&db, 5, 100_000 * SECOND, None);
    call(&db, 5, 200_000 * SECOND, None);
    assert_eq!((count(&db, "small"), count(&db, "small_of")), (0, 0));
}

#[test]
fn a_record_that_something_has_changed_is_damage() {
    let db = database();
    call(&db, 5, 1000 * SECOND, Some(want(5 << 32 | 1)));
    let record: Vec<u8> = db.query_row("SELECT state FROM small", [], |row| row.get(0)).unwrap();
    let name = Name::new("n").unwrap();
    for at in 0..record.len() {
        let mut changed = record.clone();
        changed[at] ^= 1 << (at % 8);
        db.execute("UPDATE small SET state = ?1", [&changed]).unwrap();
        let error = NameState::open(&db, &name).err().expect("a changed byte is noticed");
        let error = trouble::sql(Path::new("x"), Certainty::NotExecuted, error);
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "byte {at}");
    }
    for length in 0..record.len() {
        db.execute("UPDATE small SET state = ?1", [&record[..length]]).unwrap();
        assert!(NameState::open(&db, &name).is_err(), "cut off after {length}");
    }
}

#[test]
fn small_names_are_found_by_an_index() {
    let db = database();
    for sql in [FIND, DUE, OF_CLIENT] {
        let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let mut rows = explain.raw_query();
        let mut plan = String::new();
        while let Some(row) = rows.next().unwrap() {
            plan = format!("{plan}{}; ", row.get::<_, String>(3).unwrap());
        }
        assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{sql}\n{plan}");
    }
}
