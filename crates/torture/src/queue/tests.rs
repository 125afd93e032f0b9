//! Doctored histories: the checker acquits a good history, and convicts each history with one fault
//! of that fault.

mod doctor;

use super::check::CheckBounds;
use crate::{check::Check, history::TortureWhat};
use doctor::Doctor;

const S: u64 = 1_000_000;
const MS: u64 = 1_000;
const BOUNDS: CheckBounds = CheckBounds { prompt: 3 * S, look: 100 * S, felt: 20 * S };

fn good() -> Doctor {
    let mut doctor = Doctor::new();
    doctor.pushed(S, "a", 1, None).pushed(2 * S, "b", 2, None);
    doctor.delivered(3 * S, "w1.1", "a", 1, 11).delivered(4 * S, "w2.1", "b", 2, 12);
    doctor.acknowledged(5 * S, "w1.1", 1, 11).acknowledged(5 * S, "w2.1", 2, 12);
    doctor
}

#[test]
fn a_good_history_is_acquitted_and_counted() {
    let verdict = good().verdict();
    assert_eq!(verdict.violations, [], "{verdict:#?}");
    let counts = (verdict.pushed, verdict.deliveries, verdict.acknowledged, verdict.pairs);
    assert_eq!(counts, (2, 2, 2, 1));
}

#[test]
fn an_item_that_is_gone_is_convicted_and_a_dead_one_is_not() {
    good().pushed(6 * S, "c", 3, None).is_convicted_of(Check::ItemLost);
    let mut doctor = good();
    doctor.pushed(6 * S, "c", 3, None).say(101 * S, "rig", TortureWhat::DeadLetter { id: 3 });
    assert_eq!(doctor.verdict().violations, []);
}

#[test]
fn what_was_acknowledged_and_is_delivered_again_is_convicted() {
    good().delivered(9 * S, "w2.1", "a", 1, 19).is_convicted_of(Check::Again);
}

#[test]
fn what_is_in_the_queue_twice_is_convicted() {
    let mut doctor = Doctor::new();
    doctor.pushed(S, "a", 1, None).delivered(2 * S, "w1.1", "a", 7, 19);
    doctor.acknowledged(3 * S, "w1.1", 7, 19).is_convicted_of(Check::Again);
}

#[test]
fn two_believers_in_one_item_are_convicted_and_successors_are_not() {
    let twice = |at| {
        let mut doctor = Doctor::new();
        doctor.pushed(S, "a", 1, None).delivered(2 * S, "w1.1", "a", 1, 11);
        doctor.delivered(at, "w2.1", "a", 1, 12).acknowledged(at + S, "w2.1", 1, 12);
        doctor
    };
    twice(4 * S).is_convicted_of(Check::ItemTwice);
    assert_eq!(twice(6 * S).verdict().violations, []);
}

#[test]
fn a_client_that_finds_late_that_its_lease_is_over_has_not_believed_until_then() {
    let mut doctor = Doctor::new();
    doctor.pushed(S, "a", 1, None).delivered(2 * S, "w1.1", "a", 1, 11);
    doctor.delivered(6 * S, "w2.1", "a", 1, 12).acknowledged(9 * S, "w2.1", 1, 12);
    doctor.say(8 * S, "w1.1", TortureWhat::InHand { id: 1, fence: 11, until: Some(8 * S) });
    assert_eq!(doctor.verdict().violations, []);
}

#[test]
fn a_fence_that_is_given_twice_is_convicted() {
    let mut doctor = Doctor::new();
    doctor.pushed(S, "a", 1, None).delivered(2 * S, "w1.1", "a", 1, 11);
    doctor.delivered(9 * S, "w2.1", "a", 1, 11).acknowledged(10 * S, "w2.1", 1, 11);
    doctor.is_convicted_of(Check::Fence);
}

#[test]
fn a_fence_that_two_items_have_is_convicted() {
    let mut doctor = Doctor::new();
    doctor.pushed(S, "a", 1, None).pushed(S, "b", 2, None).delivered(2 * S, "w1.1", "a", 1, 11);
    doctor.delivered(3 * S, "w2.1", "b", 2, 11);
    doctor.acknowledged(4 * S, "w1.1", 1, 11).acknowledged(4 * S, "w2.1", 2, 11);
    doctor.is_convicted_of(Check::Fence);
}

