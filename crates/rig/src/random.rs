//! What the suites draw, beyond the numbers of [`fastrand`].

use std::time::Duration;

use fastrand::Rng;

/// Draws a duration between these two.
pub fn between(rng: &mut Rng, shortest: Duration, longest: Duration) -> Duration {
    let range = longest.saturating_sub(shortest).as_micros();
    shortest + Duration::from_micros(rng.u64(..=u64::try_from(range).unwrap_or(u64::MAX)))
}

/// Returns one of several generators that follow from the same seed.
#[must_use]
pub fn fork(seed: u64, whose: u64) -> Rng {
    Rng::with_seed(seed ^ whose.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
