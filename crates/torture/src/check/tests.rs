//! Doctored histories: a good one is acquitted, and each with one thing wrong is convicted of that thing.

mod doctor;

use std::time::Duration;

use super::*;
use doctor::Doctor;

const TTL: Duration = Duration::from_secs(3);
const S: u64 = 1_000_000;
const MS: u64 = 1_000;

/// Requests are called `w1a`, `w1b`, …: the worker and a letter.
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

/// One after the other, each handed the permit by the one before.
fn in_turn(doctor: &mut Doctor) -> &mut Doctor {
    doctor
        .ask(S, "w1a", "one", 1)
        .granted(S + MS, "w1a", 10, &[0], 4 * S)
        .ask(S + 2 * MS, "w2a", "one", 1)
        .queued(S + 3 * MS, "w2a")
        .ask(S + 4 * MS, "w3a", "one", 1)
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
    assert_eq!(verdict.waits_of(|wait| wait.cause == Cause::Release), [MS, 2 * MS]);
    assert_eq!(verdict.pairs, [1, 0]);
}

#[test]
fn one_more_than_the_limit_is_convicted() {
    let mut doctor = Doctor::new();
    for (worker, slot) in [("w1a", 0), ("w2a", 1)] {
        doctor.ask(S, worker, "few", 1);
        doctor.granted(S + MS, worker, 10 + u64::from(slot), &[slot], 9 * S);
    }
    doctor.ask(2 * S, "w3a", "few", 2).granted(2 * S + MS, "w3a", 30, &[2, 3], 9 * S);
    assert_convicts(&doctor.verdict(), Check::Limit);
}

#[test]
fn a_grant_beside_a_stopped_holder_that_believes_is_convicted_and_later_it_is_not() {
    let history = |granted| {
        let mut doctor = Doctor::new();
        doctor.ask(S, "w1a", "one", 1).granted(S + MS, "w1a", 10, &[0], 4 * S);
        doctor.rig(2 * S, What::Stopping { life: "w1.1".into() });
        doctor.ask(2 * S, "w2a", "one", 1).queued(2 * S + MS, "w2a");
        doctor.granted(granted, "w2a", 20, &[0], granted + 3 * S).releasing(granted + S, "w2a");
        doctor.rig(9 * S, What::Continued { life: "w1.1".into() });
        doctor.verdict()
    };
    let checks = history(3 * S).violations.iter().map(|found| found.check).collect::<Vec<_>>();
    assert_eq!(checks, [Check::Limit, Check::Slot]);
    assert_acquits(&history(4 * S + 1));
}

#[test]
fn a_grant_after_a_holder_was_killed_is_acquitted_and_timed() {
    let mut doctor = Doctor::new();
    doctor.ask(S, "w1a", "one", 1).granted(S + MS, "w1a", 10, &[0], 9 * S);
    doctor.ask(S, "w2a", "one", 1).queued(S + MS, "w2a");
    doctor.fault(2 * S, 2 * S + MS, "kill-worker", Some(1));
    doctor.rig(2 * S, What::Killing { life: "w1.1".into() });
    doctor.granted(5 * S, "w2a", 20, &[0], 9 * S).releasing(6 * S, "w2a");
    let verdict = doctor.verdict();
    assert_acquits(&verdict);
    assert_eq!(verdict.waits_of(|wait| wait.cause == Cause::Death), [3 * S]);
    assert_eq!(verdict.killed, [1, 1, 0]);
}

#[test]
fn a_slot_that_two_have_is_convicted() {
    let mut doctor = Doctor::new();
    doctor.ask(S, "w1a", "few", 1).granted(S + MS, "w1a", 10, &[1], 9 * S);
    doctor.ask(S, "w2a", "few", 1).granted(S + MS, "w2a", 11, &[1], 9 * S);
    assert_convicts(&doctor.verdict(), Check::Slot);
}

#[test]
fn a_fence_that_falls_is_convicted() {
    let mut doctor = Doctor::new();
    doctor.ask(S, "w1a", "few", 1).granted(S + MS, "w1a", 20, &[0], 9 * S);
    doctor.ask(2 * S, "w2a", "few", 1).granted(2 * S + MS, "w2a", 19, &[1], 9 * S);
    assert_convicts(&doctor.verdict(), Check::Fence);
}

