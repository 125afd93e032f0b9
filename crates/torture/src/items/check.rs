//! Judges a history of items.
//!
//! Ids and fences come from one growing number of the queue, so they can be compared. An item was
//! in the queue when another item was delivered if and only if its id is below that delivery's
//! fence. The checks of order use no clock and no order of lines.

mod order;
mod tale;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, time::Duration};

use super::history::ItemEvent;
use crate::history::HistoryEvent;

use tale::{DeliveredAgain, ItemsTale};

/// The rules of a run.
#[derive(Clone, Copy, Debug)]
pub struct ItemRules {
    /// The ttl of leases.
    pub ttl: Duration,
    /// How many items a worker has at a time.
    pub concurrency: u32,
    /// Whether the store may forget changes that it has answered, as without persistence or after a
    /// fail-over. Forgotten changes are then counted.
    pub may_forget: bool,
}

/// The verdict on a run.
#[derive(Clone, Debug)]
pub struct ItemVerdict {
    rules: ItemRules,
    /// Breaches of promises, in words.
    pub violations: Vec<String>,
    /// The figures, in the order of the report.
    pub counts: BTreeMap<Count, u64>,
    /// The time from the first push to the last acknowledgement, in microseconds.
    pub took: u64,
}

/// A figure.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Count {
    /// Pushes that the store answered.
    Pushed,
    /// Pushes that the store refused, so that the item is not in the queue.
    Refused,
    /// Pushes that the store did not answer.
    PushUnknown,
    /// Items of such pushes that were delivered.
    PushUnknownDelivered,
    /// Deliveries that a handler saw.
    Deliveries,
    /// Deliveries that only the attempt number of a later delivery shows.
    Unseen,
    /// Deliveries that were given back before a handler saw them. They do not count as attempts.
    GivenBack,
    /// Acknowledgements that the store answered.
    Acknowledged,
    /// Items whose only acknowledgement was not answered, and that were not delivered again. They
    /// count as done.
    DoneUnanswered,
    /// Acknowledgements that came too late.
    TooLate,
    /// Workers that were killed.
    Kills,
    /// How often the store was broken.
    Faults,
    /// Items that were delivered more than once.
    Repeated,
    /// Deliveries that were repeated because their worker was killed.
    ByKill,
    /// Deliveries that were repeated because their lease had ended.
    ByLeaseEnd,
    /// Deliveries that were repeated because the store was broken meanwhile.
    ByFault,
    /// Deliveries that were repeated for no visible reason.
    Unexplained,
    /// Items that a handler saw once, at the first attempt, and that were acknowledged.
    Undisturbed,
    /// Undisturbed items that were delivered before an earlier item of the same priority.
    OutOfOrder,
    /// Undisturbed items that were delivered before an item of another priority that stood further
    /// in front.
    OutOfRank,
    /// Items that are gone without being done.
    Lost,
    /// Items with two acknowledgements that were answered.
    AcknowledgedTwice,
    /// Deliveries after an acknowledgement that was answered.
    DeliveredAfterEnd,
    /// Numbers that the queue has under two ids, or delivered without a push.
    Strange,
    /// Fences that were given twice, or that fell from one attempt at an item to the next.
    BadFence,
}

impl Count {
    /// Returns whether this figure breaks a promise of the store.
    fn is_bad(self, rules: ItemRules) -> bool {
        match self {
            Self::Strange | Self::BadFence => true,
            Self::Unexplained | Self::OutOfOrder | Self::OutOfRank => !rules.may_forget,
            Self::Lost | Self::AcknowledgedTwice | Self::DeliveredAfterEnd => !rules.may_forget,
            _ => false,
        }
    }
}

/// Judges a history in order of time.
#[must_use]
pub fn check(events: &[HistoryEvent<ItemEvent>], rules: ItemRules) -> ItemVerdict {
    let tale = ItemsTale::read(events);
    let mut verdict = ItemVerdict::new(rules, tale.took());
    tale.count_events(&mut verdict);
    fates(&tale, rules, &mut verdict);
    repeats(&tale, rules, &mut verdict);
    order::check(&tale, &mut verdict);
    end(&tale, &mut verdict);
    verdict
}

