//! Microseconds, the one unit of the ledger and the session.
//!
//! Instants never travel between machines. A message carries a duration, or a reading of the
//! store's own clock that goes back to the store.

use core::time::Duration;

/// A point on some clock, or a length of time, in microseconds. Each use says which clock it means.
pub type Micros = u64;

/// One millisecond.
pub const MILLISECOND: Micros = 1_000;
/// One second.
pub const SECOND: Micros = 1_000_000;
/// The shortest ttl. With a shorter one, ordinary delays of the scheduler would lose leases.
pub const MIN_TTL: Micros = 100 * MILLISECOND;
/// The longest ttl.
pub const MAX_TTL: Micros = 24 * 3600 * SECOND;
/// The ttl of a caller that states none.
pub const DEFAULT_TTL: Micros = 30 * SECOND;
/// How long a waiter keeps its place without being heard from. The client renews at a sixth of
/// this, so that a store that is silent for 20 s costs nobody its place.
pub const WAITER_TTL: Micros = 30 * SECOND;
/// If the last fence of an idle name is at most this far ahead of the store's clock, the name is
/// kept until the clock has passed it.
pub const LONGEST_OWED: Micros = 24 * 3600 * SECOND;
/// The waiting time that one step of priority is worth.
pub const AGING: Micros = 10 * SECOND;

/// Longer than any real time: the bound of a ledger's clock that has no bound. Lua's numbers are
/// exact up to here.
pub const UNBOUNDED: Micros = 1 << 53;

/// Turns a duration into microseconds, saturating.
#[must_use]
pub fn micros(duration: Duration) -> Micros {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Returns by how much the ledger's clock may advance in one operation while a lease of this ttl is
/// held. The client stops believing in the lease at least that long before the store ends it
/// (docs/internals/protocol.md, "The bounded clock").
#[must_use]
pub fn margin(ttl: Micros) -> Micros {
    SECOND.min(ttl / 4)
}
