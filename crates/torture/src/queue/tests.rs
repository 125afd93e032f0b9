//! Doctored histories: the checker acquits a good history, and convicts each history with one fault
//! of that fault.

use super::check::{CheckBounds, QueueVerdict, check};
use crate::{
    check::Check,
    history::{HistoryEvent, TortureWhat},
};

const S: u64 = 1_000_000;
const MS: u64 = 1_000;
const BOUNDS: CheckBounds = CheckBounds { prompt: 3 * S, look: 100 * S };

#[derive(Default)]
struct Doctor(Vec<HistoryEvent>);

impl Doctor {
    fn new() -> Self {
        let mut doctor = Self::default();
        doctor.say(0, "rig", TortureWhat::Limits { limit: 2, group_limit: 1 });
        doctor
    }

    fn say(&mut self, at: u64, who: &str, what: TortureWhat) -> &mut Self {
        self.0.push(HistoryEvent { at, who: who.into(), what });
        self
    }

    fn pushed(&mut self, at: u64, req: &str, id: u64, group: Option<&str>) -> &mut Self {
        let group = group.map(str::to_owned);
        self.say(at, "w0.1", TortureWhat::Push { req: req.into(), delay: 0, group });
        self.say(at + MS, "w0.1", TortureWhat::Pushed { req: req.into(), id })
    }

    fn delivered(&mut self, at: u64, who: &str, req: &str, id: u64, fence: u64) -> &mut Self {
        let until = Some(at + 3 * S);
        let (payload, req) = (req.to_owned(), format!("{who}.{fence}"));
        self.say(at, who, TortureWhat::Delivered { req, payload, id, fence, group: None, until })
    }

    fn acknowledged(&mut self, at: u64, who: &str, id: u64, fence: u64) -> &mut Self {
        let (how, end) = ("acknowledge".to_owned(), "acknowledged".to_owned());
        self.say(at, who, TortureWhat::Finishing { id, fence, how });
        self.say(at + MS, who, TortureWhat::Finished { id, fence, end })
    }

    fn verdict(&mut self) -> QueueVerdict {
        self.say(100 * S, "rig", TortureWhat::QueueLeft { ready: 0, delayed: 0, in_work: 0 });
        self.0.sort_by_key(|event| event.at);
        check(&self.0, &BOUNDS, &[])
    }

    #[track_caller]
    fn is_convicted_of(&mut self, check: Check) {
        let verdict = self.verdict();
        let checks: Vec<_> = verdict.violations.iter().map(|found| found.check).collect();
        assert_eq!(checks, [check], "{verdict:#?}");
    }
}

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
        let fault = || "cut".to_owned();
        doctor.say(S, "rig", TortureWhat::FaultBegins { fault: fault(), worker: None });
        doctor.say(S + MS, "rig", TortureWhat::FaultEnds { fault: fault(), worker: None });
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

#[test]
fn what_is_left_is_convicted() {
    let left = TortureWhat::QueueLeft { ready: 1, delayed: 0, in_work: 0 };
    good().say(101 * S, "rig", left).is_convicted_of(Check::Left);
}
