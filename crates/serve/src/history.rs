//! The past of names and queues, since they were first read.
//!
//! The store keeps no past. So this module notes each reading that is made for a page or for
//! `/metrics`, in two rings for each name: the last ten minutes, and the last day. Times without a
//! reading are unknown, and are not drawn as zero.

mod ended;
mod losses;
mod outages;
mod ring;

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use seinpaal::{HoldTimes, QueueSnapshot, Snapshot};

use crate::tally::ServeTally;
pub(crate) use ended::EndedSpans;
use ended::{LastWaiters, Span};
pub(crate) use losses::Losses;
use outages::Outages;
pub(crate) use ring::{Bucket, Ring};

/// How many names, and how many queues, have a past. A name that is only scraped takes 25 kB at
/// most. A name with an open page takes 60 kB at most.
const MOST_NAMES: usize = 1000;
/// The last ten minutes, and the last day: length and number of buckets.
const FINE: (Duration, usize) = (Duration::from_secs(2), 300);
const COARSE: (Duration, usize) = (Duration::from_secs(300), 288);

/// The time of this module's clock when the program begins. It is not 0, so that earlier instants
/// can be expressed, too.
pub(crate) const BEGINNING: Duration = Duration::from_secs(10 * 365 * 86_400);

/// The past of all names and queues that were read.
#[derive(Debug)]
pub(crate) struct NameHistories {
    began: Instant,
    names: Pasts,
    queues: Pasts,
    outages: Mutex<Outages>,
    /// The names whose waits, holds and losses are counted.
    tally: ServeTally,
}

/// Pasts by name.
type Pasts = Mutex<HashMap<String, NamePast>>;

/// The past of one name or one queue. For a queue, items in work count as held, and ready items as
/// waiting.
#[derive(Clone, Debug)]
pub(crate) struct NamePast {
    pub(crate) fine: Ring,
    pub(crate) coarse: Ring,
    line: LastWaiters,
    times: HoldTimes,
    /// Waits that ended with a grant, and holds that ended.
    pub(crate) waits: EndedSpans,
    pub(crate) holds: EndedSpans,
    losses: Losses,
    read_at: Duration,
}

impl NameHistories {
    pub(crate) fn new(tally: ServeTally) -> Self {
        Self {
            began: Instant::now(),
            names: Mutex::default(),
            queues: Mutex::default(),
            outages: Mutex::default(),
            tally,
        }
    }

    /// Notes that a reading has failed, because the store has been silent for so long.
    pub(crate) fn silent(&self, lasted: Duration) {
        self.silent_at(self.now().saturating_sub(lasted));
    }

    fn silent_at(&self, begin: Duration) {
        self.lock_outages().silent(begin);
    }

    /// Returns the sentences about the outages within this time, the newest first.
    pub(crate) fn outages(&self, within: Duration) -> Vec<String> {
        self.lock_outages().words(self.now().saturating_sub(within))
    }

    /// Notes that the store answers, and returns the outages so far.
    fn answered_at(&self, now: Duration) -> Outages {
        let mut outages = self.lock_outages();
        outages.answered(now);
        outages.clone()
    }

    fn lock_outages(&self) -> MutexGuard<'_, Outages> {
        self.outages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a reading of one name with its holders and waiters. Adds to the snapshot the holds
    /// that this module has seen end, so that its reasons and estimates are based on them.
    pub(crate) fn learn(&self, seen: &mut Snapshot) {
        self.learn_at(seen, self.now(), |_| ());
    }

    /// Notes a reading of one name, and returns its past and the time of the clock.
    pub(crate) fn look(&self, seen: &mut Snapshot) -> (NamePast, Duration) {
        let now = self.now();
        (self.learn_at(seen, now, NamePast::clone), now)
    }

    fn learn_at<T>(&self, seen: &mut Snapshot, now: Duration, get: impl Fn(&NamePast) -> T) -> T {
        let outages = self.answered_at(now);
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let past = entry(&mut names, &seen.name, now);
        past.note(Bucket::of(seen), now, &outages);
        past.meet(seen, now, &self.tally);
        get(past)
    }

    /// Returns the names that lost a hold within the last hour, as far as readings show.
    pub(crate) fn losses(&self) -> HashMap<String, String> {
        let (now, names) = (self.now(), self.names.lock().unwrap_or_else(PoisonError::into_inner));
        let words = names.iter().filter_map(|(name, past)| Some((name, past.losses.words(now)?)));
        words.map(|(name, words)| (name.clone(), words)).collect()
    }

