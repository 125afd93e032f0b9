//! The rule of no false alarm. While no fault is near, no worker is in danger, loses a permit, is
//! refused one, or is granted a permit with too short a lease.

use super::{Check, CheckTerms, Violation, tale::PermitTale, worker_of};
use crate::history::{HistoryEvent, TortureWhat};

/// Counts each alarm of a worker that no fault has touched against the store.
pub(super) fn check(
    events: &[HistoryEvent],
    tale: &PermitTale,
    terms: &CheckTerms,
    found: &mut Vec<Violation>,
) {
    for event in events {
        if let Some(story) = alarm(event, terms)
            && is_calm(event, tale, terms)
        {
            let story = format!("{}: {story}", event.who);
            found.push(Violation { check: Check::Alarm, at: event.at, story });
        }
    }
}

fn alarm(event: &HistoryEvent, terms: &CheckTerms) -> Option<String> {
    match &event.what {
        TortureWhat::Danger { req } => Some(format!("{req} is in danger")),
        TortureWhat::Lost { req, how } => Some(format!("{req} is lost: {how}")),
        // The worker notes the end of its lease some time after the grant. So this check asks for
        // half a lease, which is less than the promise.
        TortureWhat::Granted { req, until: Some(until), .. } => {
            let left = until.saturating_sub(event.at);
            (left < terms.lease / 2).then(|| format!("{req} is granted for {left} µs"))
        }
        _ => None,
    }
}

/// Returns whether no fault that could concern this worker goes on, or has just ended.
fn is_calm(event: &HistoryEvent, tale: &PermitTale, terms: &CheckTerms) -> bool {
    let from = event.at.saturating_sub(terms.calm_after());
    let is_near = |begins: u64, ends: u64| begins <= event.at && ends >= from;
    let worker = worker_of(&event.who);
    let faults = tale.windows.iter().filter(|w| w.worker.is_none() || w.worker == worker);
    let stops = tale.stops.iter().filter(|stop| stop.0 == event.who);
    let mut outages = tale.outages.iter().flatten();
    !faults.into_iter().any(|window| is_near(window.from, window.to))
        && !stops.into_iter().any(|stop| is_near(stop.1, stop.2))
        && !outages.any(|outage| is_near(outage.0, outage.1))
}