/// The item `a` is delivered with the fence 12 at 2 s, and given back. At 6 s it is delivered with
/// the fence 11 to a worker that has asked at `popped`.
fn falls(popped: u64) -> Doctor {
    let mut doctor = Doctor::new();
    doctor.pushed(S, "a", 1, None).delivered(2 * S, "w1.1", "a", 1, 12);
    doctor.popped(popped, "w2.1", 11).delivered(6 * S, "w2.1", "a", 1, 11);
    doctor.acknowledged(7 * S, "w2.1", 1, 11).acknowledged(8 * S, "w1.1", 1, 12);
    doctor.0.retain(|event| !matches!(event.what, TortureWhat::Finished { fence: 11, .. }));
    doctor
}

#[test]
fn a_fence_that_falls_is_convicted_where_the_worker_asked_when_a_greater_one_was_in_hand() {
    falls(5 * S).is_convicted_of(Check::Fence);
    assert_eq!(falls(S).verdict().violations, [], "its worker may have been slow to note it");
}

#[test]
fn more_than_the_limit_and_more_of_a_group_are_convicted() {
    let mut doctor = good();
    doctor.pushed(3 * S, "c", 3, None).delivered(4 * S + MS, "w3.1", "c", 3, 13);
    doctor.acknowledged(5 * S, "w3.1", 3, 13).is_convicted_of(Check::Limit);
    let mut doctor = Doctor::new();
    doctor.pushed(S, "a", 1, Some("g")).pushed(2 * S, "b", 2, Some("g"));
    doctor.delivered(3 * S, "w1.1", "a", 1, 11).delivered(4 * S, "w2.1", "b", 2, 12);
    doctor.acknowledged(5 * S, "w1.1", 1, 11).acknowledged(5 * S, "w2.1", 2, 12);
    doctor.is_convicted_of(Check::Limit);
}

fn out_of_order(with_fault: bool) -> Doctor {
    let mut doctor = Doctor::new();
    if with_fault {
        doctor.fault(S);
    }
    doctor.pushed(S, "a", 1, None).pushed(2 * S, "b", 2, None);
    doctor.delivered(3 * S, "w1.1", "b", 2, 11).delivered(4 * S, "w2.1", "a", 1, 12);
    doctor.acknowledged(5 * S, "w1.1", 2, 11).acknowledged(5 * S, "w2.1", 1, 12);
    doctor
}

#[test]
fn an_earlier_item_that_is_delivered_later_is_convicted_unless_a_fault_was_felt() {
    out_of_order(false).is_convicted_of(Check::Order);
    assert_eq!(out_of_order(true).verdict().violations, []);
}

#[test]
fn an_item_that_lies_beside_an_idle_worker_for_too_long_is_convicted() {
    let waited = |at| {
        let mut doctor = Doctor::new();
        doctor.say(S / 2, "w1.1", TortureWhat::Pop { req: "w1.1.11".into() });
        doctor.pushed(S, "a", 1, None).delivered(at, "w1.1", "a", 1, 11);
        doctor.acknowledged(at + MS, "w1.1", 1, 11);
        doctor
    };
    assert_eq!(waited(3 * S).verdict().violations, []);
    waited(5 * S).is_convicted_of(Check::Wakeup);
}

/// A worker waits for an item from 0.5 s until it is told to stop. The item is there from 1 s on.
/// The rig takes it out at the end.
fn lies_until_the_end(stopped: u64) -> Doctor {
    let mut doctor = Doctor::new();
    doctor.popped(S / 2, "w1.1", 11).pushed(S, "a", 1, None);
    let (req, why) = ("w1.1.11".to_owned(), "stop".to_owned());
    doctor.say(stopped, "w1.1", TortureWhat::PopEnded { req, why });
    doctor.delivered(61 * S, "rig", "a", 1, 12).acknowledged(61 * S + MS, "rig", 1, 12);
    doctor
}

#[test]
fn a_wakeup_that_is_lost_until_the_end_of_the_run_is_convicted() {
    lies_until_the_end(60 * S).is_convicted_of(Check::Wakeup);
    let soon = lies_until_the_end(3 * S).verdict();
    assert_eq!((soon.violations, soon.waits), (vec![], vec![2 * S - MS]));
    assert_eq!(lies_until_the_end(60 * S).fault(2 * S).verdict().violations, []);
}

