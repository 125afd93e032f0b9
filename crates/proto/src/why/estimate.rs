//! How long a waiter may still wait, and what that rests on (docs/decisions/0048, 0081, 0083).

use alloc::vec::Vec;
use core::time::Duration;

use super::{count, line::AheadOfWaiter, named, play::LineGame, time};
use crate::{
    hold_times::HoldLengths,
    snapshot::{Snapshot, WaiterRow},
    time::Micros,
};

/// How long it may still be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Estimate {
    /// It is served at the ledger's next step.
    Now,
    /// About this long, if holds take as long as the last ones took.
    ByHolds {
        /// How long.
        wait: Duration,
        /// How many holds it goes by: the fewer, the less it is worth.
        seen: u32,
        /// Half of them took no longer.
        typical: Duration,
    },
    /// When leases end that their holders do not renew.
    AtLeaseEnd {
        /// How long.
        wait: Duration,
    },
    /// Nobody admits anybody until the guard ends, and then it is free as far as the store knows.
    AfterGuard {
        /// When it ends.
        wait: Duration,
    },
    /// Nothing can be said.
    CannotSay(Unsaid),
}

/// Why there is no estimate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unsaid {
    /// The name is paused; nobody knows until when.
    Paused,
    /// The limit is 0; nobody knows until when.
    LimitIsZero,
    /// It will be refused.
    AboveLimit,
    /// It is passed over until it is heard from.
    Unreachable,
    /// It goes by which slot is given back, because somebody wishes for one by name.
    SlotWishedFor,
    /// The snapshot does not list all that hold.
    NotAllListed,
    /// No hold of this name has ended yet, as far as anybody remembers.
    NoHoldEnded,
}

/// When leases end unless they are renewed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct LeasesEnd {
    /// When the last of them does.
    pub within: Duration,
    /// How many have to.
    pub leases: u32,
}

impl Estimate {
    /// How long it may still be; `None` where nothing can be said.
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

/// The estimates of all waiters that a snapshot lists, in their order: the line is gone through
/// once.
pub(super) struct Estimates<'a> {
    seen: &'a Snapshot,
    past: &'a HoldLengths,
    play: LineGame<'a>,
    next: usize,
    /// What those take that are served before the next one.
    needed: u64,
    /// One of them wishes for a slot by name.
    is_by_name: bool,
}

impl<'a> Estimates<'a> {
    pub(super) fn new(seen: &'a Snapshot, past: &'a HoldLengths) -> Self {
        let play = LineGame::new(seen, past);
        Self { seen, past, play, next: 0, needed: 0, is_by_name: false }
    }

    /// Of the waiter in this row alone.
    pub(super) fn of(seen: &'a Snapshot, past: &'a HoldLengths, at: usize) -> Estimate {
        let mut line = Self::new(seen, past);
        for ahead in &seen.waiters[..at] {
            line.join(ahead);
        }
        line.estimate(&seen.waiters[at], at)
    }

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

    /// Counts it among those that will take permits, and says when it gets them; `None` if it gets
    /// none.
    fn join(&mut self, row: &WaiterRow) -> Option<Micros> {
        if row.unreachable || row.permits > self.seen.limit {
            return None;
        }
        self.needed += u64::from(row.permits);
        self.is_by_name |= !row.wishes.is_empty();
        self.play.serve(row.permits)
    }

    /// Whether it is served at the next step, with all ahead.
    fn fits(&self, row: &WaiterRow, at: usize) -> bool {
        if !self.is_by_name {
            let free = self.seen.limit.saturating_sub(self.seen.held);
            return self.needed <= u64::from(free);
        }
        let line = AheadOfWaiter::before(self.seen, at);
        named::reasons(self.seen, row, &line).is_empty() && self.seen.held <= self.seen.limit
    }

    fn about(&self, row: &WaiterRow, played: Micros, guard: Duration) -> Estimate {
        if !self.play.is_by_holds() {
            return Estimate::AtLeaseEnd { wait: time(played).max(guard) };
        }
        let Some(typical) = self.past.median() else {
            return Estimate::CannotSay(Unsaid::NoHoldEnded);
        };
        let (in_line, came_in) = growth(self.seen);
        let at_its_pace = at_its_pace(self.seen, row, self.needed);
        // The pace of the line counts as much as that many holds do. But a line that is younger
        // than a hold takes has not moved yet, so it has no pace.
        let in_line = if came_in < typical || at_its_pace == 0 { 0 } else { in_line };
        let seen = count(self.past.count());
        let wait = weighed([(played, seen), (at_its_pace, in_line)]);
        Estimate::ByHolds { wait: time(wait).max(guard), seen, typical: time(typical) }
    }
}

/// The mean of two lengths with their weights.
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

/// How many stand in line, and how long ago the first of them came: all have come since.
fn growth(seen: &Snapshot) -> (u32, Micros) {
    let came_in = in_line(seen).map(|row| row.waiting_for).max().unwrap_or(0);
    (count(in_line(seen).count()), came_in)
}

/// How long the wait is if the line moves as fast as it grew. As many waiters come as go, or the
/// line would be longer or shorter. 0 if the snapshot does not list the end of the line.
fn at_its_pace(seen: &Snapshot, row: &WaiterRow, needed: u64) -> Micros {
    if seen.waiters.len() != seen.waiting_total as usize {
        return 0;
    }
    let all: u128 = in_line(seen).map(|row| u128::from(row.permits)).sum();
    // Half of its own: it stands somewhere between the one before it and the one behind.
    let before = 2 * u128::from(needed) - u128::from(row.permits);
    let wait = u128::from(growth(seen).1) * before / (2 * all.max(1));
    Micros::try_from(wait).unwrap_or(Micros::MAX)
}

impl LeasesEnd {
    /// Only where all that are ahead fit beside it: nobody knows what leases those will have.
    pub(super) fn new(seen: &Snapshot, row: &WaiterRow, line: &AheadOfWaiter<'_>) -> Option<Self> {
        // Where not all holders are listed, the leases of those that are may be enough.
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
