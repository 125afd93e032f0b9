//! Waits and holds that ended. The difference of two readings shows which waits have ended.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use seinpaal::{Snapshot, Ticket};

/// How many ended waits or holds are remembered, and for how long.
const MOST: usize = 256;
const LASTS: Duration = Duration::from_secs(600);
/// How many waiters, from the first in line, can be recognised at the next reading.
const KNOWN: usize = 256;
/// Two readings that are further apart do not show which waiters got in between them, and when.
const NEAR: Duration = Duration::from_secs(5);

/// The moment at which a wait or hold ended, and its length.
pub(super) type Span = (Duration, Duration);

/// The holds, or the waits, that ended in the last ten minutes.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndedSpans(VecDeque<Span>);

impl EndedSpans {
    pub(super) fn push(&mut self, at: Duration, took: Duration) {
        self.0.push_back((at, took));
        while self.0.len() > MOST || self.0.front().is_some_and(|(first, _)| *first + LASTS < at) {
            self.0.pop_front();
        }
    }

    /// Returns how many ended since then, the median of their lengths, and the 95th percentile.
    pub(crate) fn since(&self, then: Duration) -> Option<(usize, Duration, Duration)> {
        let mut took: Vec<_> = self.0.iter().filter(|(at, _)| *at >= then).map(|it| it.1).collect();
        took.sort_unstable();
        let last = took.len().checked_sub(1)?;
        Some((took.len(), took[last / 2], took[last * 19 / 20]))
    }
}

/// The waiters of the last reading, and the moment since which each had waited.
#[derive(Clone, Debug, Default)]
pub(super) struct LastWaiters {
    waiting: HashMap<Ticket, Duration>,
    read_at: Duration,
}

impl LastWaiters {
    /// Takes a reading, and returns the waits that have ended with a grant since the previous
    /// reading.
    pub(super) fn meet(&mut self, seen: &Snapshot, now: Duration) -> Vec<Span> {
        let before = std::mem::replace(self, Self::of(seen, now));
        if now.saturating_sub(before.read_at) > NEAR {
            return Vec::new();
        }
        let waits = seen.holders.iter().filter_map(|holder| {
            let (came, got_in) =
                (before.waiting.get(&holder.ticket)?, now.checked_sub(holder.held_for)?);
            Some((got_in, got_in.saturating_sub(*came)))
        });
        waits.collect()
    }

    fn of(seen: &Snapshot, now: Duration) -> Self {
        let waiting = seen.waiters.iter().take(KNOWN);
        Self {
            waiting: waiting.map(|it| (it.ticket, now.saturating_sub(it.waiting_for))).collect(),
            read_at: now,
        }
    }
}
