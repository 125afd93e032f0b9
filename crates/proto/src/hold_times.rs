//! How long holds of one name took: what estimates go by.
//!
//! Every store keeps the lengths of the last few holds of a name ([`RecentHolds`],
//! docs/decisions/0083). A program that reads a name each second anyway sees who held before and
//! does not any more, and so learns of more holds than those (docs/decisions/0081).

use alloc::{
    collections::{BTreeSet, VecDeque},
    vec::Vec,
};

use crate::{
    id::Fence,
    recent_holds::RecentHolds,
    time::{Micros, SECOND},
};

/// How many lengths are kept, the newest.
const MOST: usize = 64;
/// How many holders of a look are known again at the next.
const MOST_KNOWN: usize = 256;
/// Between two looks that are further apart, holds begin and end unseen. The ones that are seen
/// would then be the long ones.
const NEAR: Micros = 5 * SECOND;

/// A holder, as somebody sees it.
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

/// What was seen of one name so far.
#[derive(Clone, Debug, Default)]
pub struct HoldTimes {
    /// The newest last. `None`: too short for the looks to tell.
    ended: VecDeque<Option<Micros>>,
    holding: Vec<HoldSeen>,
    looked_at: Option<Micros>,
}

/// How long holds took: what an estimate goes by.
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

    /// Forgets who holds, but not how long holds took: what comes next has nothing to do with the
    /// last look.
    pub fn look_away(&mut self) {
        self.holding.clear();
        self.looked_at = None;
    }

    /// What an estimate can go by: all holds that were seen to end, or the last few, of which the
    /// store tells in each look, if these are as many or most of the others were too short to be
    /// seen.
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
    /// It ended at some moment of the `gap` since it was seen.
    fn of(holder: &HoldSeen, gap: Micros) -> Self {
        let ran_out = holder.valid_for.filter(|left| holder.is_late && *left <= gap);
        Self {
            held_for: holder.held_for.saturating_add(ran_out.unwrap_or(gap / 2)),
            is_lost: ran_out.is_some(),
        }
    }
}

/// For a reader who has not seen any hold end.
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

    /// How many; 0 if no hold has ended yet.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Half of them took no longer.
    #[must_use]
    pub fn median(&self) -> Option<Micros> {
        let last = self.0.len().checked_sub(1)?;
        Some(self.0[last / 2])
    }

    /// How long the next one to be served holds. Each takes after another of those that were seen,
    /// chosen so that few are already spread like all: `turn` counts how often this was asked.
    pub(crate) fn one(&self, turn: u32) -> Option<Micros> {
        spread(&self.0, turn)
    }

    /// How long a holder will go on that has held for `age`: as one of those that took longer.
    /// `None` if none did.
    pub(crate) fn rest(&self, age: Micros, turn: u32) -> Option<Micros> {
        let longer = &self.0[self.0.partition_point(|length| *length <= age)..];
        spread(longer, turn).map(|length| length - age)
    }
}

/// One half-way, then one at a quarter, at three quarters, at an eighth, and so on (van der
/// Corput's sequence).
fn spread(lengths: &[Micros], turn: u32) -> Option<Micros> {
    let share = u64::from(turn.wrapping_add(1).reverse_bits());
    let at = (share * lengths.len() as u64) >> u32::BITS;
    lengths.get(usize::try_from(at).ok()?).copied()
}

#[cfg(test)]
mod tests;