#[test]
fn a_fence_that_falls_within_a_slot_is_convicted_also_if_both_asked_at_once() {
    let mut doctor = Doctor::new();
    doctor.ask(S, "w1a", "one", 1).ask(S, "w2a", "one", 1);
    doctor.granted(S + MS, "w1a", 20, &[0], 9 * S).releasing(S + 2 * MS, "w1a");
    doctor.granted(S + 3 * MS, "w2a", 19, &[0], 9 * S);
    assert_convicts(&doctor.verdict(), Check::Fence);
}

#[test]
fn a_fence_that_is_given_twice_is_convicted() {
    let mut doctor = Doctor::new();
    doctor.ask(S, "w1a", "few", 1).granted(S + MS, "w1a", 20, &[0], 9 * S);
    doctor.ask(S, "w2a", "few", 1).granted(S + MS, "w2a", 20, &[1], 9 * S);
    assert_convicts(&doctor.verdict(), Check::Fence);
}

/// A clock was an hour ahead at the second grant, and is right again at the third, long after.
#[test]
fn a_fence_that_falls_behind_one_that_a_clock_ahead_gave_is_told_apart() {
    let mut doctor = Doctor::new();
    let usual = |at: u64| 1_000_000_000 * S + at;
    for (at, worker, fence) in
        [(S, "w1a", usual(S)), (9 * S, "w2a", usual(3609 * S)), (60 * S, "w3a", usual(60 * S))]
    {
        doctor.ask(at, worker, "few", 1).granted(at + MS, worker, fence, &[0], at + 3 * S);
    }
    assert_convicts(&doctor.verdict(), Check::FenceBehind);
}

#[test]
fn a_ticket_that_is_granted_twice_is_convicted() {
    let mut doctor = Doctor::new();
    let granted = |req: &str, fence| What::Granted {
        req: req.into(),
        ticket: "same".into(),
        fence,
        slots: vec![0],
        until: None,
    };
    doctor.ask(S, "w1a", "one", 1).say(S + MS, "w1.1", granted("w1a", 1)).releasing(2 * S, "w1a");
    doctor.ask(3 * S, "w1b", "one", 1).say(3 * S + MS, "w1.1", granted("w1b", 2));
    assert_convicts(&doctor.verdict(), Check::Ticket);
}

/// The third passes the second, who stood in line before it asked.
fn passed(doctor: &mut Doctor) -> &mut Doctor {
    doctor
        .ask(S, "w1a", "one", 1)
        .granted(S + MS, "w1a", 10, &[0], 9 * S)
        .ask(S + 2 * MS, "w2a", "one", 1)
        .queued(S + 3 * MS, "w2a")
        .ask(S + 4 * MS, "w3a", "one", 1)
        .releasing(2 * S, "w1a")
        .granted(2 * S + MS, "w3a", 20, &[0], 9 * S)
        .releasing(3 * S, "w3a")
        .granted(3 * S + MS, "w2a", 30, &[0], 9 * S)
}

#[test]
fn who_passes_one_that_stood_in_line_is_convicted() {
    assert_convicts(&passed(&mut Doctor::new()).verdict(), Check::Order);
}

#[test]
fn who_passes_one_that_never_gets_in_is_convicted() {
    let mut doctor = Doctor::new();
    passed(&mut doctor).0.retain(|event| event.at <= 2 * S + MS);
    doctor.rig(3 * S, What::Left { name: "one".into(), permits: 0, waiting: 0 });
    assert_convicts(&doctor.verdict(), Check::Order);
}

/// At a name with room for three the second leaves without having been told anything.
#[test]
fn who_gets_in_beside_one_that_left_untold_is_acquitted_if_there_was_room_for_both() {
    let beside = |permits| {
        let mut doctor = Doctor::new();
        doctor
            .ask(S, "w1a", "few", 3)
            .granted(S + MS, "w1a", 10, &[0, 1, 2], 9 * S)
            .ask(S + 2 * MS, "w2a", "few", permits)
            .queued(S + 3 * MS, "w2a")
            .ask(S + 4 * MS, "w3a", "few", 1)
            .releasing(2 * S, "w1a")
            .granted(2 * S + MS, "w3a", 30, &[2], 9 * S)
            .say(2 * S + 2 * MS, "w2.1", What::Withdrawn { req: "w2a".into() })
            .releasing(2 * S + 3 * MS, "w3a");
        doctor.verdict()
    };
    assert_acquits(&beside(1));
    assert_convicts(&beside(3), Check::Order);
}

#[test]
fn who_passes_one_that_could_not_be_reached_is_acquitted_but_only_for_that_worker() {
    let cut = |worker| passed(Doctor::new().fault(S, S + 500 * MS, "cut", Some(worker))).verdict();
    assert_acquits(&cut(2));
    assert_eq!(cut(2).pairs[1], 1);
    assert_convicts(&cut(3), Check::Order);
}

