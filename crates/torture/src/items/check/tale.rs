//! The history, item by item and life by life.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use super::{Count, ItemVerdict};
use crate::{history::HistoryEvent, items::history::ItemEvent};

/// The contents of a history.
#[derive(Debug, Default)]
pub(super) struct ItemsTale {
    /// The items, by id.
    pub(super) items: BTreeMap<u64, ToldItem>,
    /// The ids that each pushed number has.
    pub(super) ids: HashMap<u64, Vec<u64>>,
    pub(super) hangs: Vec<String>,
    /// The numbers of items and dead letters that are left.
    pub(super) left: Option<(u32, u32)>,
    counts: BTreeMap<Count, u64>,
    /// The moment at which each life was about to be killed.
    killed: HashMap<String, u64>,
    /// The times in which the store was broken.
    broken: Vec<(u64, u64)>,
    /// Pushed numbers of which nobody knows whether they are in the queue.
    may_be: Vec<u64>,
    first: u64,
    last: u64,
}

/// An item.
#[derive(Debug, Default)]
pub(super) struct ToldItem {
    pub(super) n: u64,
    /// The item's priority, if its push was answered.
    pub(super) pushed: Option<i8>,
    pub(super) may_be: bool,
    /// The deliveries, by fence.
    pub(super) deliveries: Vec<HandledDelivery>,
    /// The fences of deliveries that were given back, and that no handler saw.
    pub(super) given_back: BTreeSet<u64>,
    /// The fences of the acknowledgements that the store answered.
    pub(super) acknowledged: Vec<u64>,
    /// The fences of acknowledgements that were sent and not refused.
    pub(super) tried: Vec<u64>,
}

impl ToldItem {
    /// Returns whether the last delivery may have been acknowledged although no worker was left to
    /// hear so.
    pub(super) fn may_be_done(&self) -> bool {
        self.deliveries.last().is_some_and(|last| self.tried.contains(&last.fence))
    }
}

/// A delivery that a handler saw.
#[derive(Clone, Debug)]
pub(super) struct HandledDelivery {
    pub(super) at: u64,
    pub(super) life: String,
    pub(super) fence: u64,
    pub(super) attempt: u32,
    /// Whether the worker was told that the delivery had ended before its acknowledgement.
    pub(super) is_lost: bool,
}

/// The reason why an item was delivered again.
pub(super) enum DeliveredAgain {
    Kill,
    LeaseEnd,
    StoreFault,
}

impl ItemsTale {
    pub(super) fn read(events: &[HistoryEvent<ItemEvent>]) -> Self {
        let mut tale = Self { first: u64::MAX, ..Self::default() };
        for event in events {
            tale.take(event);
        }
        for item in tale.items.values_mut() {
            item.deliveries.sort_by_key(|delivery| delivery.fence);
            let seen = |fence: &u64| item.deliveries.iter().any(|it| it.fence == *fence);
            item.given_back.retain(|fence| !seen(fence));
        }
        for n in std::mem::take(&mut tale.may_be) {
            tale.settle(n);
        }
        tale
    }

    fn take(&mut self, event: &HistoryEvent<ItemEvent>) {
        match &event.what {
            ItemEvent::Pushed { n, id, priority } => {
                self.count(Count::Pushed);
                self.first = self.first.min(event.at);
                self.item(*id, *n).pushed = Some(*priority);
            }
            ItemEvent::NotPushed { n, may_be, .. } => {
                self.count(if *may_be { Count::PushUnknown } else { Count::Refused });
                self.may_be.extend(may_be.then_some(*n));
            }
            ItemEvent::Delivered { n, id, fence, attempt } => {
                self.count(Count::Deliveries);
                let (fence, attempt, life) = (*fence, *attempt, event.who.clone());
                let delivery =
                    HandledDelivery { at: event.at, life, fence, attempt, is_lost: false };
                self.item(*id, *n).deliveries.push(delivery);
            }
            ItemEvent::Acknowledging { id, fence } => {
                self.items.entry(*id).or_default().tried.push(*fence);
            }
            ItemEvent::Acknowledged { id, fence } => {
                self.count(Count::Acknowledged);
                self.last = event.at;
                self.items.entry(*id).or_default().acknowledged.push(*fence);
            }
            ItemEvent::NotAcknowledged { id, fence, is_lost } => {
                self.take_refusal(*id, *fence, *is_lost);
            }
            ItemEvent::GivingBack { id, fence } => {
                self.items.entry(*id).or_default().given_back.insert(*fence);
            }
            ItemEvent::Killing { life } => {
                self.count(Count::Kills);
                self.killed.insert(life.clone(), event.at);
            }
            ItemEvent::Broken { .. } => {
                self.count(Count::Faults);
                self.broken.push((event.at, u64::MAX));
            }
            ItemEvent::Whole => {
                self.broken.last_mut().into_iter().for_each(|fault| fault.1 = event.at);
            }
            ItemEvent::Left { items, dead } => self.left = Some((*items, *dead)),
            ItemEvent::Hangs { what_hangs } => self.hangs.push(what_hangs.clone()),
            ItemEvent::Started => {}
        }
    }

    fn item(&mut self, id: u64, n: u64) -> &mut ToldItem {
        let ids = self.ids.entry(n).or_default();
        if !ids.contains(&id) {
            ids.push(id);
        }
        let item = self.items.entry(id).or_default();
        item.n = n;
        item
    }

    fn take_refusal(&mut self, id: u64, fence: u64, is_lost: bool) {
        let item = self.items.entry(id).or_default();
        item.tried.retain(|tried| *tried != fence || !is_lost);
        let own = item.deliveries.iter_mut().find(|delivery| delivery.fence == fence);
        if let Some(delivery) = own.filter(|_| is_lost) {
            delivery.is_lost = true;
        }
        if is_lost {
            self.count(Count::TooLate);
        }
    }

    /// Decides about a push that the store did not answer: it happened if the item was ever seen.
    fn settle(&mut self, n: u64) {
        for id in self.ids.get(&n).cloned().unwrap_or_default() {
            self.count(Count::PushUnknownDelivered);
            self.items.entry(id).or_default().may_be = true;
        }
    }

    fn count(&mut self, count: Count) {
        *self.counts.entry(count).or_default() += 1;
    }

    pub(super) fn count_events(&self, verdict: &mut ItemVerdict) {
        self.counts.iter().for_each(|(count, times)| verdict.add(*count, *times));
    }

    /// Returns the time from the first push to the last acknowledgement, in microseconds.
    pub(super) fn took(&self) -> u64 {
        self.last.saturating_sub(self.first)
    }

    /// Returns the reason why a delivery was followed by another delivery of the same item.
    pub(super) fn cause(
        &self,
        before: &HandledDelivery,
        after: &HandledDelivery,
        ttl: Duration,
    ) -> Option<DeliveredAgain> {
        let killed = self.killed.get(&before.life).copied();
        let ttl = u64::try_from(ttl.as_micros()).unwrap_or(u64::MAX);
        if killed.is_some_and(|killed| killed <= after.at) {
            return Some(DeliveredAgain::Kill);
        }
        if self
            .broken
            .iter()
            .any(|(from, to)| *from <= after.at && before.at <= to.saturating_add(ttl))
        {
            return Some(DeliveredAgain::StoreFault);
        }
        (before.is_lost || after.at.saturating_sub(before.at) >= ttl)
            .then_some(DeliveredAgain::LeaseEnd)
    }
}
