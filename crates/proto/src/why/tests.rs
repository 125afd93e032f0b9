use std::{string::String, vec, vec::Vec};

use super::*;
use crate::{Fence, HoldLengths, HolderRow, RecentHolds, SlotNames, Slots, time::Micros};

mod barred;
mod by_holds;
mod none_ended;
mod steady;

pub(super) const SECOND: Micros = 1_000_000;

fn ticket(number: u128) -> Ticket {
    Ticket(number)
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Returns a holder of so many permits, which has held for so long and has so much of its lease
/// left.
fn holder(number: u128, permits: u32, held: u64, left: Option<u64>) -> HolderRow {
    let mut slots = Slots::none();
    slots.insert(number as u32 * 10, number as u32 * 10 + permits - 1);
    HolderRow {
        ticket: ticket(number),
        slots,
        fence: Fence(number as u64),
        held_for: held * SECOND,
        valid_for: left.map(|left| left * SECOND),
        about: String::new(),
    }
}

fn waiter(number: u128, permits: u32) -> WaiterRow {
    WaiterRow {
        ticket: ticket(number),
        permits,
        wishes: Slots::none(),
        priority: 0,
        waiting_for: 1_000 - number as u64,
        unreachable: false,
        about: String::new(),
    }
}

fn name(limit: u32, holders: Vec<HolderRow>, waiters: Vec<WaiterRow>) -> Snapshot {
    Snapshot {
        kind: Some(Kind::Semaphore),
        limit,
        stated: Some(limit),
        pinned: None,
        slot_names: SlotNames::none(),
        paused: None,
        guarded_for: None,
        held: holders.iter().map(|row| row.slots.count()).sum(),
        holders_total: holders.len() as u32,
        waiting_total: waiters.len() as u32,
        recent: RecentHolds::NONE,
        holders,
        waiters,
    }
}

/// Returns the lengths of three holds that took 10 s each.
fn past() -> HoldLengths {
    HoldLengths::of(vec![10 * SECOND; 3])
}

fn told(seen: &Snapshot, number: u128) -> Waits {
    match seen.why_after(&ticket(number), &past()) {
        Some(Why::Waits(waits)) => waits,
        other => panic!("{number} waits: {other:?}"),
    }
}

/// Returns an estimate that is based on those three holds.
fn about(wait: u64) -> Estimate {
    Estimate::ByHolds { wait: seconds(wait), seen: 3, typical: seconds(10) }
}

#[test]
fn a_holding_ticket_holds_and_an_unknown_ticket_is_unknown() {
    let seen = name(1, vec![holder(1, 1, 5, Some(25))], vec![waiter(2, 1)]);
    let held = HeldBy {
        ticket: ticket(1),
        permits: 1,
        held_for: seconds(5),
        valid_for: Some(seconds(25)),
        not_renewed_for: None,
    };
    assert_eq!(seen.why(&ticket(1)), Some(Why::Holds(held)));
    assert_eq!(seen.why(&ticket(3)), None);
}

#[test]
fn the_first_in_line_waits_for_those_that_hold_and_for_nobody_ahead() {
    let seen = name(2, vec![holder(1, 2, 20, Some(7))], vec![waiter(2, 1), waiter(3, 1)]);
    let told = told(&seen, 2);
    let holders = Holders::new(&seen);
    assert_eq!(told.reasons, [Reason::Held { free: 0, limit: 2, holders }]);
    assert_eq!((told.position, told.estimate), (1, about(10)));
    assert_eq!(told.leases_end, Some(LeasesEnd { within: seconds(7), leases: 1 }));
}

#[test]
fn holders_that_are_not_listed_are_counted_and_forbid_an_estimate() {
    let mut seen = name(9, vec![holder(1, 1, 5, Some(9))], vec![waiter(2, 1)]);
    (seen.held, seen.holders_total) = (9, 9);
    let told = told(&seen, 2);
    let Some(Reason::Held { holders, .. }) = told.reasons.last() else { panic!("{told:?}") };
    assert_eq!((holders.listed.len(), holders.others), (1, 8));
    assert_eq!(told.estimate, Estimate::CannotSay(Unsaid::NotAllListed));
    assert_eq!(told.leases_end, Some(LeasesEnd { within: seconds(9), leases: 1 }));
}

#[test]
fn those_ahead_are_counted_with_what_they_want() {
    let line = vec![waiter(2, 3), waiter(3, 1), waiter(4, 2)];
    let seen = name(4, vec![holder(1, 4, 10, None)], line);
    let told = told(&seen, 4);
    let ahead = Reason::Ahead { waiters: 2, permits: 4, first: ticket(2) };
    assert_eq!((told.position, &told.reasons[0]), (3, &ahead));
    assert_eq!(told.reasons.len(), 2, "the other reason is the holders");
    // 4 permits come back after 5 s. The waiters ahead then hold them for 10 s.
    assert_eq!((told.estimate, told.leases_end), (about(15), None));
}

#[test]
fn a_waiter_that_came_later_with_a_higher_priority_is_said_to_have_overtaken() {
    let raised = WaiterRow { priority: 7, waiting_for: 0, ..waiter(2, 1) };
    let earlier = WaiterRow { priority: 9, waiting_for: 99 * SECOND, ..waiter(3, 1) };
    let seen = name(1, vec![holder(1, 1, 1, None)], vec![raised, earlier, waiter(4, 1)]);
    let overtaken = Reason::Overtaken { waiters: 1, priority: 7 };
    assert!(told(&seen, 4).reasons.contains(&overtaken), "{:?}", told(&seen, 4));
    assert_eq!(told(&seen, 2).reasons.len(), 1);
}

#[test]
fn a_big_request_ahead_keeps_the_free_permits() {
    let seen = name(4, vec![holder(1, 2, 8, Some(3))], vec![waiter(2, 3), waiter(3, 1)]);
    let told = told(&seen, 3);
    let ahead = Reason::Ahead { waiters: 1, permits: 3, first: ticket(2) };
    let kept = Reason::KeptFree { ticket: ticket(2), permits: 3, free: 2 };
    let held = Reason::Held { free: 2, limit: 4, holders: Holders::new(&seen) };
    assert_eq!(told.reasons, [ahead, kept, held]);
    assert_eq!(told.estimate, about(2));
    assert_eq!(told.leases_end, Some(LeasesEnd { within: seconds(3), leases: 1 }));
}

#[test]
fn a_writer_waits_for_readers_and_a_reader_for_the_writer_ahead() {
    let readers = vec![holder(1, 1, 4, Some(30)), holder(2, 1, 8, Some(9))];
    let line = vec![waiter(3, MOST_READERS), waiter(4, 1)];
    let seen = Snapshot { kind: Some(Kind::RwLock), ..name(MOST_READERS, readers, line) };
    let holders = || Holders::new(&seen);
    assert_eq!(told(&seen, 3).reasons, [Reason::ReadersHold { holders: holders() }]);
    assert_eq!(told(&seen, 3).leases_end, Some(LeasesEnd { within: seconds(30), leases: 2 }));
    let reasons = told(&seen, 4).reasons;
    assert_eq!(reasons[1], Reason::WriterAhead { ticket: ticket(3) });
    assert_eq!(reasons[2], Reason::ReadersHold { holders: holders() });
}

#[test]
fn readers_wait_for_a_writer_that_holds() {
    let writer = vec![holder(1, MOST_READERS, 4, None)];
    let line = vec![waiter(3, 1), waiter(4, 1)];
    let seen = Snapshot { kind: Some(Kind::RwLock), ..name(MOST_READERS, writer, line) };
    let held = Reason::WriterHolds { holders: Holders::new(&seen) };
    assert_eq!(told(&seen, 3).reasons, [held]);
    assert_eq!(told(&seen, 4).estimate, about(6), "both readers are served at once");
}

/// Adds to a holder the promise to renew its lease to 30 s.
fn promising(row: HolderRow) -> HolderRow {
    HolderRow { about: crate::About::default().encode(), ..row }
}

#[test]
fn holders_that_have_not_renewed_in_time_are_told_the_first_to_end_first() {
    let held = [holder(1, 1, 90, Some(12)), holder(2, 1, 80, Some(29)), holder(3, 1, 70, Some(9))];
    let seen = name(3, held.map(promising).to_vec(), vec![waiter(4, 1), waiter(5, 1)]);
    for number in [4, 5] {
        let told = told(&seen, number);
        let Some(Reason::NotRenewed { holders }) = told.reasons.last() else { panic!("{told:?}") };
        let silent: Vec<_> = holders.iter().map(|of| (of.ticket, of.not_renewed_for)).collect();
        assert_eq!(silent, [(ticket(3), Some(seconds(21))), (ticket(1), Some(seconds(18)))]);
    }
}

#[test]
fn a_lease_that_nobody_promised_to_renew_is_no_sign_of_a_death() {
    let seen = name(1, vec![holder(1, 1, 90, Some(2))], vec![waiter(2, 1)]);
    let holders = Holders::new(&seen);
    assert_eq!(told(&seen, 2).reasons, [Reason::Held { free: 0, limit: 1, holders }]);
}

#[test]
fn a_holder_that_does_not_renew_is_taken_to_hold_until_its_lease_ends() {
    let silent = promising(holder(1, 1, 600, Some(12)));
    let seen = name(1, vec![silent], vec![waiter(2, 1)]);
    assert_eq!(told(&seen, 2).estimate, Estimate::AtLeaseEnd { wait: seconds(12) });
}

#[test]
fn a_waiter_that_fits_with_all_ahead_is_about_to_be_served() {
    let line = vec![waiter(2, 1), waiter(3, 2), waiter(4, 1)];
    let seen = name(4, vec![holder(1, 1, 4, None)], line);
    for number in [2, 3] {
        assert_eq!(told(&seen, number).reasons, [Reason::AboutToBeServed]);
        assert_eq!(told(&seen, number).estimate, Estimate::Now);
    }
    assert!(!told(&seen, 4).reasons.contains(&Reason::AboutToBeServed));
}

#[test]
fn a_line_that_grew_slowly_is_taken_to_move_as_slowly() {
    let long = |number, permits, waited| WaiterRow {
        waiting_for: waited * SECOND,
        ..waiter(number, permits)
    };
    let line = vec![long(2, 1, 60), long(3, 2, 30), long(4, 1, 10)];
    let seen = name(2, vec![holder(1, 2, 4, None)], line);
    // Waiters have asked for 4 permits in 60 s. The waiter in question is served after three and a
    // half of these: 52.5 s. By the holds it is 26 s. Three waiters are in line, and three holds
    // have ended, so both count alike.
    assert_eq!(told(&seen, 4).estimate.wait(), Some(Duration::from_millis(39_250)));
    let lost = WaiterRow { unreachable: true, ..long(5, 9, 900) };
    let mut with_lost = seen.clone();
    with_lost.waiters.push(lost);
    with_lost.waiting_total += 1;
    assert_eq!(
        told(&with_lost, 4).estimate,
        told(&seen, 4).estimate,
        "a waiter that is passed over makes no difference"
    );
    with_lost.waiting_total += 1;
    assert_eq!(told(&with_lost, 4).estimate, about(26), "not all are listed: by the holds alone");
}