#[test]
fn order_is_not_asked_of_a_store_that_does_not_promise_it() {
    let terms = Terms { ordered: false, ..Terms::of_server(TTL) };
    assert_acquits(&passed(&mut Doctor::new()).verdict_on(&terms));
}

/// Somebody waits beside a free permit for so long.
fn idle(doctor: &mut Doctor, time: u64) -> &mut Doctor {
    doctor.ask(S, "w1a", "one", 1).granted(S + MS, "w1a", 10, &[0], 9 * S);
    doctor.ask(S + 2 * MS, "w2a", "one", 1).queued(S + 3 * MS, "w2a").releasing(2 * S, "w1a");
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
    doctor.say(60 * S, "w2.1", What::Withdrawn { req: "w2a".into() });
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
    let terms = || Terms::of_server(TTL).after_faults(Duration::from_secs(5));
    let seen = |whole| {
        let mut doctor = Doctor::new();
        doctor.rig(0, What::Broken).rig(MS, What::Whole);
        doctor.rig(3 * S, What::Broken).rig(whole, What::Whole);
        doctor.fault(3 * S, 30 * S, "fail-over", None);
        idle(&mut doctor, 24 * S).verdict_on(&terms())
    };
    let good = seen(20 * S);
    assert_acquits(&good);
    assert_eq!(good.waits_of(|wait| wait.cause == Cause::Release), [24 * S]);
    assert_eq!(good.delays_of(|wait| wait.cause == Cause::Release), [7 * S]);
    assert_convicts(&seen(8 * S), Check::Wakeup);
}

#[test]
fn who_is_stopped_is_not_waited_for() {
    let mut doctor = Doctor::new();
    doctor.rig(S + 500 * MS, What::Stopping { life: "w2.1".into() });
    doctor.rig(60 * S, What::Continued { life: "w2.1".into() });
    assert_acquits(&idle(&mut doctor, 58 * S + 100 * MS).verdict());
}

#[test]
fn what_is_left_is_convicted() {
    let mut doctor = Doctor::new();
    doctor.rig(S, What::Left { name: "one".into(), permits: 0, waiting: 0 });
    assert_acquits(&doctor.verdict());
    doctor.rig(S, What::Left { name: "one".into(), permits: 1, waiting: 0 });
    assert_convicts(&doctor.verdict(), Check::Left);
    let mut doctor = Doctor::new();
    doctor.rig(S, What::Kept { what_is_kept: "seinpaal:{one}".into() });
    assert_convicts(&doctor.verdict(), Check::Left);
}

#[test]
fn what_hangs_is_convicted() {
    let mut doctor = Doctor::new();
    doctor.rig(S, What::Hangs { what_hangs: "w1.1 does not end".into() });
    assert_convicts(&doctor.verdict(), Check::Hang);
}

#[test]
fn what_is_not_promised_is_counted_and_not_passed() {
    let terms = Terms::of_server(TTL).but_for(vec![Check::Order]);
    let verdict = passed(&mut Doctor::new()).verdict_on(&terms);
    assert_acquits(&verdict);
    assert_eq!(verdict.counted.len(), 1);
}

#[test]
fn an_alarm_where_nothing_fails_is_convicted_and_beside_a_fault_it_is_not() {
    let history = |what: What, fault: Option<u64>| {
        let mut doctor = Doctor::new();
        doctor.ask(80 * S, "w1a", "one", 1).granted(80 * S + MS, "w1a", 10, &[0], 83 * S);
        doctor.say(82 * S, "w1.1", what);
        if let Some(at) = fault {
            doctor.fault(at, at + S, "cut", None);
        }
        doctor.releasing(82 * S + MS, "w1a").verdict()
    };
    let req = || "w1a".to_owned();
    for what in [What::Danger { req: req() }, What::Lost { req: req(), how: "silence".into() }] {
        assert_convicts(&history(what.clone(), None), Check::Alarm);
        assert_convicts(&history(what.clone(), Some(2 * S)), Check::Alarm);
        assert_acquits(&history(what, Some(75 * S)));
    }
}

#[test]
fn a_grant_that_hardly_lasts_where_nothing_fails_is_convicted() {
    let mut doctor = Doctor::new();
    doctor
        .ask(S, "w1a", "one", 1)
        .granted(S + MS, "w1a", 10, &[0], 2 * S)
        .releasing(S + 2 * MS, "w1a");
    assert_convicts(&doctor.verdict(), Check::Alarm);
}
