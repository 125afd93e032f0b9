//! Numbers that many tasks draw from one seed.

use std::sync::atomic::{AtomicU64, Ordering};

/// The same numbers for the same seed, though not to the same tasks: `SplitMix64`.
#[derive(Debug)]
pub(crate) struct Draws(AtomicU64);

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    pub(crate) fn next(&self) -> u64 {
        let mut drawn = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        drawn = (drawn ^ (drawn >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        drawn = (drawn ^ (drawn >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        drawn ^ (drawn >> 31)
    }
}
