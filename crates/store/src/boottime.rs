//! The client's clock: monotonic, and running while the machine sleeps, so that a lease does not
//! outlive a suspended laptop in its holder's belief.

use std::time::Duration;

use seinpaal_proto::time::{Micros, micros};
use tokio::time::Instant;

#[cfg(target_os = "linux")]
const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Monotonic;

/// Microseconds since the machine started.
pub fn now() -> Micros {
    let time = rustix::time::clock_gettime(CLOCK);
    // Neither part is negative on these clocks.
    time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_nsec.unsigned_abs() / 1_000
}

/// The clock that a connection goes by.
#[derive(Clone, Copy, Debug)]
pub enum ClientClock {
    /// This machine's.
    Machine,
    /// That of a tokio runtime, which a test can pause, since this instant of it.
    Tokio(Instant),
}

impl ClientClock {
    /// Microseconds since the machine started, or since this clock was made.
    pub fn now(self) -> Micros {
        match self {
            Self::Machine => now(),
            Self::Tokio(start) => micros(start.elapsed()),
        }
    }

    /// The instant after this long.
    pub fn after(self, duration: Duration) -> Micros {
        self.now().saturating_add(micros(duration))
    }
}
