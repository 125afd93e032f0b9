//! How a model checker compares states of the two machines. Instants become distances from now, and
//! whatever can make no difference any more is left out. So a state that is met at noon equals one
//! that is met at midnight.

use core::hash::{Hash, Hasher};

use crate::{id::Fence, time::Micros};

/// How instants of one clock are looked at.
#[derive(Clone, Copy, Debug)]
pub struct Lens {
    /// That clock, now.
    pub now: Micros,
    /// The checker looks at the machines only at whole multiples of this. So whatever is due
    /// between two of these moments is due at the later one.
    pub tick: Micros,
    /// All instants that lie further back than this count as one. Twice the longest ttl is enough.
    pub past: Micros,
    /// All fences that lie further back than this count as one. It must be no less than the clock
    /// may ever step back.
    pub back: Micros,
}

impl Lens {
    /// The same lens on another clock.
    #[must_use]
    pub fn on(self, now: Micros) -> Self {
        Self { now, ..self }
    }

    /// How far an instant lies ahead (or behind, down to [`past`](Self::past)).
    #[must_use]
    pub fn exact(&self, at: Micros) -> i64 {
        distance(self.now, at, self.past)
    }

    /// In how many ticks something is due; 0 if it is due already.
    #[must_use]
    pub fn ticks(&self, due: Micros) -> u64 {
        due.saturating_sub(self.now).div_ceil(self.tick)
    }

    /// How far a fence lies ahead of this clock, or behind.
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
