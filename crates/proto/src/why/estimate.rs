//! Estimates how much longer a waiter waits, and says on what the estimate rests
//! (docs/decisions/operating.md).

use alloc::vec::Vec;
use core::time::Duration;

use super::{count, line::AheadOfWaiter, named, play::LineGame, time};
use crate::{
    hold_times::HoldLengths,
    snapshot::{Snapshot, WaiterRow},
    time::Micros,
};

/// How much longer a waiter may wait.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Estimate {
    /// The waiter is served at the ledger's next step.
    Now,
    /// The waiter is served after about this time, if holds take as long as the last ones took.
    ByHolds {
        /// The remaining wait.
        wait: Duration,
        /// The number of holds that the estimate is based on: the fewer, the less it is worth.
        seen: u32,
        /// The median of their lengths.
        typical: Duration,
    },
    /// The waiter is served when leases end that their holders do not renew.
    AtLeaseEnd {
        /// The remaining wait.
        wait: Duration,
    },
    /// The store admits nobody until the restart guard ends. Then the permits are free, as far as
    /// the store knows.
    AfterGuard {
        /// The time until the guard ends.
        wait: Duration,
    },
    /// No estimate can be made.
    CannotSay(Unsaid),
}

/// Why there is no estimate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unsaid {
    /// The name is paused, and nobody knows until when.
    Paused,
    /// The limit is 0, and nobody knows until when.
    LimitIsZero,
    /// The waiter will be refused, because it wants more than the limit.
    AboveLimit,
    /// The waiter is passed over until it is heard from.
    Unreachable,
    /// A waiter wishes for a slot by name, so it matters which slot is given back next.
    SlotWishedFor,
    /// The snapshot does not list all holders.
    NotAllListed,
    /// No hold of this name has ended yet, as far as anybody remembers.
    NoHoldEnded,
}

/// The moment at which leases end unless they are renewed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct LeasesEnd {
    /// The time until the last of them ends.
    pub within: Duration,
    /// The number of leases that have to end.
    pub leases: u32,
}

impl Estimate {
    /// Returns how much longer it may take; `None` where no estimate can be made.
    #[must_use]
    pub fn wait(&self) -> Option<Duration> {
        match self {
            Self::Now => Some(Duration::ZERO),
            Self::ByHolds { wait, .. } | Self::AtLeaseEnd { wait } | Self::AfterGuard { wait } => {
                Some(*wait)
            }
            Self::CannotSay(_) => None,
        }
    }
}

/// The estimates of all waiters that a snapshot lists, in their order, computed in one pass.
pub(super) struct Estimates<'a> {
    seen: &'a Snapshot,
    past: &'a HoldLengths,
    play: LineGame<'a>,
    next: usize,
    /// The permits that the waiters before the next one take.
    needed: u64,
    /// One of these waiters wishes for a slot by name.
    is_by_name: bool,
}

impl<'a> Estimates<'a> {
    pub(super) fn new(seen: &'a Snapshot, past: &'a HoldLengths) -> Self {
        let play = LineGame::new(seen, past);
        Self { seen, past, play, next: 0, needed: 0, is_by_name: false }
    }

    /// Estimates for the waiter in this row alone.
    pub(super) fn of(seen: &'a Snapshot, past: &'a HoldLengths, at: usize) -> Estimate {
        let mut line = Self::new(seen, past);
        for ahead in &seen.waiters[..at] {
            line.join(ahead);
        }
        line.estimate(&seen.waiters[at], at)
    }

    /// Estimates for the next waiter of the line, and counts it among those ahead of the later
    /// ones.
    fn estimate(&mut self, row: &WaiterRow, at: usize) -> Estimate {
        let played = self.join(row);
        if let Some(unsaid) = unsaid(self.seen, row) {
            return Estimate::CannotSay(unsaid);
        }
        let guard = self.seen.guarded_for.map(time);
        match guard {
            None if self.fits(row, at) => return Estimate::Now,
            Some(wait) if self.fits(row, at) => return Estimate::AfterGuard { wait },
            _ if self.is_by_name => return Estimate::CannotSay(Unsaid::SlotWishedFor),
            _ => {}
        }
        match played {
            Some(wait) => self.about(row, wait, guard.unwrap_or_default()),
            None => Estimate::CannotSay(Unsaid::NotAllListed),
        }
    }

    /// Counts a waiter among those that will take permits. Returns when it gets them; `None` if it
    /// gets none.
    fn join(&mut self, row: &WaiterRow) -> Option<Micros> {
        if row.unreachable || row.permits > self.seen.limit {
            return None;
        }
        self.needed += u64::from(row.permits);
        self.is_by_name |= !row.wishes.is_empty();
        self.play.serve(row.permits)
    }

    /// Returns whether the waiter is served at the next step, together with all waiters ahead.
    fn fits(&self, row: &WaiterRow, at: usize) -> bool {
        if !self.is_by_name {
            let free = self.seen.limit.saturating_sub(self.seen.held);
            return self.needed <= u64::from(free);
        }
        let line = AheadOfWaiter::before(self.seen, at);
        named::reasons(self.seen, row, &line).is_empty() && self.seen.held <= self.seen.limit
    }

