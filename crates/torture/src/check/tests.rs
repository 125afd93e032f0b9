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
        TortureWhat::Refused { req: req(), why: "the connection is closed".into() },
    ] {
        assert_convicts(&history(what.clone(), None), Check::Alarm);
        assert_convicts(&history(what.clone(), Some(2 * S)), Check::Alarm);
        assert_acquits(&history(what, Some(75 * S)));
    }
}

#[test]
fn a_request_may_be_refused_though_nothing_fails_if_there_is_no_room_or_not_in_time() {
    for why in ["busy", "timed out waiting"] {
        let mut doctor = Doctor::new();
        let refused = TortureWhat::Refused { req: "w1a".into(), why: why.into() };
        doctor.want(S, "w1a", "one", 1).say(S + MS, "w1.1", refused);
        assert_acquits(&doctor.verdict());
    }
}

#[test]
fn a_request_in_a_hurry_may_have_no_answer_unless_it_was_told_that_it_stands_in_line() {
    let history = |timeout, is_queued| {
        let (req, name) = ("w1a".to_owned(), "one".to_owned());
        let mut doctor = Doctor::new();
        let ask = TortureWhat::Want { req: req.clone(), name, permits: 1, timeout };
        doctor.say(S, "w1.1", ask);
        if is_queued {
            doctor.queued(S + MS, "w1a");
        }
        let why = "the store did not answer in time".to_owned();
        doctor.say(S + 300 * MS, "w1.1", TortureWhat::Refused { req, why }).verdict()
    };
    assert_acquits(&history(Some(300 * MS), false));
    assert_convicts(&history(Some(300 * MS), true), Check::Alarm);
    for unhurried in [None, Some(0), Some(2 * S)] {
        assert_convicts(&history(unhurried, false), Check::Alarm);
    }
}

/// Nothing can be granted from 1 s on and from 9 s on. The store is whole again at 10 s.
#[test]
fn an_outage_ends_when_the_store_is_whole_however_many_have_begun() {
    let mut doctor = Doctor::new();
    doctor.rig(S, TortureWhat::Broken).rig(9 * S, TortureWhat::Broken);
    doctor.rig(10 * S, TortureWhat::Whole);
    doctor.want(80 * S, "w1a", "one", 1).granted(80 * S + MS, "w1a", 10, &[0], 83 * S);
    doctor.say(82 * S, "w1.1", TortureWhat::Danger { req: "w1a".into() });
    assert_convicts(&doctor.verdict(), Check::Alarm);
}

#[test]
fn a_stopped_client_excuses_an_alarm_of_another_only_where_it_can_hold_others_up() {
    let mut doctor = Doctor::new();
    doctor.want(S, "w1a", "one", 1).granted(S + MS, "w1a", 10, &[0], 9 * S);
    doctor.rig(2 * S, TortureWhat::Stopping { life: "w2.1".into() });
    doctor.say(4 * S, "w1.1", TortureWhat::Danger { req: "w1a".into() });
    assert_convicts(&doctor.verdict(), Check::Alarm);
    assert_acquits(&doctor.verdict_on(&CheckTerms::of_machine(TTL)));
}

#[test]
fn grants_beside_which_no_fault_has_effects_are_counted() {
    let mut doctor = Doctor::new();
    for (at, worker) in [(5 * S, "w1a"), (20 * S, "w2a"), (60 * S, "w3a")] {
        doctor.want(at, worker, "one", 1).granted(at, worker, at, &[0], at + 3 * S);
        doctor.releasing(at + MS, worker);
    }
    assert_eq!(doctor.verdict().calm, 3);
    doctor.fault(6 * S, 7 * S, "cut", Some(1));
    let verdict = doctor.verdict();
    assert_eq!((verdict.calm, verdict.acquisitions), (2, 3), "also the one before the fault");
    doctor.rig(70 * S, TortureWhat::Broken);
    assert_eq!(doctor.verdict().calm, 2, "the servers are stopped at the end");
}

#[test]
fn a_run_in_which_nothing_was_granted_is_not_well() {
    let mut doctor = Doctor::new();
    assert!(!doctor.want(S, "w1a", "one", 1).verdict().is_well());
    assert!(doctor.granted(S + MS, "w1a", 10, &[0], 4 * S).verdict().is_well());
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
