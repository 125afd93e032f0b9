//! Waiters that others pass, and when a waiter may be passed.

use super::{super::*, MS, S, TTL, assert_acquits, assert_convicts, doctor::Doctor};

/// The third worker passes the second, which stood in line before the third asked.
fn passed(doctor: &mut Doctor) -> &mut Doctor {
    doctor
        .want(S, "w1a", "one", 1)
        .granted(S + MS, "w1a", 10, &[0], 9 * S)
        .want(S + 2 * MS, "w2a", "one", 1)
        .queued(S + 3 * MS, "w2a")
        .want(S + 4 * MS, "w3a", "one", 1)
        .releasing(2 * S, "w1a")
        .granted(2 * S + MS, "w3a", 20, &[0], 9 * S)
        .releasing(3 * S, "w3a")
        .granted(3 * S + MS, "w2a", 30, &[0], 9 * S)
}

#[test]
fn a_waiter_that_passes_one_in_line_is_convicted() {
    assert_convicts(&passed(&mut Doctor::new()).verdict(), Check::Order);
}

#[test]
fn a_waiter_that_passes_one_that_never_gets_in_is_convicted() {
    let mut doctor = Doctor::new();
    passed(&mut doctor).0.retain(|event| event.at <= 2 * S + MS);
    doctor.rig(3 * S, TortureWhat::Left { name: "one".into(), permits: 0, waiting: 0 });
    assert_convicts(&doctor.verdict(), Check::Order);
}

/// At a name with room for three, the second leaves without having been told anything.
#[test]
fn a_waiter_that_gets_in_beside_one_that_left_untold_is_acquitted_if_both_fit() {
    let beside = |permits| {
        let mut doctor = Doctor::new();
        doctor
            .want(S, "w1a", "few", 3)
            .granted(S + MS, "w1a", 10, &[0, 1, 2], 9 * S)
            .want(S + 2 * MS, "w2a", "few", permits)
            .queued(S + 3 * MS, "w2a")
            .want(S + 4 * MS, "w3a", "few", 1)
            .releasing(2 * S, "w1a")
            .granted(2 * S + MS, "w3a", 30, &[2], 9 * S)
            .say(2 * S + 2 * MS, "w2.1", TortureWhat::Withdrawn { req: "w2a".into() })
            .releasing(2 * S + 3 * MS, "w3a");
        doctor.verdict()
    };
    assert_acquits(&beside(1));
    assert_convicts(&beside(3), Check::Order);
}

#[test]
fn passing_a_worker_that_could_not_be_reached_is_acquitted_and_passing_another_is_not() {
    let cut = |worker| passed(Doctor::new().fault(S, S + 500 * MS, "cut", Some(worker))).verdict();
    assert_acquits(&cut(2));
    assert_eq!(cut(2).pairs[1], 1);
    assert_convicts(&cut(3), Check::Order);
}

#[test]
fn order_is_not_asked_of_a_store_that_does_not_promise_it() {
    let terms = CheckTerms { ordered: false, ..CheckTerms::of_server(TTL) };
    assert_acquits(&passed(&mut Doctor::new()).verdict_on(&terms));
}

#[test]
fn a_breach_of_what_the_store_does_not_promise_is_counted_and_acquitted() {
    let terms = CheckTerms::of_server(TTL).but_for(vec![Check::Order]);
    let verdict = passed(&mut Doctor::new()).verdict_on(&terms);
    assert_acquits(&verdict);
    assert_eq!(verdict.counted.len(), 1);
}
