//! Buckets of equal length, the newest last.

use std::{collections::VecDeque, time::Duration};

use seinpaal::{Kind, MOST_READERS, QueueSnapshot, Snapshot};

/// How long a reading counts if none follows. A scraper usually comes once a minute.
const LASTS: Duration = Duration::from_secs(65);

/// The readings of one bucket: the lowest and the highest value of each figure.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Bucket {
    pub(crate) held: (u32, u32),
    pub(crate) waiting: (u32, u32),
    /// The limit at the last reading.
    pub(crate) limit: u32,
    /// How long the oldest waiter had waited, or the oldest item had been ready, in milliseconds.
    pub(crate) oldest: u32,
    /// How many waiters were granted in this bucket, and the longest of their waits.
    pub(crate) granted: u16,
    pub(crate) waited: u32,
    /// Whether the bucket repeats an earlier reading, because nothing was read in it.
    pub(crate) is_carried: bool,
}

/// Buckets of equal length. A bucket without a reading is `None`.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    step: Duration,
    most: usize,
    /// The number of the bucket after the last one.
    end: u64,
    buckets: VecDeque<Option<Bucket>>,
}

impl Bucket {
    pub(super) fn of(seen: &Snapshot) -> Self {
        let (held, limit) = match (seen.kind, seen.permits_held) {
            // A writer holds all permits of the lock, and is one holder.
            (Some(Kind::RwLock), MOST_READERS) => (1, 0),
            (Some(Kind::RwLock), readers) => (readers, 0),
            (_, held) => (held, seen.limit),
        };
        let waiting = seen.waiting_total;
        let oldest = seen.oldest_wait().unwrap_or_default();
        Self {
            held: (held, held),
            waiting: (waiting, waiting),
            limit,
            oldest: millis(oldest),
            ..Self::default()
        }
    }

    pub(super) fn of_queue(seen: &QueueSnapshot) -> Self {
        Self {
            held: (seen.in_work, seen.in_work),
            waiting: (seen.ready, seen.ready),
            limit: seen.limit.unwrap_or(0),
            oldest: millis(seen.oldest.unwrap_or_default()),
            ..Self::default()
        }
    }

    fn join(&mut self, other: Self) {
        // A reading replaces the figures that were only repeated. The grants of the bucket were
        // seen, and stay.
        if std::mem::take(&mut self.is_carried) {
            *self = Self { granted: self.granted, waited: self.waited, ..other };
            return;
        }
        self.held = (self.held.0.min(other.held.0), self.held.1.max(other.held.1));
        self.waiting = (self.waiting.0.min(other.waiting.0), self.waiting.1.max(other.waiting.1));
        self.limit = other.limit;
        self.oldest = self.oldest.max(other.oldest);
    }

    /// Returns the bucket for a later time without a new reading.
    fn carried(self) -> Self {
        Self { granted: 0, waited: 0, is_carried: true, ..self }
    }
}

impl Ring {
    pub(super) fn new(step: Duration, most: usize) -> Self {
        Self { step, most, end: 0, buckets: VecDeque::new() }
    }

    /// Returns the length of a bucket, and the largest number of buckets.
    pub(crate) fn shape(&self) -> (Duration, usize) {
        (self.step, self.most)
    }

    /// Returns the number of the bucket that contains a moment.
    pub(crate) fn number(&self, at: Duration) -> u64 {
        u64::try_from(at.as_millis() / self.step.as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns the bucket with this number, if it has a reading.
    pub(crate) fn get(&self, number: u64) -> Option<&Bucket> {
        let first = self.end - self.buckets.len() as u64;
        let at = usize::try_from(number.checked_sub(first)?).ok()?;
        self.buckets.get(at)?.as_ref()
    }

    pub(super) fn note(&mut self, now: Duration, bucket: Bucket) {
        let number = self.number(now);
        self.reach(number);
        match self.buckets.back_mut() {
            Some(Some(last)) => last.join(bucket),
            Some(last) => *last = Some(bucket),
            None => {}
        }
    }

    /// Forgets what was only repeated in this time, because the store did not answer then.
    pub(super) fn leave_gap(&mut self, begin: Duration, end: Duration) {
        let first = self.end - self.buckets.len() as u64;
        let (begin, end) = (self.number(begin), self.number(end));
        for (number, bucket) in (first..).zip(&mut self.buckets) {
            if (begin..=end).contains(&number) && bucket.is_some_and(|bucket| bucket.is_carried) {
                *bucket = None;
            }
        }
    }

    /// Notes a grant at this instant, after a wait of this length.
    pub(super) fn waited(&mut self, at: Duration, waited: Duration) {
        let (number, first) = (self.number(at), self.end - self.buckets.len() as u64);
        let place = number.checked_sub(first).and_then(|place| usize::try_from(place).ok());
        if let Some(Some(bucket)) = place.and_then(|place| self.buckets.get_mut(place)) {
            bucket.granted = bucket.granted.saturating_add(1);
            bucket.waited = bucket.waited.max(millis(waited));
        }
    }

    /// Makes the bucket with this number the last one. The buckets in between repeat the previous
    /// last one, unless that is too long ago.
    fn reach(&mut self, number: u64) {
        if self.buckets.is_empty() || number >= self.end + self.most as u64 {
            self.buckets.clear();
            self.end = number;
        }
        let missing = (number + 1).saturating_sub(self.end);
        let is_near =
            self.step * u32::try_from(missing.saturating_sub(1)).unwrap_or(u32::MAX) <= LASTS;
        let last = self.buckets.back().copied().flatten().filter(|_| is_near);
        for _ in 0..missing {
            self.buckets.push_back(last.map(Bucket::carried));
            self.end += 1;
        }
        while self.buckets.len() > self.most {
            self.buckets.pop_front();
        }
    }
}

fn millis(length: Duration) -> u32 {
    u32::try_from(length.as_millis()).unwrap_or(u32::MAX)
}
