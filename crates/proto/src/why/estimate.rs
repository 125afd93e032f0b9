//! How long a waiter may still wait, and what that rests on (docs/decisions/0048).

use alloc::{collections::BinaryHeap, vec::Vec};
use core::{cmp::Reverse, time::Duration};

use super::{count, line::AheadOfWaiter, named, time};
use crate::{
    snapshot::{HolderRow, Snapshot, WaiterRow},
    time::Micros,
};

/// How long it may still be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Estimate {
    /// It is served at the ledger's next step.
    Now,
    /// About this long: the later of two guesses. One supposes that those that hold have two thirds of their time
    /// behind them, and that those ahead will hold as long as they. The other, that the line moves as fast as it grew.
    About {
        /// How long.
        wait: Duration,
        /// How many hold: the fewer, the less the first guess is worth.
        holders: u32,
        /// For how long they have held, on average.
        held_for: Duration,
        /// How many stand in line: the fewer, the less the second guess is worth.
        in_line: u32,
        /// How long it took them to come.
        came_in: Duration,
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
    pub(super) fn new(seen: &Snapshot, row: &WaiterRow, line: &AheadOfWaiter<'_>) -> Self {
        if let Some(unsaid) = unsaid(seen, row) {
            return Self::CannotSay(unsaid);
        }
        let guard = seen.guarded_for.map(time);
        let is_by_name = named::is_by_name(row, line);
        let fits = match is_by_name {
            true => named::reasons(seen, row, line).is_empty() && seen.held <= seen.limit,
            false => line.fits(row),
        };
        match guard {
            None if fits => return Self::Now,
            Some(wait) if fits => return Self::AfterGuard { wait },
            _ if is_by_name => return Self::CannotSay(Unsaid::SlotWishedFor),
            _ => {}
        }
        let held_for = mean_age(seen);
        let Some(wait) = played(seen, row, line, held_for) else {
            return Self::CannotSay(Unsaid::NotAllListed);
        };
        let (in_line, came_in) = growth(seen);
        Self::About {
            wait: time(wait.max(at_its_pace(seen, row, line))).max(guard.unwrap_or_default()),
            holders: seen.holders_total,
            held_for: time(held_for),
            in_line,
            came_in: time(came_in),
        }
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

fn mean_age(seen: &Snapshot) -> Micros {
    let ages = seen.holders.iter().map(|row| u128::from(row.held_for)).sum::<u128>();
    let mean = ages.checked_div(seen.holders.len() as u128);
    mean.and_then(|mean| Micros::try_from(mean).ok()).unwrap_or(0)
}

/// Plays the line through. A holder is taken to have half of its age before it, and a waiter that
/// is served to hold for one and a half ages. A holder that does not renew holds until its lease
/// ends.
fn played(
    seen: &Snapshot,
    row: &WaiterRow,
    line: &AheadOfWaiter<'_>,
    age: Micros,
) -> Option<Micros> {
    let ends = seen.holders.iter().map(|row| Reverse((left(row), row.slots.count())));
    let mut ends: BinaryHeap<_> = ends.collect();
    let mut free = i64::from(seen.limit) - i64::from(seen.held);
    let mut now = 0;
    for next in line.takers().chain([row]) {
        while free < i64::from(next.permits) {
            let Reverse((end, permits)) = ends.pop()?;
            now = end;
            free += i64::from(permits);
        }
        free -= i64::from(next.permits);
        ends.push(Reverse((now + age + age / 2, next.permits)));
    }
    Some(now)
}

fn left(row: &HolderRow) -> Micros {
    match (row.not_renewed_for(), row.valid_for) {
        (Some(_), Some(left)) => left,
        _ => row.held_for / 2,
    }
}

fn in_line(seen: &Snapshot) -> impl Iterator<Item = &WaiterRow> {
    seen.waiters.iter().filter(|row| !row.unreachable)
}

/// All in line have come since the first of them did.
fn growth(seen: &Snapshot) -> (u32, Micros) {
    let came_in = in_line(seen).map(|row| row.waiting_for).max().unwrap_or(0);
    (count(in_line(seen).count()), came_in)
}

/// How long the wait is if the line moves as fast as it grew. As many waiters come as go, or the
/// line would be longer or shorter. `None` if the snapshot does not list the end of the line.
fn at_its_pace(seen: &Snapshot, row: &WaiterRow, line: &AheadOfWaiter<'_>) -> Micros {
    if seen.waiters.len() != seen.waiting_total as usize {
        return 0;
    }
    let all: u128 = in_line(seen).map(|row| u128::from(row.permits)).sum();
    // Half of its own: it stands somewhere between the one before it and the one behind.
    let before = 2 * u128::from(line.needs(row)) - u128::from(row.permits);
    let wait = u128::from(growth(seen).1) * before / (2 * all.max(1));
    Micros::try_from(wait).unwrap_or(Micros::MAX)
}

impl LeasesEnd {
    /// Only where all that are ahead fit beside it: nobody knows what leases those will have.
    pub(super) fn new(seen: &Snapshot, row: &WaiterRow, line: &AheadOfWaiter<'_>) -> Option<Self> {
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
