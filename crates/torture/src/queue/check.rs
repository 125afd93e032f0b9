//! The checker of histories of a queue. It is pure, and doctored histories test it.

mod alarms;
mod fences;
mod waits;

use std::collections::BTreeMap;

use super::tale::{ItemTale, ToldDelivery, tell};
pub use super::verdict::QueueVerdict;
use crate::{
    check::{Check, CheckTerms, Violation},
    history::{HistoryEvent, TortureWhat},
};

/// The longest times that an item may lie beside an idle worker, in microseconds.
#[derive(Clone, Copy, Debug)]
pub struct CheckBounds {
    /// The time if nothing goes wrong.
    pub prompt: u64,
    /// The time at the worst: until an idle worker looks by itself, with the delays that it may
    /// meet then.
    pub look: u64,
    /// How long a fault has effects after its end.
    pub felt: u64,
}

/// How long a fault disturbs the order of items: those of a dead or deaf worker are delivered a ttl
/// later.
const FELT: u64 = 20_000_000;

/// Returns how long a fault has effects after its end, in microseconds. A store needs the same time
/// to recover for its queues as for its permits.
#[must_use]
pub fn felt(terms: &CheckTerms) -> u64 {
    terms.calm_after().max(FELT)
}

/// Judges a history, in order of time.
#[must_use]
pub fn check(
    events: &[HistoryEvent],
    bounds: &CheckBounds,
    not_promised: &[Check],
) -> QueueVerdict {
    let mut verdict = QueueVerdict::default();
    let mut found = Vec::new();
    let tales = tell(events, &mut verdict, &mut found);
    for tale in tales.values() {
        once(tale, &mut found);
        beliefs(tale, &mut found);
    }
    fences::check(&tales, &mut found);
    kept(&tales, events, &mut found);
    crowds(&tales, events, &mut found);
    let trouble = Trouble::of(events, bounds.felt);
    verdict.pairs = order(&tales, &trouble, &mut found);
    waits::check(&tales, events, &trouble, bounds, &mut verdict, &mut found);
    verdict.calm = alarms::check(events, &trouble, &mut found);
    found.sort_by_key(|violation| violation.at);
    (verdict.counted, verdict.violations) =
        found.into_iter().partition(|violation| not_promised.contains(&violation.check));
    verdict
}

/// Checks that an item whose acknowledgement was answered is not delivered again.
fn once(tale: &ItemTale, found: &mut Vec<Violation>) {
    let Some(done) = tale.acknowledged else { return };
    for again in tale.deliveries.iter().filter(|it| it.fence > done) {
        let story = format!(
            "{} was acknowledged with {done}, and delivered with {}",
            tale.req, again.fence
        );
        found.push(Violation { check: Check::Again, at: again.at, story });
    }
}

/// Checks that no two workers believe in one item at the same time.
fn beliefs(tale: &ItemTale, found: &mut Vec<Violation>) {
    let mut sorted = tale.deliveries.clone();
    sorted.sort_by_key(|it| it.at);
    for (nth, next) in sorted.iter().enumerate() {
        let is_beside = |one: &&ToldDelivery| next.at < one.until.min(next.until);
        if let Some(one) = sorted[..nth].iter().find(is_beside).filter(|it| it.fence != next.fence)
        {
            let story = format!("{}: {one:?}, {next:?}", tale.req);
            found.push(Violation { check: Check::ItemTwice, at: next.at, story });
        }
    }
}

/// Checks that an item whose push was answered is not lost: it was acknowledged, may have been
/// acknowledged, or is a dead letter.
fn kept(tales: &BTreeMap<String, ItemTale>, events: &[HistoryEvent], found: &mut Vec<Violation>) {
    let Some(end) = events.iter().find(|event| matches!(event.what, TortureWhat::QueueLeft { .. }))
    else {
        return;
    };
    for tale in tales.values().filter(|tale| tale.pushed.is_some()) {
        if !(tale.may_be_done() || tale.is_kept) {
            let story = format!("{} was pushed, and is gone: {:?}", tale.req, tale.deliveries);
            found.push(Violation { check: Check::ItemLost, at: end.at, story });
        }
    }
}

