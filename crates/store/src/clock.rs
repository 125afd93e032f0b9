//! The clock of a store that has no server to ask.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use seinpaal_proto::time::{Micros, micros};

use crate::boottime;

/// A reading of a store's clock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reading {
    /// The store's time, in microseconds since 1970.
    pub shows: Micros,
    /// When this client asked, in microseconds of its monotonic clock, which also counts while the
    /// machine sleeps. The instant lies before the reading, so the client never takes the store's
    /// clock for earlier than it is.
    pub asked_at: Micros,
}

impl Reading {
    /// Makes a reading of a clock that stands still until a test moves it.
    pub fn take(shows: Micros) -> Self {
        Self { shows, asked_at: boottime::now() }
    }
}

/// The clock of a store. `Manual` is for tests.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The clock of the machine, which people and daemons may set.
    System,
    /// The number in the atomic, in microseconds.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// Returns microseconds since 1970; 0 if the machine's clock shows an earlier year.
    #[must_use]
    pub fn now(&self) -> Micros {
        match self {
            Self::System => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, micros),
            Self::Manual(now) => now.load(Ordering::SeqCst),
        }
    }
}
