//! Doctored histories: the checker acquits a good history, and convicts each history with one fault
//! of that fault.

mod doctor;
mod fences;
mod order;
mod waits;

use std::time::Duration;

use super::*;
use doctor::Doctor;

const TTL: Duration = Duration::from_secs(3);
const S: u64 = 1_000_000;
const MS: u64 = 1_000;

/// Requests are called `w1a`, `w1b` and so on: the worker, and a letter.
fn life(req: &str) -> String {
    format!("{}.1", &req[..2])
}

#[track_caller]
fn assert_convicts(verdict: &Verdict, check: Check) {
    let checks: Vec<_> = verdict.violations.iter().map(|violation| violation.check).collect();
    assert!(!checks.is_empty() && checks.iter().all(|found| *found == check), "{verdict:#?}");
}

#[track_caller]
fn assert_acquits(verdict: &Verdict) {
    assert_eq!(verdict.violations, [], "{verdict:#?}");
}

/// Three grants in turn. Each release hands the permit to the next request.
fn in_turn(doctor: &mut Doctor) -> &mut Doctor {
    doctor
        .want(S, "w1a", "one", 1)
        .granted(S + MS, "w1a", 10, &[0], 4 * S)
        .want(S + 2 * MS, "w2a", "one", 1)
        .queued(S + 3 * MS, "w2a")
        .want(S + 4 * MS, "w3a", "one", 1)
        .queued(S + 5 * MS, "w3a")
        .held(2 * S, "w1a", 5 * S)
        .releasing(3 * S, "w1a")
        .granted(3 * S + MS, "w2a", 20, &[0], 6 * S)
        .releasing(4 * S, "w2a")
        .granted(4 * S + 2 * MS, "w3a", 30, &[0], 7 * S)
        .releasing(5 * S, "w3a")
}

#[test]
fn a_good_history_is_acquitted_and_counted() {
    let verdict = in_turn(&mut Doctor::new()).verdict();
    assert_acquits(&verdict);
    assert_eq!(verdict.acquisitions, 3);
    assert_eq!(verdict.waits_of(|wait| wait.cause == FreedBy::Release), [MS, 2 * MS]);
    assert_eq!(verdict.pairs, [1, 0]);
}

#[test]
fn one_more_than_the_limit_is_convicted() {
    let mut doctor = Doctor::new();
    for (worker, slot) in [("w1a", 0), ("w2a", 1)] {
        doctor.want(S, worker, "few", 1);
        doctor.granted(S + MS, worker, 10 + u64::from(slot), &[slot], 9 * S);
    }
    doctor.want(2 * S, "w3a", "few", 2).granted(2 * S + MS, "w3a", 30, &[2, 3], 9 * S);
    assert_convicts(&doctor.verdict(), Check::Limit);
}

#[test]
fn a_grant_beside_a_stopped_holder_that_believes_is_convicted_and_later_it_is_not() {
    let history = |granted| {
        let mut doctor = Doctor::new();
        doctor.want(S, "w1a", "one", 1).granted(S + MS, "w1a", 10, &[0], 4 * S);
        doctor.rig(2 * S, TortureWhat::Stopping { life: "w1.1".into() });
        doctor.want(2 * S, "w2a", "one", 1).queued(2 * S + MS, "w2a");
        doctor.granted(granted, "w2a", 20, &[0], granted + 3 * S).releasing(granted + S, "w2a");
        doctor.rig(9 * S, TortureWhat::Continued { life: "w1.1".into() });
        doctor.verdict()
    };
    let checks = history(3 * S).violations.iter().map(|found| found.check).collect::<Vec<_>>();
    assert_eq!(checks, [Check::Limit, Check::Slot]);
    assert_acquits(&history(4 * S + 1));
}

#[test]
fn a_grant_after_a_holder_was_killed_is_acquitted_and_timed() {
    let mut doctor = Doctor::new();
    doctor.want(S, "w1a", "one", 1).granted(S + MS, "w1a", 10, &[0], 9 * S);
    doctor.want(S, "w2a", "one", 1).queued(S + MS, "w2a");
    doctor.fault(2 * S, 2 * S + MS, "kill-worker", Some(1));
    doctor.rig(2 * S, TortureWhat::Killing { life: "w1.1".into() });
    doctor.granted(5 * S, "w2a", 20, &[0], 9 * S).releasing(6 * S, "w2a");
    let verdict = doctor.verdict();
    assert_acquits(&verdict);
    assert_eq!(verdict.waits_of(|wait| wait.cause == FreedBy::Death), [3 * S]);
    assert_eq!(verdict.killed, [1, 1, 0]);
}

#[test]
fn a_slot_that_two_have_is_convicted() {
    let mut doctor = Doctor::new();
    doctor.want(S, "w1a", "few", 1).granted(S + MS, "w1a", 10, &[1], 9 * S);
    doctor.want(S, "w2a", "few", 1).granted(S + MS, "w2a", 11, &[1], 9 * S);
    assert_convicts(&doctor.verdict(), Check::Slot);
}

#[test]
fn a_permit_or_a_key_that_is_left_behind_is_convicted() {
    let mut doctor = Doctor::new();
    doctor.rig(S, TortureWhat::Left { name: "one".into(), permits: 0, waiting: 0 });
    assert_acquits(&doctor.verdict());
    doctor.rig(S, TortureWhat::Left { name: "one".into(), permits: 1, waiting: 0 });
    assert_convicts(&doctor.verdict(), Check::Left);
    let mut doctor = Doctor::new();
    doctor.rig(S, TortureWhat::Kept { what_is_kept: "seinpaal:{one}".into() });
    assert_convicts(&doctor.verdict(), Check::Left);
}

#[test]
fn a_worker_that_hangs_is_convicted() {
    let mut doctor = Doctor::new();
    doctor.rig(S, TortureWhat::Hangs { what_hangs: "w1.1 does not end".into() });
    assert_convicts(&doctor.verdict(), Check::Hang);
}

#[test]
fn an_alarm_where_nothing_fails_is_convicted_and_beside_a_fault_it_is_not() {
    let history = |what: TortureWhat, fault: Option<u64>| {
        let mut doctor = Doctor::new();
        doctor.want(80 * S, "w1a", "one", 1).granted(80 * S + MS, "w1a", 10, &[0], 83 * S);
        doctor.say(82 * S, "w1.1", what);
        if let Some(at) = fault {
            doctor.fault(at, at + S, "cut", None);
        }
        doctor.releasing(82 * S + MS, "w1a").verdict()
    };
    let req = || "w1a".to_owned();
    for what in [
        TortureWhat::Danger { req: req() },
        TortureWhat::Lost { req: req(), how: "silence".into() },
    ] {
        assert_convicts(&history(what.clone(), None), Check::Alarm);
        assert_convicts(&history(what.clone(), Some(2 * S)), Check::Alarm);
        assert_acquits(&history(what, Some(75 * S)));
    }
}

#[test]
fn a_grant_that_hardly_lasts_where_nothing_fails_is_convicted() {
    let mut doctor = Doctor::new();
    doctor
        .want(S, "w1a", "one", 1)
        .granted(S + MS, "w1a", 10, &[0], 2 * S)
        .releasing(S + 2 * MS, "w1a");
    assert_convicts(&doctor.verdict(), Check::Alarm);
}
