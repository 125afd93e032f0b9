//! Wrong fences and wrong tickets.

use super::{super::*, MS, S, assert_convicts, doctor::Doctor};

#[test]
fn a_fence_that_falls_is_convicted() {
    let mut doctor = Doctor::new();
    doctor.want(S, "w1a", "few", 1).granted(S + MS, "w1a", 20, &[0], 9 * S);
    doctor.want(2 * S, "w2a", "few", 1).granted(2 * S + MS, "w2a", 19, &[1], 9 * S);
    assert_convicts(&doctor.verdict(), Check::Fence);
}

#[test]
fn a_fence_that_falls_within_a_slot_is_convicted_also_if_both_asked_at_once() {
    let mut doctor = Doctor::new();
    doctor.want(S, "w1a", "one", 1).want(S, "w2a", "one", 1);
    doctor.granted(S + MS, "w1a", 20, &[0], 9 * S).releasing(S + 2 * MS, "w1a");
    doctor.granted(S + 3 * MS, "w2a", 19, &[0], 9 * S);
    assert_convicts(&doctor.verdict(), Check::Fence);
}

#[test]
fn a_fence_that_is_given_twice_is_convicted() {
    let mut doctor = Doctor::new();
    doctor.want(S, "w1a", "few", 1).granted(S + MS, "w1a", 20, &[0], 9 * S);
    doctor.want(S, "w2a", "few", 1).granted(S + MS, "w2a", 20, &[1], 9 * S);
    assert_convicts(&doctor.verdict(), Check::Fence);
}

/// The clock is an hour ahead at the second grant, and right again at the third, long after it.
#[test]
fn a_fence_that_falls_behind_one_that_a_clock_ahead_gave_is_told_apart() {
    let mut doctor = Doctor::new();
    for (at, worker, fence) in
        [(S, "w1a", usual(S)), (9 * S, "w2a", usual(3609 * S)), (60 * S, "w3a", usual(60 * S))]
    {
        doctor.want(at, worker, "few", 1).granted(at + MS, worker, fence, &[0], at + 3 * S);
    }
    doctor.fault(8 * S, 12 * S, "clock-server", None);
    assert_convicts(&doctor.verdict(), Check::FenceBehind);
}

/// The fence that a clock which nobody has set gives at this moment.
fn usual(at: u64) -> u64 {
    1_000_000_000 * S + at
}

/// The first grant is noted 500 ms late. Then one fence is given twice, 100 ms apart.
fn twice_after_a_late_note(fence: u64, fault: Option<(u64, u64)>) -> Verdict {
    let mut doctor = Doctor::new();
    doctor.want(S, "w1a", "few", 1).granted(S + 500 * MS, "w1a", usual(S), &[0], 9 * S);
    doctor.want(2 * S, "w2a", "few", 1).granted(2 * S, "w2a", usual(2 * S), &[1], 9 * S);
    doctor.want(5 * S, "w3a", "few", 1).granted(5 * S, "w3a", fence, &[2], 9 * S);
    doctor.releasing(5 * S + MS, "w2a").releasing(5 * S + MS, "w3a");
    let again = 5 * S + 100 * MS;
    doctor.want(again, "w4a", "few", 1).granted(again, "w4a", fence, &[1], 9 * S);
    if let Some((from, to)) = fault {
        doctor.fault(from, to, "clock-server", None);
    }
    doctor.verdict()
}

#[test]
fn a_fence_that_is_given_twice_is_not_excused_by_a_grant_that_was_noted_late() {
    assert_convicts(&twice_after_a_late_note(usual(5 * S), None), Check::Fence);
}

#[test]
fn a_fence_that_is_given_twice_is_not_excused_while_the_clock_is_right_or_ahead() {
    let set = Some((4 * S, 8 * S));
    assert_convicts(&twice_after_a_late_note(usual(5 * S), set), Check::Fence);
    assert_convicts(&twice_after_a_late_note(usual(3605 * S), set), Check::Fence);
}

#[test]
fn a_fence_of_a_clock_that_is_behind_is_told_apart_as_long_as_the_clock_is_set() {
    let mut doctor = Doctor::new();
    for (at, worker, fence) in [(S, "w1a", usual(S)), (9 * S, "w2a", usual(9 * S) - 3600 * S)] {
        doctor.want(at, worker, "few", 1).granted(at + MS, worker, fence, &[0], at + 3 * S);
    }
    assert_convicts(&doctor.verdict(), Check::Fence);
    doctor.fault(8 * S, 12 * S, "clock-server", None);
    assert_convicts(&doctor.verdict(), Check::FenceBehind);
}

#[test]
fn a_ticket_that_is_granted_twice_is_convicted() {
    let mut doctor = Doctor::new();
    let granted = |req: &str, fence| TortureWhat::Granted {
        req: req.into(),
        ticket: "same".into(),
        fence,
        slots: vec![0],
        until: None,
    };
    doctor.want(S, "w1a", "one", 1).say(S + MS, "w1.1", granted("w1a", 1)).releasing(2 * S, "w1a");
    doctor.want(3 * S, "w1b", "one", 1).say(3 * S + MS, "w1.1", granted("w1b", 2));
    assert_convicts(&doctor.verdict(), Check::Ticket);
}
