//! How long holds of one name took. Estimates of waiting times are based on these lengths.
//!
//! Every store keeps the lengths of the last few holds of a name ([`RecentHolds`],
//! docs/decisions/operating.md). A program that reads a name each second sees which holders have gone since
//! the last look, and so learns of more holds than those (docs/decisions/operating.md).

use alloc::{
    collections::{BTreeSet, VecDeque},
    vec::Vec,
};

use crate::{
    id::Fence,
    recent_holds::RecentHolds,
    time::{Micros, SECOND},
};

/// The number of lengths that are kept, the newest.
const MOST: usize = 64;
/// The number of holders of a look that are recognised in the next one.
const MOST_KNOWN: usize = 256;
/// The longest time between two looks that are compared. Over a longer one, short holds begin and
/// end unseen, and the lengths that are seen would be those of long holds only.
const NEAR: Micros = 5 * SECOND;

/// A holder, as a look at the name shows it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HoldSeen {
    /// The number of its grant, which no other hold has.
    pub fence: Fence,
    /// How long it has held.
    pub held_for: Micros,
    /// How long its lease lasts without renewal; `None`: for as long as its process lives.
    pub valid_for: Option<Micros>,
    /// A holder that lives would have renewed its lease by now.
    pub is_late: bool,
}

/// A hold that has ended since the look before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EndedHold {
    /// How long it took; exact to half of the time between the two looks.
    pub held_for: Micros,
    /// Its lease ended because nobody renewed it.
    pub is_lost: bool,
}

/// The holds seen at one name so far.
#[derive(Clone, Debug, Default)]
pub struct HoldTimes {
    /// The lengths of the holds that have ended, the newest last. `None`: the hold was too short
    /// for the looks to tell.
    ended: VecDeque<Option<Micros>>,
    holding: Vec<HoldSeen>,
    looked_at: Option<Micros>,
}

/// The lengths of holds, on which an estimate is based.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HoldLengths(Vec<Micros>);

impl HoldTimes {
    /// Takes in a look at the name at `now`, on any clock that goes steadily, and returns the holds
    /// that have ended since the look before. `are_all` says whether all holders are among these.
    pub fn look(
        &mut self,
        holders: impl Iterator<Item = HoldSeen> + Clone,
        are_all: bool,
        now: Micros,
    ) -> Vec<EndedHold> {
        let there: BTreeSet<Fence> = holders.clone().map(|holder| holder.fence).collect();
        let known = holders.take(MOST_KNOWN).collect();
        let before = core::mem::replace(&mut self.holding, known);
        let gap = self.looked_at.replace(now).map(|then| now.saturating_sub(then));
        let Some(gap) = gap.filter(|gap| are_all && *gap <= NEAR) else { return Vec::new() };
        let gone = before.iter().filter(|holder| !there.contains(&holder.fence));
        let ended: Vec<EndedHold> = gone.clone().map(|holder| EndedHold::of(holder, gap)).collect();
        for (holder, ended) in gone.zip(&ended) {
            let is_told = holder.held_for >= gap / 2;
            self.ended.push_back(is_told.then_some(ended.held_for));
        }
        self.ended.drain(..self.ended.len().saturating_sub(MOST));
        ended
    }

    /// Forgets the holders of the last look, but not how long holds took. The next look will not be
    /// compared with the last one.
    pub fn look_away(&mut self) {
        self.holding.clear();
        self.looked_at = None;
    }

    /// Returns the lengths on which an estimate can be based. Usually these are the lengths of all
    /// holds that were seen to end. The last few holds, which the store tells in each look, replace
    /// them if they are as many, or if most of the others were too short to be seen.
    #[must_use]
    pub fn lengths(&self, recent: RecentHolds) -> HoldLengths {
        let last = HoldLengths::from(recent);
        let seen: Vec<Micros> = self.ended.iter().copied().flatten().collect();
        if seen.len() <= last.count() || seen.len() * 2 < self.ended.len() {
            return last;
        }
        HoldLengths::of(seen)
    }
}

impl EndedHold {
    /// Makes the record of a hold that ended at some moment of the `gap` since it was last seen.
    fn of(holder: &HoldSeen, gap: Micros) -> Self {
        let ran_out = holder.valid_for.filter(|left| holder.is_late && *left <= gap);
        Self {
            held_for: holder.held_for.saturating_add(ran_out.unwrap_or(gap / 2)),
            is_lost: ran_out.is_some(),
        }
    }
}

/// The lengths for a reader that has not seen any hold end.
impl From<RecentHolds> for HoldLengths {
    fn from(recent: RecentHolds) -> Self {
        Self::of(recent.lengths().collect())
    }
}

impl HoldLengths {
    pub(crate) fn of(mut lengths: Vec<Micros>) -> Self {
        lengths.sort_unstable();
        Self(lengths)
    }

    /// Returns the number of holds; 0 if no hold has ended yet.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the median: half of the holds took no longer.
    #[must_use]
    pub fn median(&self) -> Option<Micros> {
        let last = self.0.len().checked_sub(1)?;
        Some(self.0[last / 2])
    }

    /// Returns how long the next waiter to be served will hold. Each call takes the length of
    /// another hold that was seen. The order is chosen so that the first few lengths are already
    /// spread like all of them. `turn` counts the calls.
    pub(crate) fn one(&self, turn: u32) -> Option<Micros> {
        spread(&self.0, turn)
    }

    /// Returns how much longer a holder will hold that has held for `age`, by the length of a hold
    /// that took longer. `None` if none did.
    pub(crate) fn rest(&self, age: Micros, turn: u32) -> Option<Micros> {
        let longer = &self.0[self.0.partition_point(|length| *length <= age)..];
        spread(longer, turn).map(|length| length - age)
    }
}

/// Returns a length from a sorted list: the first from its middle, the next from a quarter, from
/// three quarters, from an eighth, and so on (van der Corput's sequence).
fn spread(lengths: &[Micros], turn: u32) -> Option<Micros> {
    let share = u64::from(turn.wrapping_add(1).reverse_bits());
    let at = (share * lengths.len() as u64) >> u32::BITS;
    lengths.get(usize::try_from(at).ok()?).copied()
}

#[cfg(test)]
mod tests;
