//! The client's clock. It is monotonic and runs while the machine sleeps. Otherwise a holder on a
//! laptop that was suspended would believe in a lease that has ended.

use std::time::Duration;

use seinpaal_proto::time::{Micros, micros};
use tokio::time::Instant;

#[cfg(target_os = "linux")]
const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Boottime;
// macOS has no clock of that name. Its monotonic clock also counts the time that it sleeps.
#[cfg(not(target_os = "linux"))]
const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Monotonic;

/// Returns microseconds since the machine started.
pub fn now() -> Micros {
    let time = rustix::time::clock_gettime(CLOCK);
    // Neither part is negative on these clocks.
    time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_nsec.unsigned_abs() / 1_000
}

/// The clock that a connection uses.
#[derive(Clone, Copy, Debug)]
pub enum ClientClock {
    /// The clock of this machine.
    Machine,
    /// The clock of a tokio runtime, which a test can pause, counted from this instant.
    Tokio(Instant),
}

impl ClientClock {
    /// Returns microseconds since the machine started, or since this clock was made.
    pub fn now(self) -> Micros {
        match self {
            Self::Machine => now(),
            Self::Tokio(start) => micros(start.elapsed()),
        }
    }

    /// Returns the instant after `duration`.
    pub fn after(self, duration: Duration) -> Micros {
        self.now().saturating_add(micros(duration))
    }
}
