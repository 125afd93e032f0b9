//! Numbers that many tasks draw from one seed.

use std::sync::{Mutex, PoisonError};

use seinpaal_draw::Draw;

/// Random numbers for many tasks. The numbers follow from the seed, but which task gets which
/// number differs from run to run.
#[derive(Debug)]
pub(crate) struct Draws(Mutex<Draw>);

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(Draw::new(seed)))
    }

    pub(crate) fn next(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).number()
    }
}
