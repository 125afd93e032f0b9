//! The checker turns a history into a verdict. It is pure, and doctored histories test it.

mod alarms;
mod fences;
mod idle;
mod order;
mod overlap;
mod tale;
mod terms;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt};

use self::tale::PermitTale;
pub(crate) use self::tale::worker_of;
pub use self::{
    tale::FreedBy,
    terms::{Bound, CheckTerms},
};
use crate::history::{HistoryEvent, TortureWhat};

/// A rule that is checked.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Check {
    /// Workers believe in at most `limit` permits at any moment.
    Limit,
    /// At most one worker believes in a slot at any moment.
    Slot,
    /// Fences grow.
    Fence,
    /// Fences grow even if the store's clock is behind them, because the clock was ahead earlier or
    /// is behind now.
    FenceBehind,
    /// A ticket is granted at most once.
    Ticket,
    /// A waiter that stood in line before another request was made is granted before that request.
    Order,
    /// A free permit is granted to a waiter in time.
    Wakeup,
    /// An item whose push was answered is in the queue until it is acknowledged or dead.
    ItemLost,
    /// No item is pushed twice, and no acknowledged item is delivered again.
    Again,
    /// At most one worker believes in an item at a time.
    ItemTwice,
    /// An item is delivered with the payload and the group with which it was pushed.
    ItemChanged,
    /// While nothing fails, no worker is in danger, loses a permit, is turned away, or is granted a
    /// permit with too short a lease.
    Alarm,
    /// Nothing remains at the store when all workers have gone.
    Left,
    /// Nothing hangs: each step of a run ends in time.
    Hang,
}

/// A breach of a rule.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Violation {
    /// The rule.
    pub check: Check,
    /// The moment of the breach, in microseconds.
    pub at: u64,
    /// A description of the breach that names the worker.
    pub story: String,
}

/// The time between the moment at which permits became free and their grant, in microseconds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct GrantDelay {
    /// How the permit became free.
    pub cause: FreedBy,
    /// The whole time.
    pub time: u64,
    /// The part of the time in which the store could grant nothing, because of a fault or because
    /// its servers were recovering from one.
    pub outage: u64,
    /// The kind of delay that the grant may have met.
    pub bound: Bound,
    /// The part of the time that does not count against the store: the outage, and the time that
    /// the store is given afterwards.
    pub covered: u64,
}

/// The verdict on a history.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// The number of grants.
    pub acquisitions: u64,
    /// The number of permits beside which no fault had effects. At least beside these, false alarms
    /// were looked for.
    pub calm: u64,
    /// The number of permits that their holders lost.
    pub lost: u64,
    /// The number of workers killed, and of the permits and places in line that they had.
    pub killed: [u64; 3],
    /// The number of workers stopped, and of the permits and places in line that they had.
    pub stopped: [u64; 3],
    /// The number of requests that ended without a permit, by the reason.
    pub refused: BTreeMap<String, u64>,
    /// The number of faults, by name.
    pub faults: BTreeMap<String, u64>,
    /// The number of pairs of requests whose order the history proves, and of the pairs that a
    /// fault excuses.
    pub pairs: [u64; 2],
    /// The times from free to granted.
    pub waits: Vec<GrantDelay>,
    /// Broken promises.
    pub violations: Vec<Violation>,
    /// Breaches of rules that the store does not promise.
    pub counted: Vec<Violation>,
}

/// Judges a history, in order of time.
#[must_use]
pub fn check(events: &[HistoryEvent], terms: &CheckTerms) -> Verdict {
    let tale = PermitTale::tell(events);
    let mut verdict = census(&tale, events);
    let mut found = Vec::new();
    overlap::check(&tale, &mut found);
    fences::check(&tale, &mut found);
    if terms.ordered {
        verdict.pairs = order::check(&tale, terms, &mut found);
    }
    verdict.waits = idle::check(&tale, terms, &mut found);
    verdict.calm = alarms::check(events, &tale, terms, &mut found);
    ends(events, &mut found);
    found.sort_by_key(|violation| violation.at);
    let (counted, violations) =
        found.into_iter().partition(|violation| terms.not_promised.contains(&violation.check));
    Verdict { violations, counted, ..verdict }
}

fn census(tale: &PermitTale, events: &[HistoryEvent]) -> Verdict {
    let mut verdict = Verdict::default();
    let grants = || tale.requests.iter().filter_map(|request| request.grant.as_ref());
    verdict.acquisitions = grants().count() as u64;
    for event in events {
        match &event.what {
            TortureWhat::FaultBegins { fault, .. } => {
                *verdict.faults.entry(fault.clone()).or_default() += 1;
            }
            TortureWhat::Refused { why, .. } => {
                let why = why.split_once(':').map_or(why.as_str(), |(first, _)| first);
                *verdict.refused.entry(why.to_owned()).or_default() += 1;
            }
            TortureWhat::Lost { .. } => verdict.lost += 1,
            TortureWhat::Killing { life } => add(&mut verdict.killed, tale.stake(life, event.at)),
            TortureWhat::Stopping { life } => add(&mut verdict.stopped, tale.stake(life, event.at)),
            _ => {}
        }
    }
    verdict
}

fn add(sum: &mut [u64; 3], [holds, waits]: [u64; 2]) {
    for (sum, more) in sum.iter_mut().zip([1, holds, waits]) {
        *sum += more;
    }
}

fn ends(events: &[HistoryEvent], found: &mut Vec<Violation>) {
    for event in events {
        let (check, story) = match &event.what {
            TortureWhat::Left { name, permits, waiting } if permits + waiting > 0 => {
                (Check::Left, format!("{name}: {permits} permits held, {waiting} requests wait"))
            }
            TortureWhat::Kept { what_is_kept } => (Check::Left, format!("{what_is_kept} is kept")),
            TortureWhat::Hangs { what_hangs } => (Check::Hang, what_hangs.clone()),
            _ => continue,
        };
        found.push(Violation { check, at: event.at, story });
    }
}

impl Verdict {
    /// Returns whether no promise was broken and something was granted. A run in which nothing was
    /// granted proves nothing.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.violations.is_empty() && self.acquisitions > 0
    }

    /// Returns the wanted times from free to granted, shortest first.
    #[must_use]
    pub fn waits_of(&self, wanted: impl Fn(&GrantDelay) -> bool) -> Vec<u64> {
        self.sorted(wanted, |wait| wait.time)
    }

    /// Returns the same times as [`waits_of`](Self::waits_of), less the time in which the store
    /// could grant nothing.
    #[must_use]
    pub fn delays_of(&self, wanted: impl Fn(&GrantDelay) -> bool) -> Vec<u64> {
        self.sorted(wanted, |wait| wait.time - wait.outage)
    }

    fn sorted(
        &self,
        wanted: impl Fn(&GrantDelay) -> bool,
        time: impl Fn(&GrantDelay) -> u64,
    ) -> Vec<u64> {
        let mut times: Vec<u64> = self.waits.iter().filter(|wait| wanted(wait)).map(time).collect();
        times.sort_unstable();
        times
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {}: {}", self.check, self.at, self.story)
    }
}
