//! What a fault can use: random numbers, the clocks, and time to wait.

use std::{thread, time::Duration};

use seinpaal_rig::Clocks;

use seinpaal_draw::Draw;

/// Steps of clocks, in seconds, either way. Keys on a server end half a day early when its clock is set so far.
const STEPS: [i64; 6] = [1, 5, 60, 600, 3_600, LONGEST_STEP];
/// The longest of them.
pub const LONGEST_STEP: i64 = 6 * 3_600;

/// What a fault has at hand.
#[derive(Debug)]
pub struct Scene<'a> {
    /// Chance.
    pub draw: Draw,
    /// The wall clocks.
    pub clocks: &'a Clocks,
    /// The ttl.
    pub ttl: Duration,
}

impl Scene<'_> {
    /// Waits for a time between the two.
    pub fn wait(&mut self, shortest: Duration, longest: Duration) {
        thread::sleep(self.draw.between(shortest, longest));
    }

    /// Sets a clock and sets it back, with renewals of everything after each: one step between two is what
    /// stores promise to survive.
    pub fn set_clock(&mut self, whose: &str) {
        let step = self.draw.pick(&STEPS);
        let step = if self.draw.chance(50) { step } else { -step };
        for off in [step, 0] {
            self.clocks.set(whose, off);
            self.wait(self.ttl * 3 / 2, self.ttl * 2);
        }
    }
}
