//! The pause of an item after a failed delivery.

use std::time::Duration;

/// The pause of an item after a failed delivery, until it is delivered again.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct BackOff {
    base: Duration,
    most: Duration,
    jitter: f64,
}

impl BackOff {
    /// Waits `base` after the first delivery, twice as long after each further one, and at most
    /// `most`. Half of the wait is random, so that items that failed together do not come back
    /// together.
    ///
    /// ```
    /// use std::time::Duration;
    /// use seinpaal::BackOff;
    ///
    /// let retry = BackOff::exponential(Duration::from_secs(1), Duration::from_secs(60)).jitter(0.0);
    /// assert_eq!(retry.delay(1), Duration::from_secs(1));
    /// assert_eq!(retry.delay(4), Duration::from_secs(8));
    /// assert_eq!(retry.delay(100), Duration::from_secs(60));
    /// ```
    pub fn exponential(base: Duration, most: Duration) -> Self {
        Self { base, most, jitter: 0.5 }
    }

    /// Waits equally long each time.
    pub fn constant(delay: Duration) -> Self {
        Self { base: delay, most: delay, jitter: 0.0 }
    }

    /// Sets the share of each wait that is random, 0 to 1. With 0.5 a wait is between a half and
    /// the whole.
    pub fn jitter(mut self, share: f64) -> Self {
        self.jitter = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self
    }

    /// Returns how long to wait after this delivery. The first delivery has the number 1.
    #[must_use]
    pub fn delay(&self, attempt: u32) -> Duration {
        // More doublings than this do not fit into 32 bits.
        let doublings = attempt.saturating_sub(1).min(31);
        let full = self.base.saturating_mul(1 << doublings).min(self.most);
        let share = 1.0 - self.jitter * chance();
        // The longest duration does not survive the conversion to a floating-point number.
        Duration::try_from_secs_f64(full.as_secs_f64() * share).unwrap_or(full)
    }
}

impl Default for BackOff {
    /// A second after the first delivery, and five minutes at most.
    fn default() -> Self {
        Self::exponential(Duration::from_secs(1), Duration::from_secs(300))
    }
}

/// A number from 0 to 1. Without random numbers there is no jitter.
fn chance() -> f64 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX),
        Err(_) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wait_is_too_long_and_no_share_too_odd() {
        let longest = BackOff::constant(Duration::MAX);
        assert_eq!(longest.delay(9), Duration::MAX);
        let odd = BackOff::constant(Duration::from_secs(4)).jitter(f64::NAN);
        assert_eq!(odd.delay(1), Duration::from_secs(4));
    }

    #[test]
    fn jitter_takes_no_more_than_its_share() {
        let retry = BackOff::exponential(Duration::from_secs(8), Duration::MAX).jitter(0.25);
        for _ in 0..100 {
            let delay = retry.delay(1);
            assert!(Duration::from_secs(6) <= delay && delay <= Duration::from_secs(8));
        }
    }
}
