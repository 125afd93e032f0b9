//! Free permits go to waiters in time: a lost wakeup costs at most the time that the store
//! promises.

use std::collections::BTreeMap;

use super::{
    Bound, Check, CheckTerms, GrantDelay, Violation,
    tale::{FreedBy, PermitTale, ToldRequest},
};

/// A change of the waiters or holders of a name. Of several changes at one moment, those that make
/// room come first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum LineChange {
    Free(FreedBy, u32),
    Wait(usize),
    Rest(usize),
    Grant(usize),
}

/// The waiters and the held permits of a name, as the sweep goes on.
struct NameLine<'a> {
    requests: &'a [ToldRequest],
    limit: u32,
    held: u32,
    waiting: BTreeMap<usize, u32>,
    /// Since when a waiter would fit, and why.
    since: Option<(u64, FreedBy)>,
}

pub(super) fn check(
    tale: &PermitTale,
    terms: &CheckTerms,
    found: &mut Vec<Violation>,
) -> Vec<GrantDelay> {
    let mut waits = Vec::new();
    for (name, limit) in &tale.names {
        let mut changes = changes(tale, name);
        changes.sort_unstable();
        let requests = &tale.requests;
        let mut line =
            NameLine { requests, limit: *limit, held: 0, waiting: BTreeMap::new(), since: None };
        for (at, change) in changes {
            let Some((since, cause)) = line.take(at, change) else { continue };
            let (outage, covered) = cover(tale, terms, since, at);
            let bound = bound(tale, terms, cause, since, at);
            let wait = GrantDelay { cause, time: at - since, outage, bound, covered };
            if wait.time - wait.covered > terms.time(bound) {
                let story = line.story(name, since, at, &wait);
                found.push(Violation { check: Check::Wakeup, at: since, story });
            }
            if matches!(change, LineChange::Grant(_)) {
                waits.push(wait);
            }
        }
    }
    waits
}

fn changes(tale: &PermitTale, name: &str) -> Vec<(u64, LineChange)> {
    let mut changes = Vec::new();
    for (index, request) in tale.requests.iter().enumerate().filter(|(_, one)| one.name == name) {
        changes.push((request.asked, LineChange::Wait(index)));
        match request.grant.as_ref().filter(|grant| grant.until > grant.at) {
            Some(grant) => {
                changes.push((grant.at, LineChange::Grant(index)));
                changes.push((grant.until, LineChange::Free(grant.cause, request.permits)));
            }
            None => changes.push((request.ends, LineChange::Rest(index))),
        }
        stops(tale, index, request, &mut changes);
    }
    changes
}

/// A stopped worker still waits, but nobody can tell it anything.
fn stops(
    tale: &PermitTale,
    index: usize,
    request: &ToldRequest,
    changes: &mut Vec<(u64, LineChange)>,
) {
    let stops = tale.stops.iter().filter(|(life, ..)| *life == request.life);
    for (_, from, to) in stops.filter(|(_, from, to)| *from < request.ends && *to > request.asked) {
        changes.push(((*from).max(request.asked), LineChange::Rest(index)));
        if *to < request.ends {
            changes.push((*to, LineChange::Wait(index)));
        }
    }
}

impl NameLine<'_> {
    /// Takes a change. If the change ends a time in which a waiter fitted, returns the beginning
    /// and the cause of that time.
    fn take(&mut self, at: u64, change: LineChange) -> Option<(u64, FreedBy)> {
        let before = self.since;
        let cause = match change {
            LineChange::Free(cause, permits) => {
                self.held -= permits.min(self.held);
                cause
            }
            LineChange::Grant(index) => {
                self.held += self.requests[index].permits;
                self.waiting.remove(&index);
                before.map_or(FreedBy::Arrival, |(_, cause)| cause)
            }
            LineChange::Wait(index) => {
                self.waiting.insert(index, self.requests[index].permits);
                FreedBy::Arrival
            }
            LineChange::Rest(index) => {
                self.waiting.remove(&index);
                before.map_or(FreedBy::Arrival, |(_, cause)| cause)
            }
        };
        let goes_on = before.is_some() && !matches!(change, LineChange::Grant(_));
        self.since = match (self.fits(), goes_on) {
            (false, _) => None,
            (true, true) => before,
            (true, false) => Some((at, cause)),
        };
        before.filter(|_| self.since != before)
    }

    /// Returns whether any waiter would fit, whichever is first in line.
    fn fits(&self) -> bool {
        let largest = self.waiting.values().max();
        largest.is_some_and(|permits| self.held + permits <= self.limit)
    }

    fn story(&self, name: &str, since: u64, at: u64, wait: &GrantDelay) -> String {
        let waiting: Vec<_> =
            self.waiting.keys().map(|at| self.requests[*at].req.as_str()).collect();
        format!(
            "{name}: free since {since} ({}) and nobody let in until {at}: {} ms, {} ms of them under a fault; {} \
             of {} held; waiting: {}",
            wait.cause,
            wait.time / 1000,
            wait.covered / 1000,
            self.held,
            self.limit,
            waiting.join(" ")
        )
    }
}

/// Returns for how much of this time the store could grant nothing, and how much does not count
/// against it. Without a lookout, these are the time of faults, and the time that the store is
/// given after each.
fn cover(tale: &PermitTale, terms: &CheckTerms, from: u64, to: u64) -> (u64, u64) {
    let later = |(from, to): (u64, u64)| (from, to.saturating_add(terms.after_fault));
    if let Some(outages) = &tale.outages {
        let moves = tale.windows.iter().filter(|window| window.fault == "move-slot");
        // A move of slots is no outage, but not without effects.
        let moves = moves.map(|window| (window.from, window.to));
        let covered = outages.iter().copied().chain(moves).map(later).collect();
        return (covered_by(outages.clone(), from, to), covered_by(covered, from, to));
    }
    let faults = tale.windows.iter().filter(|window| !is_of_process(&window.fault));
    let faults = faults.map(|window| later((window.from, window.to)));
    let stops = tale.stops.iter().filter(|_| terms.stops_hold_up).map(|(_, from, to)| (*from, *to));
    let covered = covered_by(faults.chain(stops).collect(), from, to);
    (covered, covered)
}

fn covered_by(mut windows: Vec<(u64, u64)>, from: u64, to: u64) -> u64 {
    let (mut sum, mut seen) = (0, from);
    windows.sort_unstable();
    for (begin, end) in windows {
        let (begin, end) = (begin.max(seen), end.min(to));
        if begin < end {
            sum += end - begin;
            seen = end;
        }
    }
    sum
}

/// Returns whether a fault concerns one process. Such a fault keeps no store from answering others.
fn is_of_process(fault: &str) -> bool {
    fault == "kill-worker" || fault == "stop-worker" || fault == "clock-client"
}

fn bound(tale: &PermitTale, terms: &CheckTerms, cause: FreedBy, from: u64, to: u64) -> Bound {
    let was_stopped =
        |stop: &(String, u64, u64)| stop.1 <= to && stop.2.saturating_add(terms.silent) >= from;
    let was_killed = |window: &super::tale::Window| {
        window.fault == "kill-worker"
            && window.from <= to
            && window.to.saturating_add(terms.death) >= from
    };
    if tale.stops.iter().any(was_stopped) {
        Bound::Silent
    } else if matches!(cause, FreedBy::Death | FreedBy::LeaseEnd)
        || tale.windows.iter().any(was_killed)
    {
        Bound::Death
    } else {
        Bound::Prompt
    }
}
