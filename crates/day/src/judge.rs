//! Judges a history: the rules for all jobs together, and what each job may do.

mod ends;
mod items;
mod limit;
mod order;
mod tale;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt};

use crate::{
    history::{DayEvent, DayWhat, store_of},
    store::StoreSetting,
};
use tale::DayTale;

/// The rule that was broken.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum DayCheck {
    /// A job ended with a status that is not allowed.
    Status,
    /// A job ended with a status that is not CMD's own, and printed nothing.
    Silent,
    /// A job printed something on stdout or stderr that is not allowed, or events that contradict
    /// its end.
    Words,
    /// A job went in before another that had stood in line before it.
    Order,
    /// More permits were held than the limit, or two jobs had one slot.
    Limit,
    /// CMD was inside after its lease had ended.
    Lease,
    /// A job was refused as busy, although no job held the name.
    Refused,
    /// An item was lost, done twice, or delivered out of order.
    Item,
    /// A job did not end.
    Hung,
    /// The program stayed long after its event that CMD is gone.
    Lingers,
    /// An observer, or a program that uses the crate, found something that must not be.
    Wrong,
    /// Something remains after all jobs have ended.
    Remains,
}

/// One breach.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DayViolation {
    /// The rule.
    pub check: DayCheck,
    /// The store. `None` for the machine.
    pub store: Option<StoreSetting>,
    /// A description of the breach that names the job.
    pub story: String,
}

/// The figures of one store.
#[derive(Clone, Debug, Default)]
pub struct DayCounts {
    /// Jobs that asked for permits.
    pub runs: u64,
    /// Jobs whose CMD was inside.
    pub inside: u64,
    /// All other calls of the program.
    pub calls: u64,
    /// How many of the jobs that got in had waited for more than a tenth of a second.
    pub waits: u64,
    /// The longest wait, in microseconds.
    pub longest: u64,
    /// Pairs of jobs whose order the history proves.
    pub pairs: u64,
    /// Items delivered.
    pub items: u64,
    /// The time, in microseconds, in which the machine was too busy to judge its jobs.
    pub slow: u64,
    /// The smallest share of a lease that a program using the crate found on a permit just granted,
    /// in thousandths of its ttl.
    pub least: Option<u64>,
    /// How many jobs ended with each status.
    pub statuses: BTreeMap<i32, u64>,
}

/// The verdict on a day.
#[derive(Clone, Debug, Default)]
pub struct DayVerdict {
    /// The figures of each store.
    pub stores: BTreeMap<StoreSetting, DayCounts>,
    /// The breaches, in order of time where they have one.
    pub violations: Vec<DayViolation>,
}

/// The shortest time, in microseconds, that counts as a wait.
const A_WAIT: u64 = 100_000;

/// Judges a whole history. `remains` lists the things that are left on the machine.
#[must_use]
pub fn judge(events: &[DayEvent], remains: &[String]) -> DayVerdict {
    let mut verdict = DayVerdict::default();
    for store in StoreSetting::ALL {
        let events: Vec<_> =
            events.iter().filter(|event| store_of(&event.who) == Some(*store)).collect();
        if !events.is_empty() {
            judge_store(*store, &events, &mut verdict);
        }
    }
    for story in remains {
        let story = story.clone();
        verdict.violations.push(DayViolation { check: DayCheck::Remains, store: None, story });
    }
    verdict
}

fn judge_store(store: StoreSetting, events: &[&DayEvent], verdict: &mut DayVerdict) {
    let tale = DayTale::of(events);
    let mut found = Vec::new();
    ends::check(store, &tale, &mut found);
    limit::check(&tale, &mut found);
    let pairs = if store.is_ordered() { order::check(&tale, &mut found) } else { 0 };
    let items = items::check(&tale, &mut found);
    let counts = DayCounts { pairs, items, slow: tale.slow_time(), ..count(events, &tale) };
    said_outright(events, &mut found);
    verdict.stores.insert(store, counts);
    let with_store = |(check, story)| DayViolation { check, store: Some(store), story };
    verdict.violations.extend(found.into_iter().map(with_store));
}

fn said_outright(events: &[&DayEvent], found: &mut Vec<(DayCheck, String)>) {
    for event in events {
        match &event.what {
            DayWhat::Wrong { story } => {
                found.push((DayCheck::Wrong, format!("{}: {story}", event.who)));
            }
            DayWhat::Remains { story } => found.push((DayCheck::Remains, story.clone())),
            _ => {}
        }
    }
}

fn count(events: &[&DayEvent], tale: &DayTale<'_>) -> DayCounts {
    let mut counts = DayCounts::default();
    for job in tale.jobs.values() {
        let runs = job.start.want.is_some();
        *if runs { &mut counts.runs } else { &mut counts.calls } += 1;
        if let Some(end) = &job.ended {
            *counts.statuses.entry(end.status).or_default() += u64::from(runs);
        }
        if let Some((at, _)) = job.visits.first() {
            counts.inside += 1;
            let waited = at - job.started;
            counts.waits += u64::from(waited > A_WAIT);
            counts.longest = counts.longest.max(waited);
        }
    }
    counts.least = events
        .iter()
        .filter_map(|event| match event.what {
            DayWhat::Remaining { permille } => Some(permille),
            _ => None,
        })
        .min();
    counts.statuses.retain(|_, times| *times > 0);
    counts
}

impl DayVerdict {
    /// Returns whether no rule was broken and there was work on each store. A day without work
    /// proves nothing.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.violations.is_empty() && !self.stores.is_empty() && self.idle_stores().is_empty()
    }

    /// Returns the stores on which no CMD was ever inside.
    #[must_use]
    pub fn idle_stores(&self) -> Vec<StoreSetting> {
        let is_idle =
            |(store, counts): (&StoreSetting, &DayCounts)| (counts.inside == 0).then_some(*store);
        self.stores.iter().filter_map(is_idle).collect()
    }

    /// Counts the breaches of this rule on this store.
    #[must_use]
    pub fn count(&self, store: StoreSetting, check: DayCheck) -> usize {
        let is_it = |found: &&DayViolation| found.store == Some(store) && found.check == check;
        self.violations.iter().filter(is_it).count()
    }

    /// Returns the breaches to print in full: at most `most` of each rule on each store.
    #[must_use]
    pub fn samples(&self, most: usize) -> Vec<&DayViolation> {
        let mut told: BTreeMap<(Option<StoreSetting>, DayCheck), usize> = BTreeMap::new();
        let is_told = |found: &&DayViolation| {
            let times = told.entry((found.store, found.check)).or_default();
            *times += 1;
            *times <= most
        };
        self.violations.iter().filter(is_told).collect()
    }
}

impl fmt::Display for DayViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = self.store.map_or("machine", StoreSetting::name);
        write!(f, "{:?} on {store}: {}", self.check, self.story)
    }
}
