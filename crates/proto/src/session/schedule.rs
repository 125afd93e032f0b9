//! The schedule of a lease: when it is renewed, when the renewal is repeated, when the holder has
//! to stop, and when the lease is lost. All layers go by this schedule.
//!
//! ```text
//!   sent                 renew   repeat  repeat  danger    TERM           KILL lost
//!    ├─────────────────────┼───────┼───────┼───────┼─────────┼──────────────┼───┤
//!    0                                                                      certain
//! ```
//!
//! All times count from the moment before the session sent the request that proved the lease.
//! `certain` is how long the lease then lasts at least: the time that the store promised, less the
//! margin. The proof that nobody is alarmed while the store answers is in
//! docs/internals/protocol.md, "One schedule".

use crate::time::{MILLISECOND, Micros};

/// At least so many renewals fit before danger: the first one, and two repetitions.
const TRIES: Micros = 3;
/// A renewal is sent up to this part of its time early, so that clients do not keep step.
const JITTER: Micros = 10;
/// A permit is handed over on a proof that misses at most this part of the ttl.
const FULL: Micros = 16;
/// KILL comes this part of the ttl before the loss, or [`MOST_SLACK`] before it if that is less.
const SLACK: Micros = 50;
const MOST_SLACK: Micros = 50 * MILLISECOND;

/// The schedule of a lease, as it is kept if the store is not heard from again. All times are
/// microseconds from the moment before the session sent the request that proved the lease.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaseSchedule {
    ttl: Micros,
    certain: Micros,
}

impl LeaseSchedule {
    /// Makes the schedule of a lease of `ttl` that is certain to last for `certain`.
    #[must_use]
    pub const fn new(ttl: Micros, certain: Micros) -> Self {
        Self { ttl, certain }
    }

    /// Returns the ttl.
    #[must_use]
    pub fn ttl(&self) -> Micros {
        self.ttl
    }

    /// Returns when the lease is renewed, at the latest: after an eighth of the ttl, or after nine
    /// twentieths of the certain time if that is earlier.
    #[must_use]
    pub fn renew(&self) -> Micros {
        (self.ttl / 8).min(self.certain / 20 * 9)
    }

    /// Returns when the lease is renewed by a client that drew this number from 0 to 1023.
    pub(crate) fn renew_drawn(&self, draw: u64) -> Micros {
        let latest = self.renew();
        latest - latest / JITTER * draw / 1024
    }

    /// Returns how long a renewal may stay without an answer before it is repeated: a twentieth of
    /// the ttl, or less if danger comes soon.
    #[must_use]
    pub fn repeat(&self) -> Micros {
        (self.ttl / 20).min((self.danger() - self.renew()) / TRIES)
    }

    /// Returns how long the store may be silent without danger to a holder, whenever the silence
    /// begins: from just before a renewal until a repetition that is answered before danger.
    #[must_use]
    pub fn outage(&self) -> Micros {
        (self.danger() - self.renew()).saturating_sub(self.repeat())
    }

    /// Returns when the holder is warned, so that it can stop in an orderly way.
    #[must_use]
    pub fn danger(&self) -> Micros {
        self.certain - self.warning()
    }

    /// Returns when the client takes the lease for lost. The store ends it a margin later.
    #[must_use]
    pub fn lost(&self) -> Micros {
        self.certain
    }

    /// Returns the time from danger to loss: a quarter of the ttl, or seven twentieths of the
    /// certain time if that is less.
    #[must_use]
    pub fn warning(&self) -> Micros {
        (self.ttl / 4).min(self.certain / 20 * 7)
    }

    /// Returns how long before the loss a holder is killed that has not stopped.
    #[must_use]
    pub fn slack(&self) -> Micros {
        (self.ttl / SLACK).min(MOST_SLACK)
    }

    /// Returns the most time that a guard leaves a holder between TERM and KILL: two thirds of the
    /// warning. The first third belongs to the client itself.
    #[must_use]
    pub fn most_grace(&self) -> Micros {
        self.warning() / 3 * 2
    }

    /// Returns whether a lease of `ttl` that lasts `valid_for` was renewed just now. A permit is
    /// handed over on no other proof.
    pub(crate) fn is_full(ttl: Micros, valid_for: Micros) -> bool {
        valid_for >= ttl - ttl / FULL
    }

    /// Returns whether a proof of this age is too old to hand over another permit under the lease.
    pub(crate) fn is_stale(ttl: Micros, age: Micros) -> bool {
        age > ttl / FULL / 2
    }
}
