//! Waiters beside a free permit, and how long they may stand there.

use std::time::Duration;

use super::{super::*, MS, S, TTL, assert_acquits, assert_convicts, doctor::Doctor};

/// A waiter stands beside a free permit for this long, and is then served.
fn idle(doctor: &mut Doctor, time: u64) -> &mut Doctor {
    doctor.want(S, "w1a", "one", 1).granted(S + MS, "w1a", 10, &[0], 9 * S);
    doctor.want(S + 2 * MS, "w2a", "one", 1).queued(S + 3 * MS, "w2a").releasing(2 * S, "w1a");
    doctor.granted(2 * S + time, "w2a", 20, &[0], 99 * S)
}

#[test]
fn a_wakeup_that_is_lost_for_longer_than_promised_is_convicted() {
    assert_acquits(&idle(&mut Doctor::new(), 7 * S).verdict());
    assert_convicts(&idle(&mut Doctor::new(), 9 * S).verdict(), Check::Wakeup);
}

#[test]
fn a_waiter_that_is_never_served_is_convicted() {
    let mut doctor = Doctor::new();
    idle(&mut doctor, 0).0.retain(|event| event.at < 2 * S);
    doctor.releasing(2 * S, "w1a");
    doctor.say(60 * S, "w2.1", TortureWhat::Withdrawn { req: "w2a".into() });
    assert_convicts(&doctor.verdict(), Check::Wakeup);
}

#[test]
fn a_store_that_cannot_answer_is_not_blamed_for_that_time() {
    let mut doctor = Doctor::new();
    doctor.fault(3 * S, 13 * S, "stop-server", None);
    assert_acquits(&idle(&mut doctor, 14 * S).verdict());
    let mut doctor = Doctor::new();
    doctor.fault(3 * S, 13 * S, "clock-client", Some(1));
    assert_convicts(&idle(&mut doctor, 14 * S).verdict(), Check::Wakeup);
}

#[test]
fn where_somebody_looked_only_the_time_in_which_nothing_could_be_granted_is_passed_over() {
    let terms = || CheckTerms::of_server(TTL).after_faults(Duration::from_secs(5));
    let seen = |whole| {
        let mut doctor = Doctor::new();
        doctor.rig(0, TortureWhat::Broken).rig(MS, TortureWhat::Whole);
        doctor.rig(3 * S, TortureWhat::Broken).rig(whole, TortureWhat::Whole);
        doctor.fault(3 * S, 30 * S, "fail-over", None);
        idle(&mut doctor, 24 * S).verdict_on(&terms())
    };
    let good = seen(20 * S);
    assert_acquits(&good);
    assert_eq!(good.waits_of(|wait| wait.cause == FreedBy::Release), [24 * S]);
    assert_eq!(good.delays_of(|wait| wait.cause == FreedBy::Release), [7 * S]);
    assert_convicts(&seen(8 * S), Check::Wakeup);
}

#[test]
fn a_stopped_waiter_beside_a_free_permit_is_acquitted() {
    let mut doctor = Doctor::new();
    doctor.rig(S + 500 * MS, TortureWhat::Stopping { life: "w2.1".into() });
    doctor.rig(60 * S, TortureWhat::Continued { life: "w2.1".into() });
    assert_acquits(&idle(&mut doctor, 58 * S + 100 * MS).verdict());
}
