//! The order of undisturbed items. An item is undisturbed if a handler saw it once, as its first
//! attempt, and it was acknowledged.
//!
//! The rank of an item in the queue is the moment of its push less a minute for each step of
//! priority. Workers run side by side, so the order of deliveries is the order of their fences,
//! which the store gives, and not that of the handlers' starts. An item `b` passed `a` if three
//! things are true: `a` stood before `b`, `a` was in the queue when `b` was delivered (its id is
//! below `b`'s fence), and `a` was delivered later.
//!
//! A worker gives a delivery back if it has no use for it any more, for example because its pop was
//! given up in a long silence of the store. Such a delivery does not count as an attempt, but other
//! items pass the item rightly while it is away. So the first delivery of an item decides, even if
//! it was given back.

use super::{
    Count, ItemVerdict,
    tale::{ItemsTale, ToldItem},
};

const MINUTE: i64 = 60_000_000;
/// How far an id can run ahead of the store's clock, in microseconds. An id is the time of that
/// clock, or one more than the last id or fence. A push has 50 items, and as many deliveries can
/// come at the same time.
const AHEAD: i64 = 1_000;

#[derive(Clone, Copy, Debug)]
struct Undisturbed {
    id: u64,
    /// The fence of the first delivery.
    fence: u64,
    priority: i8,
}

impl Undisturbed {
    fn of(id: u64, item: &ToldItem) -> Option<Self> {
        let [delivery] = &item.deliveries[..] else { return None };
        let is_done = item.acknowledged.len() == 1 && delivery.attempt == 1;
        let priority = item.pushed.filter(|_| is_done)?;
        // All deliveries before the first attempt were given back, and the history has each of
        // them.
        let fence =
            item.given_back.first().map_or(delivery.fence, |back| delivery.fence.min(*back));
        Some(Self { id, fence, priority })
    }

    fn rank(&self) -> i64 {
        i64::try_from(self.id).unwrap_or(i64::MAX) - i64::from(self.priority) * MINUTE
    }
}

pub(super) fn check(tale: &ItemsTale, verdict: &mut ItemVerdict) {
    let of = |(id, item): (&u64, &ToldItem)| Undisturbed::of(*id, item);
    let mut all: Vec<Undisturbed> = tale.items.iter().filter_map(of).collect();
    verdict.add(Count::Undisturbed, all.len() as u64);
    of_equals(&all, verdict);
    all.sort_by_key(|item| item.fence);
    of_all(&all, verdict);
}

/// Takes the items of one priority in order of id, and checks that fences only grow. An earlier
/// item was always in the queue when a later one was delivered.
fn of_equals(by_id: &[Undisturbed], verdict: &mut ItemVerdict) {
    let mut latest = std::collections::HashMap::new();
    for item in by_id {
        let last = latest.entry(item.priority).or_insert(*item);
        if item.fence < last.fence {
            verdict.note(Count::OutOfOrder, || format!("{item:?} passed {last:?}"));
        } else {
            *last = *item;
        }
    }
}

/// Goes from the last delivery to the first. For each it looks for an item further in front that
/// was in the queue then and was delivered later.
fn of_all(by_fence: &[Undisturbed], verdict: &mut ItemVerdict) {
    let mut ids: Vec<u64> = by_fence.iter().map(|item| item.id).collect();
    ids.sort_unstable();
    let mut later = Lowest::new(ids.len());
    for item in by_fence.iter().rev() {
        let there = ids.partition_point(|id| *id < item.fence);
        if later.below(there) + AHEAD < item.rank() {
            verdict.note(Count::OutOfRank, || format!("{item:?} passed one further in front"));
        }
        later.put(ids.partition_point(|id| *id < item.id), item.rank());
    }
}

/// A Fenwick tree: it finds the lowest rank among the first places while places are filled.
struct Lowest(Vec<i64>);

impl Lowest {
    fn new(places: usize) -> Self {
        Self(vec![i64::MAX - AHEAD; places + 1])
    }

    fn put(&mut self, place: usize, rank: i64) {
        let mut at = place + 1;
        while at < self.0.len() {
            self.0[at] = self.0[at].min(rank);
            at += at & at.wrapping_neg();
        }
    }

    fn below(&self, places: usize) -> i64 {
        let (mut at, mut lowest) = (places, i64::MAX - AHEAD);
        while at > 0 {
            lowest = lowest.min(self.0[at]);
            at -= at & at.wrapping_neg();
        }
        lowest
    }
}
