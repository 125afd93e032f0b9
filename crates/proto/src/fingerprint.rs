//! How a model checker compares states of the ledger and of the session. Instants become distances
//! from now, and facts that can make no difference any more are left out. So a state that the
//! checker meets at noon equals one that it meets at midnight.

use core::hash::{Hash, Hasher};

use crate::{id::Fence, time::Micros};

/// A way to look at the instants of one clock.
#[derive(Clone, Copy, Debug)]
pub struct Lens {
    /// The clock's reading now.
    pub now: Micros,
    /// The checker looks at the machines only at whole multiples of this. So an instant that is due
    /// between two of these moments counts as due at the later one.
    pub tick: Micros,
    /// All instants that lie further back than this count as one. Twice the longest ttl is enough.
    pub past: Micros,
    /// All fences that lie further back than this count as one. It must be at least as long as the
    /// clock may ever step back.
    pub back: Micros,
}

impl Lens {
    /// Returns this lens for another clock, which shows `now`.
    #[must_use]
    pub fn on(self, now: Micros) -> Self {
        Self { now, ..self }
    }

    /// Returns how far an instant lies ahead (or behind, down to [`past`](Self::past)).
    #[must_use]
    pub fn exact(&self, at: Micros) -> i64 {
        distance(self.now, at, self.past)
    }

    /// Returns in how many ticks an instant is due; 0 if it is due already.
    #[must_use]
    pub fn ticks(&self, due: Micros) -> u64 {
        due.saturating_sub(self.now).div_ceil(self.tick)
    }

    /// Returns how far a fence lies ahead of this clock, or behind.
    #[must_use]
    pub fn fence(&self, fence: Fence) -> i64 {
        distance(self.now, fence.0, self.back)
    }

    pub(crate) fn due<H: Hasher>(&self, due: Option<Micros>, hasher: &mut H) {
        due.map(|due| self.ticks(due)).hash(hasher);
    }
}

fn distance(now: Micros, at: Micros, past: Micros) -> i64 {
    let ahead = i128::from(at) - i128::from(now);
    i64::try_from(ahead.max(-i128::from(past))).unwrap_or(i64::MAX)
}
