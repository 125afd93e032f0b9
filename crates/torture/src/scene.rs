//! The means of a fault: random numbers, the clocks, and time.

use std::{thread, time::Duration};

use seinpaal_rig::Clocks;

use seinpaal_draw::Draw;

/// The steps by which a clock is set forward or back, in seconds.
const STEPS: [i64; 6] = [1, 5, 60, 600, 3_600, LONGEST_STEP];
/// The longest step. Keys on a server outlive their leases by half a day, so no shorter step of the
/// server's clock ends one.
pub const LONGEST_STEP: i64 = 6 * 3_600;

/// The means of a fault.
#[derive(Debug)]
pub struct FaultScene<'a> {
    /// The random numbers.
    pub draw: Draw,
    /// The wall clocks.
    pub clocks: &'a Clocks,
    /// The ttl.
    pub ttl: Duration,
}

impl FaultScene<'_> {
    /// Waits for a random time between these two.
    pub fn wait(&mut self, shortest: Duration, longest: Duration) {
        thread::sleep(self.draw.between(shortest, longest));
    }

    /// Sets a clock and sets it back. Stores promise to survive one step between two renewals, so
    /// the wait after each step is long enough for every holder to renew.
    pub fn set_clock(&mut self, whose: &str) {
        let step = self.draw.pick(&STEPS);
        let step = if self.draw.chance(50) { step } else { -step };
        for off in [step, 0] {
            self.clocks.set(whose, off);
            self.wait(self.ttl * 3 / 2, self.ttl * 2);
        }
    }
}
