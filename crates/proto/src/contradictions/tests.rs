use alloc::{string::ToString, vec};

use super::*;
use crate::{
    Fence, RecentHolds, SlotNames, Slots, Ticket,
    snapshot::WaiterRow,
    time::{DEFAULT_TTL, SECOND},
};

const ROWS: u32 = 100;

type Plant = fn(&mut Snapshot);

fn holder(ticket: u128, first: u32, last: u32, fence: u64) -> HolderRow {
    HolderRow {
        ticket: Ticket(ticket),
        slots: Slots::range(first, last),
        fence: Fence(fence),
        held_for: SECOND,
        valid_for: Some(DEFAULT_TTL),
        about: String::new(),
    }
}

fn waiter(ticket: u128) -> WaiterRow {
    WaiterRow {
        ticket: Ticket(ticket),
        permits: 1,
        wishes: Slots::default(),
        priority: 0,
        waiting_for: SECOND,
        unreachable: false,
        about: String::new(),
    }
}

/// Returns a sound snapshot: two tickets hold three permits, and one waits.
fn whole() -> Snapshot {
    Snapshot {
        kind: None,
        limit: 3,
        stated: Some(3),
        pinned: None,
        paused: None,
        guarded_for: None,
        slot_names: SlotNames::none(),
        held: 3,
        holders_total: 2,
        waiting_total: 1,
        recent: RecentHolds::NONE,
        holders: vec![holder(1, 0, 1, 10), holder(2, 2, 2, 11)],
        waiters: vec![waiter(3)],
    }
}

fn found(change: impl Fn(&mut Snapshot)) -> String {
    let mut snapshot = whole();
    change(&mut snapshot);
    snapshot.contradictions(ROWS).join("; ")
}

#[test]
fn a_whole_ledger_says_nothing_against_itself() {
    assert_eq!(found(|_| {}), "");
}

#[test]
fn each_contradiction_is_found_and_said() {
    let planted: [(&str, Plant); 11] = [
        ("counts 2 permits held, and the holders have 3", |it| it.held = 2),
        ("counts 3 holding, and there are records of 2", |it| it.holders_total = 3),
        ("counts 0 in line, and there are records of 1", |it| it.waiting_total = 0),
        ("slot 1 is held twice", |it| it.holders[1] = holder(2, 1, 1, 11)),
        ("the fence 10 was given after 10", |it| it.holders[1].fence = Fence(10)),
        ("is there twice", |it| it.waiters[0].ticket = Ticket(1)),
        ("ends in more than two days", |it| it.holders[0].valid_for = Some(3 * MAX_TTL)),
        ("waits for nothing", |it| it.waiters[0].permits = 0),
        ("the limit is 4, and 3 was stored", |it| it.limit = 4),
        ("2 slots have names, and the limit is 3", |it| it.slot_names = "a,b".parse().unwrap()),
        ("waits for a slot that has no name", |it| it.waiters[0].wishes = Slots::range(0, 0)),
    ];
    for (words, change) in planted {
        let said = found(change);
        assert!(said.contains(words), "{words}: {said:?}");
        assert_eq!(said.matches("; ").count(), 0, "one finding each: {said}");
    }
}

#[test]
fn a_waiter_that_is_passed_over_stands_behind_those_that_are_not() {
    let said = found(|it| {
        it.waiting_total = 2;
        it.waiters.insert(0, WaiterRow { unreachable: true, ..waiter(4) });
    });
    assert!(said.contains("stands behind a waiter that is passed over"), "{said}");
}

#[test]
fn where_not_all_is_listed_totals_are_not_compared() {
    let mut snapshot = whole();
    (snapshot.held, snapshot.holders_total, snapshot.waiting_total) = (500, 300, 200);
    assert_eq!(snapshot.contradictions(ROWS).first().map(ToString::to_string), None);
}
