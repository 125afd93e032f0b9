//! The settings of a session.

use super::schedule::LeaseSchedule;
use crate::time::{self, Micros, SECOND, UNBOUNDED};

/// The settings of a session. All times are in microseconds.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The ttl of permits for which the program states none.
    pub ttl: Micros,
    /// How long places in the queue last without renewal.
    pub waiter_ttl: Micros,
    /// The longest lease that the store can promise to a connected client. Longer ttls are cut to
    /// it, except for permits that are detached.
    pub longest_lease: Micros,
    /// How far the store's clock may jump.
    pub clock_bound: JumpBound,
    /// How long the store may be silent before requests for permits fail. Requests that stand in
    /// line already wait on, until their own timeout. Held permits are renewed however long the
    /// store is silent, until they are lost.
    pub patience: Micros,
}

/// How far the store's clock may jump in one step without a holder losing its lease. The price is
/// paid by the holder, which stops believing in its lease that much earlier
/// (docs/internals/protocol.md, "The bounded clock").
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum JumpBound {
    /// One second, but at most a quarter of the ttl.
    #[default]
    Second,
    /// This time, but at most half of the ttl.
    Fixed(Micros),
    /// Any distance: the store's clock is trusted.
    Off,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            ttl: time::DEFAULT_TTL,
            waiter_ttl: time::WAITER_TTL,
            longest_lease: UNBOUNDED,
            clock_bound: JumpBound::default(),
            patience: 30 * SECOND,
        }
    }
}

impl SessionConfig {
    /// Returns this configuration for a store that promises no lease longer than this.
    #[must_use]
    pub fn within(mut self, longest_lease: Micros) -> Self {
        self.longest_lease = longest_lease;
        self.waiter_ttl = self.waiter_ttl.min(longest_lease);
        self
    }

    /// Returns the margin that requests state to the store: how far its clock may jump before a
    /// lease ends.
    pub(crate) fn stated_margin(&self, ttl: Micros) -> Micros {
        match self.clock_bound {
            JumpBound::Second => time::margin(ttl),
            JumpBound::Fixed(bound) => bound.min(ttl / 2),
            JumpBound::Off => UNBOUNDED,
        }
    }

    /// Returns how long before the store the client ends a lease. This is the bound of the clock's
    /// jumps, and a hundredth of the ttl for clocks that run at different speeds.
    pub(crate) fn margin(&self, ttl: Micros) -> Micros {
        let bound = match self.clock_bound {
            JumpBound::Off => 0,
            _ => self.stated_margin(ttl),
        };
        bound + ttl / 100
    }

    /// Returns the schedule of a lease of `ttl` while the store answers.
    #[must_use]
    pub fn schedule(&self, ttl: Micros) -> LeaseSchedule {
        let ttl = ttl.min(self.longest_lease);
        LeaseSchedule::new(ttl, ttl - self.margin(ttl))
    }
}
