//! The slots of a holder, as a short list of ranges, so that ten thousand permits take a few bytes.

use alloc::{string::String, vec::Vec};
use core::{fmt, fmt::Write, str::FromStr};

/// A set of slot numbers as ascending, disjoint, non-adjacent ranges (both ends included). Its text
/// form is `0-2,5`.
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct Slots(Ranges);

/// The ranges of a set. A lone range needs no heap: nearly every permit has one slot, and is copied
/// several times. It is an array of one, so that it can be lent as a list.
#[derive(Clone, Eq, Hash, PartialEq)]
enum Ranges {
    One([(u32, u32); 1]),
    /// None, or more than one.
    Many(Vec<(u32, u32)>),
}

impl Slots {
    /// Returns an empty set.
    #[must_use]
    pub const fn none() -> Self {
        Self(Ranges::Many(Vec::new()))
    }

    fn of_ranges(ranges: Vec<(u32, u32)>) -> Self {
        match ranges.as_slice() {
            [range] => Self(Ranges::One([*range])),
            _ => Self(Ranges::Many(ranges)),
        }
    }

    /// Returns the set of the slots `first..=last`.
    #[must_use]
    pub fn range(first: u32, last: u32) -> Self {
        Self(Ranges::One([(first, last)]))
    }

    /// Returns the number of slots, up to `u32::MAX`.
    #[must_use]
    pub fn count(&self) -> u32 {
        let count = |(first, last): &(u32, u32)| (last - first).saturating_add(1);
        self.ranges().iter().map(count).fold(0, u32::saturating_add)
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges().is_empty()
    }

    /// Returns the lowest slot.
    #[must_use]
    pub fn lowest(&self) -> Option<u32> {
        self.ranges().first().map(|range| range.0)
    }

    /// Returns the ranges, ascending.
    #[must_use]
    pub fn ranges(&self) -> &[(u32, u32)] {
        match &self.0 {
            Ranges::One(one) => one,
            Ranges::Many(many) => many,
        }
    }

    /// Returns every slot, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges().iter().flat_map(|&(first, last)| first..=last)
    }

    /// Adds `first..=last` and joins ranges that touch.
    pub fn insert(&mut self, first: u32, last: u32) {
        if self.is_empty() {
            *self = Self::range(first, last);
            return;
        }
        let mut ranges = core::mem::take(self).into_ranges();
        join(&mut ranges, first, last);
        *self = Self::of_ranges(ranges);
    }

    fn into_ranges(self) -> Vec<(u32, u32)> {
        match self.0 {
            Ranges::One(one) => Vec::from(one),
            Ranges::Many(many) => many,
        }
    }

    /// Removes from `self` the slots that `other` has too, and returns them.
    pub fn take(&mut self, other: &Self) -> Self {
        let (mut kept, mut taken) = (Self::none(), Self::none());
        for &(first, last) in self.ranges() {
            let mut at = first;
            for &(f, l) in other.ranges() {
                let (f, l) = (f.max(at), l.min(last));
                if f > l {
                    continue;
                }
                if at < f {
                    kept.insert(at, f - 1);
                }
                taken.insert(f, l);
                at = l.saturating_add(1);
            }
            if at <= last {
                kept.insert(at, last);
            }
        }
        *self = kept;
        taken
    }

    /// Returns whether all slots of `other` are in `self`.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        let mut rest = other.clone();
        rest.take(self);
        rest.is_empty()
    }

    /// Splits off the `count` lowest slots, or everything if there are fewer.
    pub fn split_lowest(&mut self, count: u32) -> Self {
        let mut lowest = Self::none();
        let mut missing = count;
        for &(first, last) in self.ranges() {
            if missing == 0 {
                break;
            }
            let n = missing.min(last - first + 1);
            lowest.insert(first, first + n - 1);
            missing -= n;
        }
        self.take(&lowest)
    }

    /// Adds all slots of `other`.
    pub fn extend(&mut self, other: &Self) {
        for &(first, last) in other.ranges() {
            self.insert(first, last);
        }
    }
}

/// Adds a range and joins ranges that touch.
fn join(ranges: &mut Vec<(u32, u32)>, first: u32, last: u32) {
    // Ranges nearly always come in order. Then a long list costs no more than its length.
    if ranges.last().is_none_or(|highest| highest.1.saturating_add(1) < first) {
        return ranges.push((first, last));
    }
    let mut joined = (first, last);
    ranges.retain(|&(f, l)| {
        let apart = l.saturating_add(1) < joined.0 || joined.1.saturating_add(1) < f;
        if !apart {
            joined = (joined.0.min(f), joined.1.max(l));
        }
        apart
    });
    let at = ranges.partition_point(|range| range.0 < joined.0);
    ranges.insert(at, joined);
}

impl Default for Slots {
    fn default() -> Self {
        Self::none()
    }
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Slots").field(&self.ranges()).finish()
    }
}

impl fmt::Display for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (first, last)) in self.ranges().iter().enumerate() {
            if i > 0 {
                f.write_char(',')?;
            }
            if first == last { write!(f, "{first}")? } else { write!(f, "{first}-{last}")? }
        }
        Ok(())
    }
}

impl FromStr for Slots {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || alloc::format!("not a list of slots: {text:?}");
        let mut ranges = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range: (u32, u32) =
                (first.parse().map_err(|_| bad())?, last.parse().map_err(|_| bad())?);
            // No slot has the number u32::MAX, so that the count of a set fits into a `u32`.
            if range.0 > range.1 || range.1 == u32::MAX {
                return Err(bad());
            }
            ranges.push(range);
        }
        ranges.sort_unstable();
        let mut slots = Self::none();
        ranges.into_iter().for_each(|(first, last)| slots.insert(first, last));
        Ok(slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn slots(text: &str) -> Slots {
        text.parse().unwrap()
    }

    #[test]
    fn touching_ranges_join() {
        let mut s = slots("5,0-2");
        s.insert(3, 4);
        assert_eq!(s.to_string(), "0-5");
    }

    #[test]
    fn more_slots_than_can_be_counted_are_refused() {
        assert_eq!(slots("0-4294967294").count(), u32::MAX);
        assert!("0-4294967295".parse::<Slots>().is_err());
        assert!("4294967295".parse::<Slots>().is_err());
    }

    #[test]
    fn the_same_slots_are_equal_however_they_came_together() {
        let mut joined = slots("0-2,5");
        joined.insert(3, 4);
        assert_eq!(joined, Slots::range(0, 5));
        assert_eq!(joined.take(&Slots::range(0, 4)), slots("0-4"));
        assert_eq!((joined.clone(), joined.take(&slots("5"))), (slots("5"), slots("5")));
        assert_eq!((joined, Slots::none()), (Slots::default(), slots("")));
    }

    #[test]
    fn taking_returns_only_what_was_there() {
        let mut s = slots("0-9");
        assert_eq!(s.take(&slots("2-3,8-12")).to_string(), "2-3,8-9");
        assert_eq!(s.to_string(), "0-1,4-7");
    }

    #[test]
    fn the_lowest_are_split_off_across_ranges() {
        let mut s = slots("1,4-6");
        assert_eq!(s.split_lowest(3).to_string(), "1,4-5");
        assert_eq!(s.to_string(), "6");
    }
}
