//! The checker of histories of a queue. It is pure, and doctored histories test it.

use std::collections::BTreeMap;

use super::tale::{ItemTale, ToldDelivery, tell};
pub use super::verdict::QueueVerdict;
use crate::{
    check::{Check, Violation},
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
    kept(&tales, events, &mut found);
    crowds(&tales, events, &mut found);
    let trouble = trouble(events);
    verdict.pairs = order(&tales, &trouble, &mut found);
    verdict.waits = waits(&tales, events, &trouble, bounds, &mut found);
    verdict.waits.sort_unstable();
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

/// Checks that no two workers believe in one item at the same time, and that the fences of its
/// deliveries grow.
fn beliefs(tale: &ItemTale, found: &mut Vec<Violation>) {
    let mut sorted = tale.deliveries.clone();
    sorted.sort_by_key(|it| it.fence);
    for pair in sorted.windows(2) {
        let [one, next] = pair else { continue };
        let story = || format!("{}: {one:?}, {next:?}", tale.req);
        if one.fence == next.fence {
            found.push(Violation { check: Check::Fence, at: next.at, story: story() });
        } else if one.at.max(next.at) < one.until.min(next.until) {
            found.push(Violation { check: Check::ItemTwice, at: next.at, story: story() });
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
        if !(tale.may_be_done || tale.is_dead) {
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

/// Returns the times in which faults were under way.
fn trouble(events: &[HistoryEvent]) -> Vec<(u64, u64)> {
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
    windows
}

/// How long a fault disturbs the order of items. The items of a dead or unreachable worker are
/// delivered a ttl later.
const FELT: u64 = 20_000_000;
/// With how many later items an item is compared. More would take time and find little, because an
/// item that comes too early also passes its neighbours.
const COMPARED: usize = 64;

fn is_calm(trouble: &[(u64, u64)], from: u64, to: u64) -> bool {
    !trouble.iter().any(|(begin, end)| *begin <= to && end.saturating_add(FELT) >= from)
}

/// Checks the order of ungrouped items that were due at once. If one was in the queue before the
/// other was pushed, it is delivered first.
fn order(
    tales: &BTreeMap<String, ItemTale>,
    trouble: &[(u64, u64)],
    found: &mut Vec<Violation>,
) -> u64 {
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
            if !is_calm(trouble, *asked, (*at).max(*other_at)) {
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

/// Measures how long ungrouped items waited for their first delivery beside an idle worker.
fn waits(
    tales: &BTreeMap<String, ItemTale>,
    events: &[HistoryEvent],
    trouble: &[(u64, u64)],
    bounds: &CheckBounds,
    found: &mut Vec<Violation>,
) -> Vec<u64> {
    let idle = idle(events);
    let mut waits = Vec::new();
    for tale in tales.values().filter(|tale| tale.group.is_none()) {
        let (Some(pushed), Some(first)) = (tale.pushed, tale.deliveries.first()) else { continue };
        let from = tale.due.max(pushed);
        // A worker that was idle all the time could have had the item.
        let since = idle.iter().filter(|(begin, end, _)| *begin < first.at && *end >= first.at);
        let Some(since) = since.map(|(begin, ..)| (*begin).max(from)).min() else { continue };
        let wait = first.at.saturating_sub(since);
        let bound = if is_calm(trouble, from, first.at) { bounds.prompt } else { bounds.look };
        waits.push(wait);
        if wait > bound {
            let story =
                format!("{} lay due for {} ms beside an idle worker", tale.req, wait / 1000);
            found.push(Violation { check: Check::Wakeup, at: first.at, story });
        }
    }
    waits
}

/// Returns the times in which workers waited for an item, from each pop to its result. A worker
/// that was stopped or killed meanwhile does not count as idle.
fn idle(events: &[HistoryEvent]) -> Vec<(u64, u64, String)> {
    let mut open: BTreeMap<String, (u64, String)> = BTreeMap::new();
    let mut idle = Vec::new();
    for event in events {
        match &event.what {
            TortureWhat::Pop { req } => {
                drop(open.insert(req.clone(), (event.at, event.who.clone())));
            }
            TortureWhat::Delivered { req, .. } | TortureWhat::PopEnded { req, .. } => {
                if let Some((from, who)) = open.remove(req) {
                    idle.push((from, event.at, who));
                }
            }
            TortureWhat::Stopping { life } | TortureWhat::Killing { life } => {
                open.retain(|_, (_, who)| who != life);
            }
            _ => {}
        }
    }
    idle
}
