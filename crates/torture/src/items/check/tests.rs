use super::*;

const RULES: ItemRules =
    ItemRules { ttl: Duration::from_secs(2), concurrency: 1, may_forget: false };

struct Told(Vec<HistoryEvent<ItemEvent>>);

impl Told {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn at(mut self, at: u64, who: &str, what: ItemEvent) -> Self {
        self.0.push(HistoryEvent { at, who: who.to_owned(), what });
        self
    }

    fn pushed(self, n: u64, id: u64, priority: i8) -> Self {
        self.at(n, "rig", ItemEvent::Pushed { n, id, priority })
    }

    fn delivered(self, at: u64, life: &str, (n, id): (u64, u64), fence: u64, attempt: u32) -> Self {
        self.at(at, life, ItemEvent::Delivered { n, id, fence, attempt })
    }

    fn done(self, at: u64, life: &str, id: u64, fence: u64) -> Self {
        let told = self.at(at, life, ItemEvent::Acknowledging { id, fence });
        told.at(at, life, ItemEvent::Acknowledged { id, fence })
    }

    fn given_back(self, at: u64, life: &str, id: u64, fence: u64) -> Self {
        self.at(at, life, ItemEvent::GivingBack { id, fence })
    }

    fn killed(self, at: u64, life: &str) -> Self {
        self.at(at, "rig", ItemEvent::Killing { life: life.to_owned() })
    }

    fn judged(self, rules: ItemRules) -> ItemVerdict {
        check(&self.at(u64::MAX, "rig", ItemEvent::Left { items: 0, dead: 0 }).0, rules)
    }
}

/// Two items, each done once, in order.
fn calm() -> Told {
    let told = Told::new().pushed(1, 10, 0).pushed(2, 11, 0);
    let told = told.delivered(20, "w0.1", (1, 10), 20, 1).done(21, "w0.1", 10, 20);
    told.delivered(22, "w1.1", (2, 11), 21, 1).done(23, "w1.1", 11, 21)
}

fn assert_convicted(told: Told, count: Count) {
    let verdict = told.judged(RULES);
    assert!(verdict.count(count) == 1 && !verdict.violations.is_empty(), "{count:?}: {verdict:?}");
}

#[test]
fn a_calm_history_is_innocent() {
    let verdict = calm().judged(RULES);
    assert_eq!(verdict.violations, Vec::<String>::new());
    assert_eq!((verdict.count(Count::Undisturbed), verdict.count(Count::Acknowledged)), (2, 2));
}

#[test]
fn an_item_that_nobody_did_is_lost() {
    assert_convicted(calm().pushed(3, 12, 0), Count::Lost);
    let delivered = calm().pushed(3, 12, 0).delivered(30, "w0.1", (3, 12), 30, 1);
    assert_convicted(delivered.killed(31, "w0.1"), Count::Lost);
}

#[test]
fn an_acknowledgement_that_was_not_answered_may_have_been_done() {
    let told = calm().pushed(3, 12, 0).delivered(30, "w0.1", (3, 12), 30, 1);
    let told =
        told.at(31, "w0.1", ItemEvent::Acknowledging { id: 12, fence: 30 }).killed(32, "w0.1");
    let verdict = told.judged(RULES);
    assert_eq!((verdict.count(Count::DoneUnanswered), verdict.violations.len()), (1, 0));
}

#[test]
fn an_item_acknowledged_twice_convicts() {
    let again = calm().delivered(30, "w1.1", (1, 10), 30, 2).done(31, "w1.1", 10, 30);
    let verdict = again.killed(25, "w0.1").judged(RULES);
    assert_eq!(verdict.count(Count::AcknowledgedTwice), 1);
    assert_eq!(verdict.count(Count::DeliveredAfterEnd), 1);
    assert_eq!(verdict.violations.len(), 2, "{verdict:?}");
}

#[test]
fn a_second_delivery_is_explained_by_a_kill_or_the_end_of_a_lease_and_by_nothing_else() {
    let first = || Told::new().pushed(1, 10, 0).delivered(20, "w0.1", (1, 10), 20, 1);
    let again =
        |told: Told, at| told.delivered(at, "w1.1", (1, 10), 30, 2).done(at, "w1.1", 10, 30);
    assert_convicted(again(first(), 25), Count::Unexplained);
    assert_convicted(again(first().killed(22, "w2.1"), 25), Count::Unexplained);
    let killed = again(first().killed(22, "w0.1"), 25).judged(RULES);
    assert_eq!((killed.count(Count::ByKill), killed.violations.len()), (1, 0));
    let late = ItemEvent::NotAcknowledged { id: 10, fence: 20, is_lost: true };
    let lost = again(first().at(26, "w0.1", late), 25).judged(RULES);
    assert_eq!((lost.count(Count::ByLeaseEnd), lost.violations.len()), (1, 0));
    let fault = ItemEvent::Broken { fault: "restarted".to_owned() };
    let broken =
        again(first().at(22, "rig", fault).at(23, "rig", ItemEvent::Whole), 25).judged(RULES);
    assert_eq!((broken.count(Count::ByFault), broken.violations.len()), (1, 0));
}

#[test]
fn an_undisturbed_item_that_passes_one_of_its_priority_convicts() {
    let told = calm().pushed(3, 12, 0).pushed(4, 13, 0);
    let told = told.delivered(30, "w0.1", (4, 13), 30, 1).done(31, "w0.1", 13, 30);
    let told = told.delivered(32, "w0.1", (3, 12), 31, 1).done(33, "w0.1", 12, 31);
    assert_convicted(told, Count::OutOfOrder);
}

