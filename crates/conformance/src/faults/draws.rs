//! Numbers that many tasks draw from one seed.

use std::sync::{Mutex, PoisonError};

use fastrand::Rng;

/// Random numbers for many tasks. The numbers follow from the seed, but which task gets which
/// number differs from run to run.
#[derive(Debug)]
pub(crate) struct Draws(Mutex<Rng>);

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(Rng::with_seed(seed)))
    }

    pub(crate) fn next(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).u64(..)
    }
}
