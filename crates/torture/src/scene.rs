//! The means of a fault: random numbers, the clocks, and time.

use std::{thread, time::Duration};

use fastrand::Rng;
use seinpaal_rig::{Clocks, between};

/// The steps by which a clock is set forward or back, in seconds.
const STEPS: [i64; 6] = [1, 5, 60, 600, 3_600, LONGEST_STEP];
/// The longest step. Keys on a server outlive their leases by half a day, so no shorter step of the
/// server's clock ends one.
pub const LONGEST_STEP: i64 = 6 * 3_600;

/// The means of a fault.
#[derive(Debug)]
pub struct FaultScene<'a> {
    /// The random numbers.
    pub rng: Rng,
    /// The wall clocks.
    pub clocks: &'a Clocks,
    /// The ttl.
    pub ttl: Duration,
}

impl FaultScene<'_> {
    /// Waits for a random time between these two.
    pub fn wait(&mut self, shortest: Duration, longest: Duration) {
        thread::sleep(between(&mut self.rng, shortest, longest));
    }

    /// Sets a clock and sets it back. Stores promise to survive one step between two renewals, so
    /// the wait after each step is long enough for every holder to renew.
    pub fn set_clock(&mut self, whose: &str) {
        let step = self.rng.choice(STEPS).unwrap();
        let step = if self.rng.bool() { step } else { -step };
        for off in [step, 0] {
            self.clocks.set(whose, off);
            self.wait(self.ttl * 3 / 2, self.ttl * 2);
        }
    }
}
