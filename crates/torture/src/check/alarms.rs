//! The rule of no false alarm. While no fault is near, no worker is in danger, loses a permit, is
//! refused one, or is granted a permit with too short a lease.

use seinpaal::AcquireError;

use super::{Check, CheckTerms, Violation, tale::PermitTale, worker_of};
use crate::history::{HistoryEvent, TortureWhat};

/// A request that waits for a shorter time than this, in microseconds, may end before the store of
/// a busy machine has answered.
const HURRY: u64 = 1_000_000;

/// Counts each alarm of a worker that no fault has touched against the store. Returns the number of
/// grants after the effects of all faults.
pub(super) fn check(
    events: &[HistoryEvent],
    tale: &PermitTale,
    terms: &CheckTerms,
    found: &mut Vec<Violation>,
) -> u64 {
    for event in events {
        if let Some(story) = alarm(event, tale, terms)
            && is_calm(event, tale, terms)
        {
            let story = format!("{}: {story}", event.who);
            found.push(Violation { check: Check::Alarm, at: event.at, story });
        }
    }
    calm_grants(tale, terms)
}

/// How many grants there were beside which no fault had effects.
fn calm_grants(tale: &PermitTale, terms: &CheckTerms) -> u64 {
    let mut felt: Vec<_> =
        tale.trouble().map(|(from, to)| (from, to.saturating_add(terms.calm_after()))).collect();
    felt.sort_unstable();
    let mut latest = 0;
    for (_, to) in &mut felt {
        latest = latest.max(*to);
        *to = latest;
    }
    let is_calm = |at: u64| {
        let begun = felt.partition_point(|(from, _)| *from <= at);
        felt[..begun].last().is_none_or(|(_, to)| *to < at)
    };
    let grants = tale.requests.iter().filter_map(|request| request.grant.as_ref());
    grants.filter(|grant| is_calm(grant.at)).count() as u64
}

fn alarm(event: &HistoryEvent, tale: &PermitTale, terms: &CheckTerms) -> Option<String> {
    match &event.what {
        TortureWhat::Danger { req } => Some(format!("{req} is in danger")),
        TortureWhat::Lost { req, how } => Some(format!("{req} is lost: {how}")),
        TortureWhat::Refused { req, why } if !may_be_refused(why) && !is_hurried(tale, req) => {
            Some(format!("{req} is refused: {why}"))
        }
        // The worker notes the end of its lease some time after the grant. So this check asks for
        // half a lease, which is less than the promise.
        TortureWhat::Granted { req, until: Some(until), .. } => {
            let left = until.saturating_sub(event.at);
            (left < terms.lease / 2).then(|| format!("{req} is granted for {left} µs"))
        }
        _ => None,
    }
}

/// Returns whether a request may be refused for this reason though nothing fails: there was no
/// room, or not in time.
fn may_be_refused(why: &str) -> bool {
    let reasons = [AcquireError::Busy, AcquireError::TimedOut, AcquireError::TooManyWaiting];
    reasons.iter().any(|reason| reason.to_string() == why)
}

/// Returns whether a request had little time, and no answer of the store. A request that was told
/// that it stands in line had an answer.
fn is_hurried(tale: &PermitTale, req: &str) -> bool {
    let request = tale.requests.iter().find(|request| request.req == req);
    let has_hurry = |timeout: u64| timeout > 0 && timeout < HURRY;
    request.is_some_and(|it| it.queued.is_none() && it.timeout.is_some_and(has_hurry))
}

/// Returns whether no fault that could concern this worker goes on, or has just ended.
fn is_calm(event: &HistoryEvent, tale: &PermitTale, terms: &CheckTerms) -> bool {
    let from = event.at.saturating_sub(terms.calm_after());
    let is_near = |begins: u64, ends: u64| begins <= event.at && ends >= from;
    let worker = worker_of(&event.who);
    let faults = tale.windows.iter().filter(|w| w.worker.is_none() || w.worker == worker);
    let is_felt = |stop: &&(String, u64, u64)| terms.stops_hold_up || stop.0 == event.who;
    let stops = tale.stops.iter().filter(is_felt);
    let mut outages = tale.outages.iter().flatten();
    !faults.into_iter().any(|window| is_near(window.from, window.to))
        && !stops.into_iter().any(|stop| is_near(stop.1, stop.2))
        && !outages.any(|outage| is_near(outage.0, outage.1))
}