/// Checks that every pushed item is done once.
fn fates(tale: &ItemsTale, rules: ItemRules, verdict: &mut ItemVerdict) {
    for (id, item) in &tale.items {
        let answered = item.acknowledged.len();
        if answered > 1 {
            verdict
                .note(Count::AcknowledgedTwice, || format!("item {id}: {:?}", item.acknowledged));
        }
        let after = |fence: &u64| item.deliveries.iter().any(|delivery| delivery.fence > *fence);
        if item.acknowledged.iter().any(after) {
            verdict.note(Count::DeliveredAfterEnd, || format!("item {id} was delivered again"));
        }
        if item.pushed.is_none() && !item.may_be {
            verdict.note(Count::Strange, || format!("item {id} was never pushed"));
        }
        if answered == 0 && item.may_be_done() {
            verdict.note(Count::DoneUnanswered, String::new);
        } else if answered == 0 {
            verdict.note(Count::Lost, || {
                format!("item {id} (number {}) was pushed and never done", item.n)
            });
        }
    }
    for ids in tale.ids.values().filter(|ids| ids.len() > 1 && !rules.may_forget) {
        verdict.note(Count::Strange, || format!("one push, and the items {ids:?}"));
    }
}

/// Checks that every delivery of an item but the last ended for a reason.
fn repeats(tale: &ItemsTale, rules: ItemRules, verdict: &mut ItemVerdict) {
    let mut fences = std::collections::HashSet::new();
    for (id, item) in &tale.items {
        if item.deliveries.len() > 1 {
            verdict.note(Count::Repeated, String::new);
        }
        let first = item.deliveries.first().map_or(1, |delivery| delivery.attempt);
        verdict.add(Count::Unseen, u64::from(first.saturating_sub(1)));
        verdict.add(Count::GivenBack, item.given_back.len() as u64);
        for pair in item.deliveries.windows(2) {
            if pair[1].attempt < pair[0].attempt && !rules.may_forget {
                verdict.note(Count::BadFence, || {
                    format!("item {id}: an earlier attempt has a greater fence: {pair:?}")
                });
            }
            verdict
                .add(Count::Unseen, u64::from(pair[1].attempt.saturating_sub(pair[0].attempt + 1)));
            let cause = tale.cause(&pair[0], &pair[1], rules.ttl);
            let count = match cause {
                Some(DeliveredAgain::Kill) => Count::ByKill,
                Some(DeliveredAgain::LeaseEnd) => Count::ByLeaseEnd,
                Some(DeliveredAgain::StoreFault) => Count::ByFault,
                None => Count::Unexplained,
            };
            verdict
                .note(count, || format!("item {id}: {:?} was followed by {:?}", pair[0], pair[1]));
        }
        for delivery in &item.deliveries {
            if !fences.insert(delivery.fence) && !rules.may_forget {
                verdict
                    .note(Count::BadFence, || format!("item {id}: fence {} again", delivery.fence));
            }
        }
    }
}

fn end(tale: &ItemsTale, verdict: &mut ItemVerdict) {
    verdict.violations.extend(tale.hangs.iter().cloned());
    match tale.left {
        Some((0, 0)) => {}
        Some((items, dead)) => {
            verdict.violations.push(format!("{items} items and {dead} dead letters are left"));
        }
        None => verdict.violations.push("the run did not come to its end".to_owned()),
    }
    kills_suffice(verdict);
}

/// Checks that the kills explain the deliveries that ended with their workers. A killed worker
/// takes at most as many items with it as it can have at a time.
fn kills_suffice(verdict: &mut ItemVerdict) {
    let taken = verdict.count(Count::Unseen) + verdict.count(Count::ByKill);
    let most = verdict.count(Count::Kills) * u64::from(verdict.rules.concurrency);
    if verdict.count(Count::Faults) == 0 && taken > most {
        let words =
            format!("{taken} deliveries ended with their workers, which can have had {most}");
        verdict.violations.push(words);
    }
}

/// How many breaches of each kind are described in words.
const TOLD: u64 = 10;

impl ItemVerdict {
    fn new(rules: ItemRules, took: u64) -> Self {
        Self { rules, violations: Vec::new(), counts: BTreeMap::new(), took }
    }

    /// Returns whether no promise was broken and an item was done. A run in which nothing was done
    /// proves nothing.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.violations.is_empty() && self.count(Count::Acknowledged) > 0
    }

    /// Returns the value of a figure.
    #[must_use]
    pub fn count(&self, count: Count) -> u64 {
        self.counts.get(&count).copied().unwrap_or_default()
    }

    fn add(&mut self, count: Count, more: u64) {
        *self.counts.entry(count).or_default() += more;
    }

    /// Counts an event, and describes it in words if it is a breach.
    fn note(&mut self, count: Count, words: impl FnOnce() -> String) {
        self.add(count, 1);
        if count.is_bad(self.rules) && self.count(count) <= TOLD {
            self.violations.push(format!("{count:?}: {}", words()));
        }
    }
}
