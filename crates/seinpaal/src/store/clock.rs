//! The clock that a store reads.

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
    /// The system's, in microseconds since 1970.
    System,
    /// Whatever the test says, in microseconds.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// The time now; 0 for a system clock before 1970.
    #[must_use]
    pub fn now(&self) -> Micros {
        match self {
            Self::System => {
                micros(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
            }
            Self::Manual(now) => now.load(Ordering::SeqCst),
        }
    }
}
