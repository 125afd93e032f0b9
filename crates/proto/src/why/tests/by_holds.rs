//! Estimates that are based on holds that have ended.

use std::{vec, vec::Vec};

use super::*;

/// Returns the lengths of holds that took so many seconds each.
fn took<const N: usize>(lengths: [u64; N]) -> HoldLengths {
    HoldLengths::of(lengths.map(|length| length * SECOND).to_vec())
}

fn waits(seen: &Snapshot, past: &HoldLengths) -> Vec<Estimate> {
    let estimates = seen.estimates(past);
    for (row, estimate) in seen.waiters.iter().zip(&estimates) {
        let Some(Why::Waits(told)) = seen.why_after(&row.ticket, past) else { panic!() };
        assert_eq!(told.estimate, *estimate, "estimates of all at once and of one agree");
    }
    estimates
}

fn by_holds(wait: u64, seen: u32, typical: u64) -> Estimate {
    Estimate::ByHolds { wait: seconds(wait), seen, typical: seconds(typical) }
}

#[test]
fn a_holder_goes_on_as_others_did_and_those_ahead_hold_as_long_as_others_did() {
    let seen = name(1, vec![holder(1, 1, 5, Some(25))], vec![waiter(2, 1), waiter(3, 1)]);
    // The holder counts as the upper half of the two holds that took longer than 5 s, and the
    // waiter as the lower half of all.
    let past = took([4, 12, 14]);
    assert_eq!(waits(&seen, &past), [by_holds(9, 3, 12), by_holds(13, 3, 12)]);
}

#[test]
fn a_holder_that_has_held_longer_than_any_is_taken_to_have_two_thirds_behind_it() {
    let seen = name(1, vec![holder(1, 1, 40, Some(25))], vec![waiter(2, 1), waiter(3, 1)]);
    assert_eq!(waits(&seen, &took([9, 10, 11])), [by_holds(20, 3, 10), by_holds(29, 3, 10)]);
}

#[test]
fn a_holder_that_does_not_renew_holds_until_its_lease_ends_whatever_others_did() {
    let silent = promising(holder(1, 1, 600, Some(12)));
    let long = WaiterRow { waiting_for: 90 * SECOND, ..waiter(2, 1) };
    let seen = name(1, vec![silent], vec![long, waiter(3, 1)]);
    let [first, second] = waits(&seen, &took([1, 2, 3]))[..] else { panic!() };
    assert_eq!(first, Estimate::AtLeaseEnd { wait: seconds(12) }, "however slowly the line moved");
    assert!(matches!(second, Estimate::ByHolds { .. }), "the first will hold, too: {second:?}");
}

#[test]
fn what_cannot_be_said_cannot_be_said_either_where_holds_have_ended() {
    let held = vec![holder(1, 1, 5, Some(25))];
    let lost = WaiterRow { unreachable: true, ..waiter(4, 1) };
    let mut seen = name(1, held, vec![waiter(2, 2), waiter(3, 1), lost]);
    let past = took([10, 10, 10]);
    let said = waits(&seen, &past);
    assert_eq!(said[0], Estimate::CannotSay(Unsaid::AboveLimit));
    assert_eq!(said[1], by_holds(5, 3, 10), "the second waiter does not wait for the first");
    assert_eq!(said[2], Estimate::CannotSay(Unsaid::Unreachable));
    seen.paused = Some("repairs".into());
    assert!(waits(&seen, &past).iter().all(|it| *it == Estimate::CannotSay(Unsaid::Paused)));
}

#[test]
fn a_large_request_waits_for_as_many_holds_as_it_needs() {
    let held = vec![holder(1, 1, 2, None), holder(2, 1, 6, None)];
    let seen = name(2, held, vec![waiter(3, 2), waiter(4, 1)]);
    assert_eq!(waits(&seen, &took([10, 10, 10])), [by_holds(8, 3, 10), by_holds(18, 3, 10)]);
}

#[test]
fn a_line_that_has_grown_for_longer_than_a_hold_takes_counts_by_how_many_stand_in_it() {
    let since = |number, waited| WaiterRow { waiting_for: waited * SECOND, ..waiter(number, 1) };
    let past = took([10, 10, 10]);
    let line = |first, second| {
        name(1, vec![holder(1, 1, 5, None)], vec![since(2, first), since(3, second)])
    };
    assert_eq!(waits(&line(9, 2), &past), [by_holds(5, 3, 10), by_holds(15, 3, 10)], "too young");
    // The holds alone give 5 and 15 s, and the two waiters in line give 10 and 30 s.
    assert_eq!(waits(&line(40, 20), &past), [by_holds(7, 3, 10), by_holds(21, 3, 10)]);
}
