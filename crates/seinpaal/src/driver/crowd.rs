//! Callers that were answered by the same call. They are likely to ask again at the same time, and
//! then their requests should share a call (docs/decisions/0089-a-crowd-is-waited-for.md).

use seinpaal_proto::time::{MILLISECOND, Micros};

/// The wait for the next of a crowd is this part of a round trip, and at most [`MOST`]. A call that is
/// saved spares a whole one.
const PART: Micros = 8;
/// A wait of fewer microseconds is no use: a thread that has to be woken needs that long to ask. Over
/// the loopback, where it would be shorter, the server works on one half of a crowd while the other
/// asks.
const LEAST: Micros = 20;
/// For no longer than this is a crowd waited for, in microseconds. What is due waits, too.
const MOST: Micros = MILLISECOND;
/// So often it is looked for the next request, at most. In a test the clock may stand still.
const MOST_LOOKS: u32 = 2_000;

/// How many callers are expected, and how many of them have asked.
#[derive(Default)]
pub(super) struct Crowd {
    /// Callers that were told something since the last call whose answer was taken.
    told: usize,
    /// Callers of calls that answered several.
    expected: usize,
    /// Callers at names of their own. Their requests cannot share a call.
    apart: usize,
    there: usize,
    /// After so long without anything new the rest is not waited for.
    gap: Micros,
    /// When the first was answered, or the first has asked, and when that last happened.
    began_at: Micros,
    moved_at: Micros,
    looks: u32,
}

impl Crowd {
    /// So many callers have their answer now.
    pub(super) fn told(&mut self, callers: usize) {
        self.told += callers;
    }

    /// The answer to a call was taken.
    pub(super) fn answered(&mut self, now: Micros, round_trip: impl FnOnce() -> Option<Micros>) {
        match std::mem::take(&mut self.told) {
            alone @ ..2 => self.apart += alone,
            crowd => {
                if self.expected == 0 {
                    self.began_at = now;
                    self.gap = gap_of(round_trip().unwrap_or(0));
                }
                self.expected += crowd;
                self.moved(now);
            }
        }
    }

    /// Whether several callers are expected. What one of them asks should not be sent alone.
    pub(super) fn is_expected(&self) -> bool {
        self.expected + self.apart > 1
    }

    /// Whether to wait for more requests than the ones that are there.
    pub(super) fn is_coming(&mut self, there: usize, now: Micros) -> bool {
        if there >= self.expected || self.gap == 0 {
            return false;
        }
        if there > self.there {
            if self.there == 0 {
                self.began_at = now;
            }
            self.there = there;
            self.moved(now);
        }
        self.looks += 1;
        let has_moved = now.saturating_sub(self.moved_at) < self.gap && self.looks < MOST_LOOKS;
        has_moved && now.saturating_sub(self.began_at) < MOST
    }

    /// The requests that are there are taken. Whoever comes later is not waited for.
    pub(super) fn taken(&mut self) {
        *self = Self::default();
    }

    fn moved(&mut self, now: Micros) {
        (self.moved_at, self.looks) = (now, 0);
    }
}

fn gap_of(round_trip: Micros) -> Micros {
    match round_trip / PART {
        ..LEAST => 0,
        gap => gap.min(MOST),
    }
}

#[cfg(test)]
mod tests;
