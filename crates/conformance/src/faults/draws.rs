//! Numbers that many tasks draw from one seed.

use std::sync::{Mutex, PoisonError};

use seinpaal_draw::Draw;

/// Numbers that are the same for the same seed, but that not the same tasks get each time.
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
