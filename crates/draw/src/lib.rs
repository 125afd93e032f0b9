//! Random numbers that follow from one seed, so that a test can repeat the history that it drew.
//!
//! # Example
//! ```
//! let mut draw = seinpaal_draw::Draw::new(7);
//! let dice = [1, 2, 3, 4, 5, 6];
//! let thrown = [draw.pick(&dice), draw.pick(&dice)];
//! let mut again = seinpaal_draw::Draw::new(7);
//! assert_eq!(thrown, [again.pick(&dice), again.pick(&dice)]);
//! ```

use std::time::Duration;

/// Draws numbers, the same ones for the same seed, by SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// Draws from this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A second generator, whose numbers follow from `whose` and the present state. The numbers
    /// that this generator draws later do not change them.
    #[must_use]
    pub fn fork(&self, whose: u64) -> Self {
        Self(Self(self.0 ^ whose.wrapping_mul(0xa076_1d64_78bd_642f)).number())
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut drawn = self.0;
        drawn = (drawn ^ (drawn >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        drawn = (drawn ^ (drawn >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        drawn ^ (drawn >> 31)
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number().checked_rem(bound).unwrap_or(0)
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).unwrap_or(0)
    }

    /// Draws an event that happens in one of this many cases.
    pub fn one_in(&mut self, cases: u64) -> bool {
        self.below(cases) == 0
    }

    /// Draws an event that happens in this many of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A duration between these two.
    pub fn between(&mut self, shortest: Duration, longest: Duration) -> Duration {
        let range = longest.saturating_sub(shortest).as_micros();
        shortest + Duration::from_micros(self.below(u64::try_from(range).unwrap_or(u64::MAX)))
    }

    /// One of these values.
    ///
    /// # Panics
    /// If the slice is empty.
    pub fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.index(all.len())].clone()
    }

    /// Puts the values into a random order.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.index(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that the authors of SplitMix64 publish for this seed.
    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut draw = Draw::new(1_234_567);
        let drawn = [(); 3].map(|()| draw.number());
        let known =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(drawn, known);
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        let draws = |seed| {
            let mut draw = Draw::new(seed);
            (draw.fork(3).number(), draw.number(), draw.below(10), draw.chance(50))
        };
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7), draws(8));
    }

    #[test]
    fn shuffling_loses_nothing() {
        let mut all: Vec<u32> = (0..20).collect();
        Draw::new(1).shuffle(&mut all);
        assert_ne!(all, (0..20).collect::<Vec<_>>());
        all.sort_unstable();
        assert_eq!(all, (0..20).collect::<Vec<_>>());
    }
}