/// Checks that workers believe in no more deliveries than the limits allow.
fn crowds(tales: &BTreeMap<String, ItemTale>, events: &[HistoryEvent], found: &mut Vec<Violation>) {
    let limits = events.iter().find_map(|event| match event.what {
        TortureWhat::Limits { limit, group_limit } => Some((limit as usize, group_limit as usize)),
        _ => None,
    });
    let Some((limit, group_limit)) = limits else { return };
    let of = |tale: &'_ ItemTale, it: &ToldDelivery| {
        (it.at, it.until, tale.group.clone(), tale.req.clone())
    };
    let mut all: Vec<_> = tales
        .values()
        .flat_map(|tale| tale.deliveries.iter().map(move |it| of(tale, it)))
        .collect();
    all.sort();
    let mut held: Vec<(u64, Option<String>, String)> = Vec::new();
    for (at, until, group, req) in all.into_iter().filter(|(at, until, ..)| at < until) {
        held.retain(|(until, ..)| *until > at);
        held.push((until, group.clone(), req));
        let of_group = held.iter().filter(|it| group.is_some() && it.1 == group).count();
        if held.len() > limit || of_group > group_limit {
            let story = format!("{} in work, {of_group} of {group:?}: {held:?}", held.len());
            found.push(Violation { check: Check::Limit, at, story });
        }
    }
}

/// The times of faults, and how long each fault has effects.
struct Trouble {
    windows: Vec<(u64, u64)>,
    felt: u64,
}

impl Trouble {
    fn of(events: &[HistoryEvent], felt: u64) -> Self {
        let mut windows: Vec<(u64, u64)> = Vec::new();
        let mut open = None;
        for event in events {
            match event.what {
                TortureWhat::FaultBegins { .. } => open = open.or(Some(event.at)),
                TortureWhat::FaultEnds { .. } => {
                    windows.extend(open.take().map(|from| (from, event.at)));
                }
                _ => {}
            }
        }
        windows.extend(open.map(|from| (from, u64::MAX)));
        Self { windows, felt }
    }

    /// Returns whether no fault had effects in this time.
    fn is_calm(&self, from: u64, to: u64) -> bool {
        let is_felt =
            |(begin, end): &(u64, u64)| *begin <= to && end.saturating_add(self.felt) >= from;
        !self.windows.iter().any(is_felt)
    }
}

/// With how many later items an item is compared. More would take time and find little, because an
/// item that comes too early also passes its neighbours.
const COMPARED: usize = 64;

/// Checks the order of ungrouped items that were due at once. If one was in the queue before the
/// other was pushed, it is delivered first.
fn order(tales: &BTreeMap<String, ItemTale>, trouble: &Trouble, found: &mut Vec<Violation>) -> u64 {
    let first = |tale: &ItemTale| tale.deliveries.iter().map(|it| (it.fence, it.at)).min();
    let plain = tales.values().filter(|tale| tale.group.is_none() && tale.due == tale.asked);
    let mut plain: Vec<_> = plain
        .filter_map(|tale| Some((tale.asked, tale.pushed?, first(tale)?, &tale.req)))
        .collect();
    plain.sort_unstable();
    let mut pairs = 0;
    for (nth, (asked, pushed, (fence, at), req)) in plain.iter().enumerate() {
        let later = plain[nth + 1..].iter().take(COMPARED).filter(|later| later.0 > *pushed);
        for (_, _, (other, other_at), other_req) in later {
            if !trouble.is_calm(*asked, (*at).max(*other_at)) {
                continue;
            }
            pairs += 1;
            if other < fence {
                let story = format!("{other_req} was delivered before {req}, which came first");
                found.push(Violation { check: Check::Order, at: *other_at, story });
            }
        }
    }
    pairs
}
