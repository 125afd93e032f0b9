//! How long ungrouped items waited for their first delivery beside an idle worker.

use std::collections::BTreeMap;

use super::{CheckBounds, Trouble};
use crate::{
    check::{Check, Violation},
    history::{HistoryEvent, TortureWhat},
    queue::{tale::ItemTale, verdict::QueueVerdict},
};

/// A worker could have had an item in all the time in which it was idle and the item was due, also
/// if it got none in the end: another worker, or the rig after all of them, took the item later.
pub(super) fn check(
    tales: &BTreeMap<String, ItemTale>,
    events: &[HistoryEvent],
    trouble: &Trouble,
    bounds: &CheckBounds,
    verdict: &mut QueueVerdict,
    found: &mut Vec<Violation>,
) {
    let idle = idle(events);
    for tale in tales.values().filter(|tale| tale.group.is_none()) {
        let (Some(pushed), Some(first)) = (tale.pushed, tale.deliveries.first()) else { continue };
        let from = tale.due.max(pushed);
        let beside = idle.iter().map(|(begin, end)| ((*begin).max(from), (*end).min(first.at)));
        let beside = beside.filter(|(begin, end)| begin < end);
        let Some((begin, end)) = beside.max_by_key(|(begin, end)| end - begin) else { continue };
        let (wait, is_calm) = (end - begin, trouble.is_calm(from, end));
        verdict.waits.push(wait);
        verdict.prompt += u64::from(is_calm);
        if wait > if is_calm { bounds.prompt } else { bounds.look } {
            let story =
                format!("{} lay due for {} ms beside an idle worker", tale.req, wait / 1000);
            found.push(Violation { check: Check::Wakeup, at: end, story });
        }
    }
    verdict.waits.sort_unstable();
}

/// When workers waited for an item, from each pop to its result. A worker that was stopped or
/// killed meanwhile was idle until then.
fn idle(events: &[HistoryEvent]) -> Vec<(u64, u64)> {
    let mut open: BTreeMap<&str, (u64, &str)> = BTreeMap::new();
    let mut idle = Vec::new();
    for event in events {
        match &event.what {
            TortureWhat::Pop { req } => drop(open.insert(req, (event.at, &event.who))),
            TortureWhat::Delivered { req, .. } | TortureWhat::PopEnded { req, .. } => {
                idle.extend(open.remove(req.as_str()).map(|(from, _)| (from, event.at)));
            }
            TortureWhat::Stopping { life } | TortureWhat::Killing { life } => {
                let of_life = open.values().filter(|(_, who)| who == life);
                idle.extend(of_life.map(|(from, _)| (*from, event.at)));
                open.retain(|_, (_, who)| who != life);
            }
            _ => {}
        }
    }
    idle
}
