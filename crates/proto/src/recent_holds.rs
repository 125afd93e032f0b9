//! The lengths of the last holds of a name. Every store keeps the lengths in one number, with the
//! head of the name.
//!
//! A length is a code of seven bits, and the seven newest stand in one number of 49 bits, the
//! newest in the lowest. So a double can represent the number exactly, and Lua has no other numbers
//! (docs/decisions/operating.md).

use core::fmt;

use crate::time::Micros;

/// The lengths of the last seven holds of a name that were released.
///
/// # Examples
/// ```
/// use seinpaal_proto::RecentHolds;
///
/// let recent = RecentHolds::NONE.with(2_000_000).with(3_000_000);
/// assert_eq!(recent.lengths().collect::<Vec<_>>(), [2_883_584, 1_966_080]);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct RecentHolds(u64);

impl RecentHolds {
    /// The number of lengths that are kept.
    pub const MOST: u32 = 7;
    /// The length of a code in bits.
    pub const CODE_BITS: u32 = 7;
    /// The highest code. It stands for nine and a half days and more.
    pub const LAST_CODE: u64 = (1 << Self::CODE_BITS) - 1;
    /// Lengths below two to the power of this, 256 µs, all have the first code.
    pub const SHORTEST_BITS: u32 = 8;
    /// The number of codes that a doubling of the length spans.
    pub const CODES_A_DOUBLING: u64 = 4;

    /// The value of a name at which no hold has ended.
    pub const NONE: Self = Self(0);

    /// Returns the number that stores keep.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Makes a value from a number that a store has kept. Any number is accepted;
    /// [`is_sound`](Self::is_sound) checks it.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Adds a hold, which is the newest. The oldest is forgotten.
    #[must_use]
    pub const fn with(self, held_for: Micros) -> Self {
        let newer = self.0 & ((1 << ((Self::MOST - 1) * Self::CODE_BITS)) - 1);
        Self(newer << Self::CODE_BITS | code(held_for))
    }

    /// Returns the lengths, the newest first. Each is the middle of the lengths that share its
    /// code.
    pub fn lengths(self) -> impl Iterator<Item = Micros> {
        let codes =
            (0..Self::MOST).map(move |place| self.0 >> (place * Self::CODE_BITS) & Self::LAST_CODE);
        codes.take_while(|code| *code > 0).map(middle)
    }

    /// Returns whether a ledger can have made this value: no code is missing between two others,
    /// and no bit stands above the oldest.
    #[must_use]
    pub fn is_sound(self) -> bool {
        let count = self.lengths().count();
        let bits = u32::try_from(count).map_or(0, |count| count * Self::CODE_BITS);
        self.0 >> bits == 0
    }
}

/// The text form that stores write.
impl fmt::Display for RecentHolds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns the code of a length, 1 to 127. The three highest bits of the length make the code, so
/// each step is a seventh to a quarter of the length.
const fn code(length: Micros) -> u64 {
    if length >> RecentHolds::SHORTEST_BITS == 0 {
        return 1;
    }
    let exponent = length.ilog2();
    let quarter = (length >> (exponent - 2)) & (RecentHolds::CODES_A_DOUBLING - 1);
    let code = 1
        + (exponent - RecentHolds::SHORTEST_BITS) as u64 * RecentHolds::CODES_A_DOUBLING
        + quarter;
    if code < RecentHolds::LAST_CODE { code } else { RecentHolds::LAST_CODE }
}

fn middle(code: u64) -> Micros {
    let (doublings, quarter) =
        ((code - 1) / RecentHolds::CODES_A_DOUBLING, (code - 1) % RecentHolds::CODES_A_DOUBLING);
    let eighth = 1_u64 << (u64::from(RecentHolds::SHORTEST_BITS) - 3 + doublings);
    eighth * (RecentHolds::CODES_A_DOUBLING * 2 + quarter * 2 + 1)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::time::SECOND;

    fn kept(length: Micros) -> Micros {
        RecentHolds::NONE.with(length).lengths().next().unwrap()
    }

    #[test]
    fn a_length_is_kept_to_an_eighth_from_a_quarter_of_a_millisecond_to_nine_days() {
        let mut length = 256;
        while length < 1 << 39 {
            for length in [length, length + length / 9, 2 * length - 1] {
                let kept = kept(length);
                assert!(kept.abs_diff(length) * 8 <= length, "{length}: {kept}");
            }
            length *= 2;
        }
        let days = 9 * 86_400 * SECOND;
        assert!(kept(days).abs_diff(days) * 8 <= days);
    }

    #[test]
    fn what_is_shorter_or_longer_is_kept_as_the_shortest_or_the_longest() {
        for length in [0, 1, 255] {
            assert_eq!(kept(length), 288);
        }
        let most = kept(Micros::MAX);
        assert_eq!((most, kept(20 * 86_400 * SECOND)), (893_353_197_568, most));
    }

    #[test]
    fn a_longer_hold_never_has_a_lower_code() {
        let mut length = 1;
        while length < 1 << 60 {
            assert!(code(length) <= code(length + length / 7 + 1));
            length += length / 7 + 1;
        }
        assert_eq!(code(Micros::MAX), RecentHolds::LAST_CODE);
    }

    #[test]
    fn the_newest_seven_are_kept_the_newest_first() {
        let all = (0..9).fold(RecentHolds::NONE, |recent, doublings| recent.with(256 << doublings));
        let lengths: Vec<_> = (2..9).rev().map(|doublings| 288 << doublings).collect();
        assert_eq!(all.lengths().collect::<Vec<_>>(), lengths);
        assert!(all.is_sound() && all.bits() < 1 << 49);
        assert_eq!(RecentHolds::NONE.lengths().count(), 0);
    }

    #[test]
    fn only_what_a_ledger_makes_is_sound() {
        let full = (0..7).fold(RecentHolds::NONE, |recent, _| recent.with(Micros::MAX));
        assert!(full.is_sound() && RecentHolds::NONE.is_sound());
        for bits in [
            1 << 49,
            full.bits() | 1 << 49,
            1 << 7,
            full.bits() & !RecentHolds::LAST_CODE,
            u64::MAX,
        ] {
            assert!(!RecentHolds::from_bits(bits).is_sound(), "{bits:x}");
        }
    }
}