#[test]
fn an_item_that_lies_beside_a_worker_that_is_killed_in_the_end_is_convicted() {
    let mut doctor = Doctor::new();
    doctor.popped(S / 2, "w1.1", 11).pushed(S, "a", 1, None);
    doctor.say(60 * S, "rig", TortureWhat::Killing { life: "w1.1".into() });
    doctor.delivered(61 * S, "w2.1", "a", 1, 12).acknowledged(61 * S + MS, "w2.1", 1, 12);
    doctor.is_convicted_of(Check::Wakeup);
}

#[test]
fn an_item_that_nobody_pushed_and_one_of_another_group_are_convicted() {
    good().delivered(6 * S, "w1.1", "x", 9, 19).is_convicted_of(Check::ItemChanged);
    let mut doctor = good();
    doctor.pushed(6 * S, "c", 3, Some("g"));
    let (payload, req, until) = ("c".to_owned(), "w1.1.19".to_owned(), Some(9 * S));
    let group = Some("h".to_owned());
    let changed = TortureWhat::Delivered { req, payload, id: 3, fence: 19, group, until };
    doctor.say(7 * S, "w1.1", changed).acknowledged(8 * S, "w1.1", 3, 19);
    doctor.is_convicted_of(Check::ItemChanged);
}

#[test]
fn an_item_whose_push_was_refused_and_that_is_delivered_is_convicted() {
    let mut doctor = good();
    let (req, delay, group) = ("c".to_owned(), 0, None);
    doctor.say(6 * S, "w0.1", TortureWhat::Push { req, delay, group });
    let (req, why) = ("c".to_owned(), "no room".to_owned());
    doctor.say(6 * S, "w0.1", TortureWhat::NotPushed { req, maybe: false, why });
    doctor.fault(5 * S).delivered(7 * S, "w1.1", "c", 3, 19).acknowledged(8 * S, "w1.1", 3, 19);
    doctor.is_convicted_of(Check::Again);
}

#[test]
fn an_acknowledgement_that_was_refused_or_came_before_another_delivery_excuses_no_loss() {
    let mut doctor = good();
    let acknowledging = |id, fence| {
        let how = "acknowledge".to_owned();
        TortureWhat::Finishing { id, fence, how }
    };
    doctor.fault(5 * S).pushed(6 * S, "c", 3, None).delivered(7 * S, "w1.1", "c", 3, 19);
    doctor.say(8 * S, "w1.1", acknowledging(3, 19));
    assert_eq!(doctor.verdict().violations, [], "nobody heard what became of it");
    let mut refused = Doctor(doctor.0.clone());
    refused.finished(9 * S, "w1.1", 3, 19, "lost").is_convicted_of(Check::ItemLost);
    doctor.delivered(12 * S, "w2.1", "c", 3, 20).is_convicted_of(Check::ItemLost);
}

#[test]
fn an_alarm_where_nothing_fails_is_convicted_and_beside_a_fault_it_is_not() {
    let (id, fence) = (1, 11);
    let why = || "the store does not answer".to_owned();
    let req = || "w1.1.30".to_owned();
    for what in [
        TortureWhat::ItemLost { id, fence },
        TortureWhat::Finished { id, fence, end: "unknown".into() },
        TortureWhat::PopEnded { req: req(), why: why() },
        TortureWhat::NotPushed { req: req(), maybe: true, why: why() },
    ] {
        good().say(6 * S, "w1.1", what.clone()).is_convicted_of(Check::Alarm);
        assert_eq!(good().fault(5 * S).say(6 * S, "w1.1", what).verdict().violations, []);
    }
}

#[test]
fn what_is_judged_without_the_effects_of_faults_is_counted() {
    let with_pop = |doctor: &mut Doctor| {
        let verdict = doctor.popped(S, "w1.1", 11).verdict();
        (verdict.calm, verdict.prompt, verdict.pairs)
    };
    assert_eq!(with_pop(&mut good()), (2, 2, 1));
    assert_eq!(with_pop(good().fault(2 * S)), (0, 0, 0));
}

#[test]
fn a_run_in_which_nothing_was_done_is_not_well() {
    assert!(!Doctor::new().verdict().is_well());
    assert!(good().verdict().is_well());
}

#[test]
fn what_is_left_is_convicted() {
    let left = TortureWhat::QueueLeft { ready: 1, delayed: 0, in_work: 0 };
    good().say(101 * S, "rig", left).is_convicted_of(Check::Left);
}