#[test]
fn one_that_came_back_is_no_measure_of_order() {
    let told = calm().pushed(3, 12, 0).pushed(4, 13, 0);
    let told = told.delivered(30, "w0.1", (3, 12), 29, 1).killed(30, "w0.1");
    let told = told.delivered(30, "w1.1", (4, 13), 30, 1).done(31, "w1.1", 13, 30);
    let told = told.delivered(32, "w1.1", (3, 12), 31, 2).done(33, "w1.1", 12, 31);
    assert_eq!(told.judged(RULES).violations, Vec::<String>::new());
}

/// Makes a history in which the item 12 is delivered after the item 13, which was pushed later.
/// With `first`, a delivery of the item 12 with this fence was given back unseen.
fn passed_by_a_later_one(first: Option<u64>) -> Told {
    let told = calm().pushed(3, 12, 0).pushed(4, 13, 0);
    let told = told.delivered(30, "w1.1", (4, 13), 30, 1).done(31, "w1.1", 13, 30);
    let told = match first {
        Some(first) => told.given_back(32, "w0.1", 12, first),
        None => told,
    };
    told.delivered(33, "w0.1", (3, 12), 33, 1).done(34, "w0.1", 12, 33)
}

#[test]
fn an_item_that_was_given_back_unseen_was_passed_rightly_while_it_was_away() {
    let verdict = passed_by_a_later_one(Some(29)).judged(RULES);
    assert_eq!(verdict.violations, Vec::<String>::new());
    assert_eq!((verdict.count(Count::GivenBack), verdict.count(Count::Undisturbed)), (1, 4));
}

#[test]
fn an_item_that_was_passed_before_its_first_delivery_convicts_though_it_was_given_back() {
    assert_convicted(passed_by_a_later_one(None), Count::OutOfOrder);
    assert_convicted(passed_by_a_later_one(Some(31)), Count::OutOfOrder);
    let of_another = passed_by_a_later_one(None).given_back(29, "w0.1", 13, 29);
    assert_convicted(of_another, Count::OutOfOrder);
}

#[test]
fn an_item_that_was_given_back_unseen_may_not_have_passed_an_earlier_one_by_that() {
    let told = calm().pushed(3, 12, 0).pushed(4, 13, 0).given_back(29, "w0.1", 13, 28);
    let told = told.delivered(30, "w0.1", (3, 12), 30, 1).done(31, "w0.1", 12, 30);
    let told = told.delivered(32, "w0.1", (4, 13), 31, 1).done(33, "w0.1", 13, 31);
    assert_convicted(told, Count::OutOfOrder);
}

#[test]
fn a_delivery_that_a_handler_saw_and_gave_back_is_counted_once() {
    let told = calm().given_back(30, "w0.1", 10, 20);
    assert_eq!(told.judged(RULES).count(Count::GivenBack), 0);
}

#[test]
fn a_lower_priority_passes_only_what_came_after_it_was_delivered() {
    let low_first = |high: u64| {
        let told = Told::new().pushed(1, 100_000_000, 0).pushed(2, high, 1);
        let told = told.delivered(20, "w0.1", (1, 100_000_000), 100_000_500, 1);
        let told = told.done(21, "w0.1", 100_000_000, 100_000_500);
        told.delivered(22, "w0.1", (2, high), 100_009_000, 1).done(23, "w0.1", high, 100_009_000)
    };
    assert_convicted(low_first(100_000_100), Count::OutOfRank);
    assert_eq!(low_first(100_000_600).judged(RULES).violations, Vec::<String>::new());
}

#[test]
fn what_a_store_may_forget_is_counted_and_does_not_convict() {
    let verdict = calm().pushed(3, 12, 0).judged(ItemRules { may_forget: true, ..RULES });
    assert_eq!((verdict.count(Count::Lost), verdict.violations.len()), (1, 0));
}

#[test]
fn one_push_that_made_two_items_convicts() {
    let told = calm().delivered(30, "w0.1", (2, 15), 30, 1).done(31, "w0.1", 15, 30);
    let verdict = told.judged(RULES);
    assert!(verdict.count(Count::Strange) > 0 && !verdict.violations.is_empty());
}

#[test]
fn a_fence_that_falls_from_one_attempt_to_the_next_convicts() {
    let told = calm().pushed(3, 12, 0).delivered(30, "w0.1", (3, 12), 30, 1).killed(31, "w0.1");
    let told = told.delivered(32, "w1.1", (3, 12), 25, 2).done(33, "w1.1", 12, 25);
    assert_convicted(told, Count::BadFence);
}

#[test]
fn a_run_in_which_nothing_was_done_is_not_well() {
    assert!(!Told::new().judged(RULES).is_well());
    assert!(calm().judged(RULES).is_well());
}

#[test]
fn items_that_are_left_convict() {
    let mut events = calm().0;
    events.push(HistoryEvent {
        at: 99,
        who: "rig".to_owned(),
        what: ItemEvent::Left { items: 1, dead: 0 },
    });
    assert_eq!(check(&events, RULES).violations.len(), 1);
}

#[test]
fn more_deliveries_that_ended_with_their_workers_than_those_can_have_had_convict() {
    let told = calm().pushed(3, 12, 0).killed(25, "w2.1");
    let told = told.delivered(30, "w0.1", (3, 12), 30, 3).done(31, "w0.1", 12, 30);
    assert_eq!(told.judged(RULES).violations.len(), 1);
}