    /// Makes an estimate from the simulation, and from the pace of the line if holds have ended.
    fn about(&self, row: &WaiterRow, played: Micros, guard: Duration) -> Estimate {
        if !self.play.is_by_holds() {
            return Estimate::AtLeaseEnd { wait: time(played).max(guard) };
        }
        let Some(typical) = self.past.median() else {
            return Estimate::CannotSay(Unsaid::NoHoldEnded);
        };
        let (in_line, came_in) = growth(self.seen);
        let at_its_pace = at_its_pace(self.seen, row, self.needed);
        // The pace of the line counts for as many holds as the line has waiters. But a line that is
        // younger than a hold takes has not moved yet, so it has no pace.
        let in_line = if came_in < typical || at_its_pace == 0 { 0 } else { in_line };
        let seen = count(self.past.count());
        let wait = weighed([(played, seen), (at_its_pace, in_line)]);
        Estimate::ByHolds { wait: time(wait).max(guard), seen, typical: time(typical) }
    }
}

/// Returns the mean of two lengths by their weights.
fn weighed(lengths: [(Micros, u32); 2]) -> Micros {
    let all: u128 = lengths.iter().map(|(_, weight)| u128::from(*weight)).sum();
    let sum: u128 =
        lengths.iter().map(|(time, weight)| u128::from(*time) * u128::from(*weight)).sum();
    Micros::try_from(sum / all.max(1)).unwrap_or(Micros::MAX)
}

impl Iterator for Estimates<'_> {
    type Item = Estimate;

    fn next(&mut self) -> Option<Estimate> {
        let at = self.next;
        let row = self.seen.waiters.get(at)?;
        self.next += 1;
        Some(self.estimate(row, at))
    }
}

/// Returns the reason why no estimate can be made for a waiter, if there is one.
fn unsaid(seen: &Snapshot, row: &WaiterRow) -> Option<Unsaid> {
    let all_listed = seen.holders.len() == seen.holders_total as usize;
    let unsaid = [
        (seen.paused.is_some(), Unsaid::Paused),
        (seen.limit == 0, Unsaid::LimitIsZero),
        (row.unreachable, Unsaid::Unreachable),
        (row.permits > seen.limit, Unsaid::AboveLimit),
        (!all_listed, Unsaid::NotAllListed),
    ];
    unsaid.into_iter().find(|(is_so, _)| *is_so).map(|(_, unsaid)| unsaid)
}

fn in_line(seen: &Snapshot) -> impl Iterator<Item = &WaiterRow> {
    seen.waiters.iter().filter(|row| !row.unreachable)
}

/// Returns how many waiters stand in line, and how long ago the first of them came. All have come
/// since.
fn growth(seen: &Snapshot) -> (u32, Micros) {
    let came_in = in_line(seen).map(|row| row.waiting_for).max().unwrap_or(0);
    (count(in_line(seen).count()), came_in)
}

/// Returns how long the wait is if the line moves as fast as it grew. A line that keeps its length
/// serves as many waiters as come. 0 if the snapshot does not list the end of the line.
fn at_its_pace(seen: &Snapshot, row: &WaiterRow, needed: u64) -> Micros {
    if seen.waiters.len() != seen.waiting_total as usize {
        return 0;
    }
    let all: u128 = in_line(seen).map(|row| u128::from(row.permits)).sum();
    // Half of the waiter's own permits count: it stands somewhere between the waiter before it and
    // the one behind it.
    let before = 2 * u128::from(needed) - u128::from(row.permits);
    let wait = u128::from(growth(seen).1) * before / (2 * all.max(1));
    Micros::try_from(wait).unwrap_or(Micros::MAX)
}

impl LeasesEnd {
    /// Returns `None` unless all waiters ahead fit beside this one: nobody knows which leases those
    /// will have.
    pub(super) fn new(seen: &Snapshot, row: &WaiterRow, line: &AheadOfWaiter<'_>) -> Option<Self> {
        // Even if not all holders are listed, the leases of the listed ones may be enough.
        if unsaid(seen, row).is_some_and(|unsaid| unsaid != Unsaid::NotAllListed) {
            return None;
        }
        let needs = i64::try_from(line.needs(row)).ok()?;
        if needs > i64::from(seen.limit) {
            return None;
        }
        let ends = seen.holders.iter().filter_map(|row| Some((row.valid_for?, row.slots.count())));
        let mut ends: Vec<_> = ends.collect();
        ends.sort_unstable();
        let mut free = i64::from(seen.limit) - i64::from(seen.held);
        if free >= needs {
            return None;
        }
        for (leases, (end, permits)) in (1..).zip(ends) {
            free += i64::from(permits);
            if free >= needs {
                let within = time(end.max(seen.guarded_for.unwrap_or(0)));
                return Some(Self { within, leases: count(leases) });
            }
        }
        None
    }
}