    /// Notes a reading of one queue, and returns its past and the time of the clock.
    pub(crate) fn look_into(&self, seen: &QueueSnapshot) -> (NamePast, Duration) {
        self.look_into_at(seen, self.now())
    }

    fn look_into_at(&self, seen: &QueueSnapshot, now: Duration) -> (NamePast, Duration) {
        let outages = self.answered_at(now);
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let past = entry(&mut queues, &seen.name, now);
        past.note(Bucket::of_queue(seen), now, &outages);
        (past.clone(), now)
    }

    /// Notes a reading of many names without their holders and waiters.
    pub(crate) fn scrape<'a>(&self, all: impl Iterator<Item = &'a Snapshot>) {
        let (now, all) = (self.now(), all.map(|seen| (&*seen.name, Bucket::of(seen))));
        note_all(&self.names, all, now, &self.answered_at(now));
    }

    /// Notes a reading of many queues.
    pub(crate) fn scrape_queues<'a>(&self, all: impl Iterator<Item = &'a QueueSnapshot>) {
        let (now, all) = (self.now(), all.map(|seen| (&*seen.name, Bucket::of_queue(seen))));
        note_all(&self.queues, all, now, &self.answered_at(now));
    }
}

impl NameHistories {
    fn now(&self) -> Duration {
        BEGINNING + self.began.elapsed()
    }
}

fn note_all<'a>(
    pasts: &Pasts,
    all: impl Iterator<Item = (&'a str, Bucket)>,
    now: Duration,
    outages: &Outages,
) {
    let mut pasts = pasts.lock().unwrap_or_else(PoisonError::into_inner);
    // More names would only push each other out.
    for (name, bucket) in all.take(MOST_NAMES) {
        entry(&mut pasts, name, now).note(bucket, now, outages);
    }
}

/// Returns the past of a name. If there are too many, a new past replaces the one that was read
/// longest ago.
fn entry<'a>(
    names: &'a mut HashMap<String, NamePast>,
    name: &str,
    now: Duration,
) -> &'a mut NamePast {
    if names.len() >= MOST_NAMES && !names.contains_key(name) {
        let oldest =
            names.iter().min_by_key(|(_, past)| past.read_at).map(|(name, _)| name.clone());
        names.remove(&oldest.unwrap_or_default());
    }
    names.entry(name.to_owned()).or_insert_with(|| NamePast::new(now))
}

impl NamePast {
    /// Says how often a hold was lost within the last hour. It is empty if none was lost.
    pub(crate) fn losses(&self, now: Duration) -> String {
        self.losses.words(now).unwrap_or_default()
    }

    fn new(now: Duration) -> Self {
        Self {
            fine: Ring::new(FINE.0, FINE.1),
            coarse: Ring::new(COARSE.0, COARSE.1),
            line: LastWaiters::default(),
            times: HoldTimes::default(),
            waits: EndedSpans::default(),
            holds: EndedSpans::default(),
            losses: Losses::default(),
            read_at: now,
        }
    }

    fn note(&mut self, bucket: Bucket, now: Duration, outages: &Outages) {
        let before = std::mem::replace(&mut self.read_at, now);
        for ring in [&mut self.fine, &mut self.coarse] {
            ring.note(now, bucket);
            for (begin, end) in outages.after(before) {
                ring.leave_gap(begin, end);
            }
        }
    }

    /// Compares the reading with the one before. A waiter that holds now has waited, and a holder
    /// that does not hold any more has held.
    fn meet(&mut self, seen: &mut Snapshot, now: Duration, tally: &ServeTally) {
        let waits: Vec<Span> = self.line.meet(seen, now);
        let holds = self.times.look(seen, now);
        tally.count(&seen.name, waits.iter().map(|(_, waited)| *waited), &holds);
        for (at, waited) in waits {
            self.waits.push(at, waited);
            self.fine.waited(at, waited);
            self.coarse.waited(at, waited);
        }
        for hold in holds {
            self.holds.push(now, hold.held_for);
            if hold.is_lost {
                self.losses.push(now);
            }
        }
    }
}

#[cfg(test)]
mod tests;
