//! Judges a history: what must never be, and what each job may do.

mod ends;
mod items;
mod limit;
mod order;
mod tale;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt};

use crate::{
    history::{Event, What, store_of},
    store::Store,
};
use tale::Tale;

/// What was broken.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Check {
    /// A status that this job may not end with.
    Status,
    /// An end that is not CMD's own, without a word.
    Silent,
    /// Something else on stdout or stderr than may stand there, or events that tell another story.
    Words,
    /// Somebody went in before another who stood in line before it.
    Order,
    /// More inside than there may be, or two in a slot.
    Limit,
    /// CMD was inside when its lease had ended.
    Lease,
    /// Refused as busy, though nobody was there.
    Refused,
    /// An item lost, done twice, or delivered out of order.
    Item,
    /// A job that does not end.
    Hung,
    /// The program stays long after it has said that CMD is gone.
    Lingers,
    /// Somebody who looked, or a crate program, found something that must not be.
    Wrong,
    /// Something is left when all have gone.
    Remains,
}

/// One breach.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Violation {
    /// Of what.
    pub check: Check,
    /// On which store; `None` for the machine.
    pub store: Option<Store>,
    /// Who did what.
    pub story: String,
}

/// How it went on one store.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Jobs that asked for permits.
    pub runs: u64,
    /// All other calls.
    pub calls: u64,
    /// How many of those that got in had to wait for more than a tenth of a second.
    pub waits: u64,
    /// The longest wait, in microseconds.
    pub longest: u64,
    /// Pairs whose order is proven.
    pub pairs: u64,
    /// Items delivered.
    pub items: u64,
    /// For how long the machine was too busy to judge what that costs, in microseconds.
    pub slow: u64,
    /// The least that was left of a lease just granted to a crate program, in thousandths of its ttl.
    pub least: Option<u64>,
    /// How many times each status was seen.
    pub statuses: BTreeMap<i32, u64>,
}

/// What a day comes to.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// A line a store.
    pub stores: BTreeMap<Store, Counts>,
    /// What was broken, in order of time as far as it has one.
    pub violations: Vec<Violation>,
}

/// How long a wait is that counts as one.
const A_WAIT: u64 = 100_000;

/// Judges a whole history; `remains` is what is left of the machine's.
#[must_use]
pub fn judge(events: &[Event], remains: &[String]) -> Verdict {
    let mut verdict = Verdict::default();
    for store in Store::ALL {
        let events: Vec<_> =
            events.iter().filter(|event| store_of(&event.who) == Some(*store)).collect();
        if !events.is_empty() {
            judge_store(*store, &events, &mut verdict);
        }
    }
    for story in remains {
        let story = story.clone();
        verdict.violations.push(Violation { check: Check::Remains, store: None, story });
    }
    verdict
}

fn judge_store(store: Store, events: &[&Event], verdict: &mut Verdict) {
    let tale = Tale::of(events);
    let mut found = Vec::new();
    ends::check(store, &tale, &mut found);
    limit::check(&tale, &mut found);
    let pairs = if store.is_ordered() { order::check(&tale, &mut found) } else { 0 };
    let items = items::check(&tale, &mut found);
    let counts = Counts { pairs, items, slow: tale.slow_time(), ..count(events, &tale) };
    said_outright(events, &mut found);
    verdict.stores.insert(store, counts);
    let with_store = |(check, story)| Violation { check, store: Some(store), story };
    verdict.violations.extend(found.into_iter().map(with_store));
}

fn said_outright(events: &[&Event], found: &mut Vec<(Check, String)>) {
    for event in events {
        match &event.what {
            What::Wrong { story } => found.push((Check::Wrong, format!("{}: {story}", event.who))),
            What::Remains { story } => found.push((Check::Remains, story.clone())),
            _ => {}
        }
    }
}

fn count(events: &[&Event], tale: &Tale<'_>) -> Counts {
    let mut counts = Counts::default();
    for job in tale.jobs.values() {
        let runs = job.start.ask.is_some();
        *if runs { &mut counts.runs } else { &mut counts.calls } += 1;
        if let Some(end) = &job.ended {
            *counts.statuses.entry(end.status).or_default() += u64::from(runs);
        }
        if let Some((at, _)) = job.visits.first() {
            let waited = at - job.started;
            counts.waits += u64::from(waited > A_WAIT);
            counts.longest = counts.longest.max(waited);
        }
    }
    counts.least = events
        .iter()
        .filter_map(|event| match event.what {
            What::Remaining { permille } => Some(permille),
            _ => None,
        })
        .min();
    counts.statuses.retain(|_, times| *times > 0);
    counts
}

impl Verdict {
    /// How often this was broken on this store.
    #[must_use]
    pub fn count(&self, store: Store, check: Check) -> usize {
        let is_it = |found: &&Violation| found.store == Some(store) && found.check == check;
        self.violations.iter().filter(is_it).count()
    }

    /// So many of each kind on each store.
    #[must_use]
    pub fn samples(&self, most: usize) -> Vec<&Violation> {
        let mut told: BTreeMap<(Option<Store>, Check), usize> = BTreeMap::new();
        let is_told = |found: &&Violation| {
            let times = told.entry((found.store, found.check)).or_default();
            *times += 1;
            *times <= most
        };
        self.violations.iter().filter(is_told).collect()
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = self.store.map_or("machine", Store::name);
        write!(f, "{:?} on {store}: {}", self.check, self.story)
    }
}
