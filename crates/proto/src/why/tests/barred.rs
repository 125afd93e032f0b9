//! Waiters that are not served for now, however many permits are free.

use super::*;

#[test]
fn a_paused_name_says_so_with_its_reason_and_cannot_say_until_when() {
    let seen = Snapshot { paused: Some("repairs".into()), ..name(1, vec![], vec![waiter(2, 1)]) };
    assert_eq!(told(&seen, 2).reasons, [Reason::Paused { reason: "repairs".into() }]);
    assert_eq!(told(&seen, 2).estimate, Estimate::CannotSay(Unsaid::Paused));
}

#[test]
fn a_guarded_name_says_for_how_long() {
    let seen = Snapshot { guarded_for: Some(9 * SECOND), ..name(1, vec![], vec![waiter(2, 1)]) };
    assert_eq!(told(&seen, 2).reasons, [Reason::Guarded { left: seconds(9) }]);
    assert_eq!(told(&seen, 2).estimate, Estimate::AfterGuard { wait: seconds(9) });
}

#[test]
fn an_estimate_is_no_sooner_than_the_end_of_the_guard() {
    let held = vec![holder(1, 1, 4, Some(3))];
    let seen = Snapshot { guarded_for: Some(9 * SECOND), ..name(1, held, vec![waiter(2, 1)]) };
    assert_eq!(told(&seen, 2).estimate, about(9));
    assert_eq!(told(&seen, 2).leases_end.unwrap().within, seconds(9));
}

#[test]
fn a_limit_of_0_is_explained_whoever_holds() {
    let held = vec![holder(1, 1, 4, Some(3))];
    let mut seen = name(0, held, vec![waiter(2, 1)]);
    assert_eq!(told(&seen, 2).reasons, [Reason::LimitIsZero { is_pinned: false }]);
    seen.pinned = Some(0);
    assert_eq!(told(&seen, 2).reasons, [Reason::LimitIsZero { is_pinned: true }]);
    assert_eq!(told(&seen, 2).estimate, Estimate::CannotSay(Unsaid::LimitIsZero));
    assert_eq!(told(&seen, 2).leases_end, None);
}

#[test]
fn a_limit_below_the_held_permits_is_explained() {
    let held = vec![holder(1, 1, 4, None), holder(2, 1, 10, None)];
    let seen = name(1, held, vec![waiter(3, 1)]);
    assert_eq!(told(&seen, 3).reasons[0], Reason::LimitLowered { held: 2, limit: 1 });
    assert_eq!(told(&seen, 3).estimate, about(6), "both holders have to go");
}

#[test]
fn a_waiter_that_nobody_can_reach_is_passed_over() {
    let lost = WaiterRow { unreachable: true, ..waiter(3, 1) };
    let seen = name(1, vec![holder(1, 1, 4, None)], vec![waiter(2, 1), lost]);
    assert_eq!(told(&seen, 3).reasons, [Reason::Unreachable]);
    assert_eq!(told(&seen, 3).estimate, Estimate::CannotSay(Unsaid::Unreachable));
}

#[test]
fn a_waiter_that_wants_more_than_the_limit_has_become_will_be_refused() {
    let seen = name(2, vec![holder(1, 2, 4, None)], vec![waiter(2, 3), waiter(3, 2)]);
    assert_eq!(told(&seen, 2).reasons, [Reason::AboveLimit { permits: 3, limit: 2 }]);
    assert_eq!(told(&seen, 2).estimate, Estimate::CannotSay(Unsaid::AboveLimit));
    assert_eq!(told(&seen, 3).estimate, about(6), "the second waiter does not wait for the first");
}
