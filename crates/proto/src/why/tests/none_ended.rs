//! Estimates of names at which no hold has ended yet.

use std::{vec, vec::Vec};

use super::*;

const NONE_ENDED: Estimate = Estimate::CannotSay(Unsaid::NoHoldEnded);

fn estimates(seen: &Snapshot) -> Vec<Estimate> {
    seen.estimates(&HoldLengths::from(seen.recent))
}

#[test]
fn while_no_hold_has_ended_nobody_can_say_however_long_the_holder_has_held() {
    let long = WaiterRow { waiting_for: 900 * SECOND, ..waiter(2, 1) };
    let seen = name(1, vec![holder(1, 1, 600, Some(25))], vec![long, waiter(3, 1)]);
    assert_eq!(estimates(&seen), [NONE_ENDED; 2]);
    let Some(Why::Waits(told)) = seen.why(&ticket(2)) else { panic!() };
    let ends = LeasesEnd { within: seconds(25), leases: 1 };
    assert_eq!(
        (told.estimate, told.leases_end),
        (NONE_ENDED, Some(ends)),
        "the end of the leases is no guess"
    );
}

#[test]
fn the_end_of_a_lease_that_is_not_renewed_is_no_guess_either() {
    let silent = promising(holder(1, 1, 600, Some(12)));
    let seen = name(2, vec![silent, holder(2, 1, 2, Some(28))], vec![waiter(3, 1), waiter(4, 1)]);
    // The other holder may end before that, and nobody knows how long the first waiter will hold.
    assert_eq!(estimates(&seen), [Estimate::AtLeaseEnd { wait: seconds(12) }, NONE_ENDED]);
}

#[test]
fn a_waiter_that_fits_is_served_at_once_though_no_hold_has_ended() {
    let seen = name(2, vec![holder(1, 1, 4, None)], vec![waiter(2, 1)]);
    assert_eq!(estimates(&seen), [Estimate::Now]);
}

#[test]
fn one_hold_that_has_ended_is_gone_by() {
    let mut seen = name(1, vec![holder(1, 1, 2, None)], vec![waiter(2, 1)]);
    seen.recent = RecentHolds::NONE.with(10 * SECOND);
    let typical = Duration::from_micros(seen.recent.lengths().next().unwrap());
    let wait = typical - seconds(2);
    assert_eq!(estimates(&seen), [Estimate::ByHolds { wait, seen: 1, typical }]);
}
