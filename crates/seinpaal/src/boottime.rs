//! The client's clock: monotonic, and running while the machine sleeps, so that a lease does not
//! outlive a suspended laptop in its holder's belief.

use std::time::Duration;

use seinpaal_proto::time::{Micros, micros};

#[cfg(target_os = "linux")]
const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Monotonic;

/// Microseconds since the machine started.
pub(crate) fn now() -> Micros {
    let time = rustix::time::clock_gettime(CLOCK);
    // Neither part is negative on these clocks.
    time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_nsec.unsigned_abs() / 1_000
}

/// The instant after this long.
pub(crate) fn after(duration: Duration) -> Micros {
    now().saturating_add(micros(duration))
}
