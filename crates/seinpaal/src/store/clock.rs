//! The clock of a store that has no server to ask.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use seinpaal_proto::time::{Micros, micros};

/// Where a store reads its clock. `Manual` is for tests.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's, which people and daemons may set.
    System,
    /// Whatever number is in here, in microseconds.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// Microseconds since 1970; 0 if the machine believes in an earlier year.
    #[must_use]
    pub fn now(&self) -> Micros {
        match self {
            Self::System => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, micros),
            Self::Manual(now) => now.load(Ordering::SeqCst),
        }
    }
}
