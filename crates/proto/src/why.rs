//! Explains from a snapshot why a waiter waits, and estimates for how long. The snapshot tells how
//! long the last holds took.
//!
//! This module applies the rules of the ledger (`ledger/serve.rs`) in reverse. It asks no store, so
//! an answer is as old as the snapshot.

mod estimate;
mod held_by;
mod line;
mod named;
mod play;

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use estimate::Estimates;
pub use estimate::{Estimate, LeasesEnd, Unsaid};
pub use held_by::{HeldBy, Holders};
use held_by::{count, time};
use line::AheadOfWaiter;

use crate::{
    count::MOST_READERS,
    hold_times::HoldLengths,
    id::Ticket,
    kind::Kind,
    snapshot::{Snapshot, WaiterRow},
};

/// The state of a ticket, with its reasons.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Why {
    /// It holds, and waits for nothing.
    Holds(HeldBy),
    /// It waits.
    Waits(Waits),
}

/// A waiter, and the reasons for which it waits.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Waits {
    /// Its place among all waiters, from 1. Waiters that cannot be reached come last.
    pub position: u32,
    /// How many permits it wants.
    pub permits: u32,
    /// How long it has waited.
    pub waiting_for: Duration,
    /// At least one reason: first those that concern every waiter, then the line, then the holders.
    pub reasons: Vec<Reason>,
    /// How much longer it may wait.
    pub estimate: Estimate,
    /// When it is served at the latest if no holder renews; `None` if that cannot be known.
    pub leases_end: Option<LeasesEnd>,
}

/// One reason for which a ticket waits.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// The name is paused.
    Paused {
        /// The reason that the operator gave; it may be empty.
        reason: String,
    },
    /// The store may have forgotten leases, and admits nobody yet.
    Guarded {
        /// For how long.
        left: Duration,
    },
    /// The limit is 0, which admits nobody.
    LimitIsZero {
        /// Whether an operator set it.
        is_pinned: bool,
    },
    /// Nobody listens at the waiter's inbox, so it is passed over until it is heard from.
    Unreachable,
    /// The waiter wants more permits than the limit is now. It is refused when the ledger looks at
    /// it next.
    AboveLimit {
        /// The permits that it wants.
        permits: u32,
        /// The limit in force.
        limit: u32,
    },
    /// The limit was lowered below the number of held permits. Nobody is admitted until enough are
    /// released.
    LimitLowered {
        /// The permits that are held.
        held: u32,
        /// The limit in force.
        limit: u32,
    },
    /// Other waiters stand before it in the line.
    Ahead {
        /// How many.
        waiters: u32,
        /// How many permits they want.
        permits: u64,
        /// The first of them.
        first: Ticket,
    },
    /// Some waiters ahead came later and have a higher priority.
    Overtaken {
        /// How many.
        waiters: u32,
        /// The highest priority among them.
        priority: i8,
    },
    /// Permits are free, but a waiter ahead wants more than are free, and nobody passes it.
    KeptFree {
        /// The waiter for which they are kept.
        ticket: Ticket,
        /// The permits that this waiter wants.
        permits: u32,
        /// The permits that are free.
        free: u32,
    },
    /// A writer ahead waits for readers to leave, and no reader passes it.
    WriterAhead {
        /// The writer.
        ticket: Ticket,
    },
    /// Too few permits are free.
    Held {
        /// Free permits.
        free: u32,
        /// The limit.
        limit: u32,
        /// The holders of the other permits.
        holders: Holders,
    },
    /// It wishes for a slot that another ticket holds.
    SlotHeld {
        /// The name of the slot.
        name: String,
        /// The holder.
        holder: HeldBy,
    },
    /// The slot that it wishes for is free, but goes to a waiter ahead.
    SlotAwaited {
        /// The name of the slot.
        name: String,
        /// The waiter that gets the slot.
        ticket: Ticket,
    },
    /// Readers hold, and the next waiter is a writer.
    ReadersHold {
        /// The readers.
        holders: Holders,
    },
    /// A writer holds.
    WriterHolds {
        /// The writer, unless the snapshot does not list it.
        holders: Holders,
    },
    /// Some holders have not renewed their leases in time. They may be dead, stopped, or cut off
    /// from the store.
    NotRenewed {
        /// These holders, and when their leases end. The first to end comes first.
        holders: Vec<HeldBy>,
    },
    /// Nothing keeps the waiter: the ledger serves it at its next step.
    AboutToBeServed,
}

impl Snapshot {
    /// Says why this ticket waits; `None` if it neither holds nor waits, or is not among the rows
    /// that were asked for.
    #[must_use]
    pub fn why(&self, ticket: &Ticket) -> Option<Why> {
        self.why_after(ticket, &HoldLengths::from(self.recent))
    }

    /// Says why this ticket waits, and estimates by the lengths of `past`. A reader that watches
    /// the name may have seen more holds than the snapshot tells of.
    #[must_use]
    pub fn why_after(&self, ticket: &Ticket, past: &HoldLengths) -> Option<Why> {
        if let Some(row) = self.holders.iter().find(|row| row.ticket == *ticket) {
            return Some(Why::Holds(HeldBy::new(row)));
        }
        let at = self.waiters.iter().position(|row| row.ticket == *ticket)?;
        Some(Why::Waits(waits(self, at, past)))
    }

    /// Estimates how much longer each listed waiter waits, in the order of the line.
    #[must_use]
    pub fn estimates(&self, past: &HoldLengths) -> Vec<Estimate> {
        Estimates::new(self, past).collect()
    }
}

fn waits(seen: &Snapshot, at: usize, past: &HoldLengths) -> Waits {
    let (row, line) = (&seen.waiters[at], AheadOfWaiter::before(seen, at));
    Waits {
        position: u32::try_from(at + 1).unwrap_or(u32::MAX),
        permits: row.permits,
        waiting_for: time(row.waiting_for),
        reasons: reasons(seen, row, &line),
        estimate: Estimates::of(seen, past, at),
        // `LeasesEnd` only counts permits. With named slots it matters which slots come free.
        leases_end: LeasesEnd::new(seen, row, &line).filter(|_| !named::is_by_name(row, &line)),
    }
}

/// Returns the reasons for which a waiter waits, in the order in which people need them.
fn reasons(seen: &Snapshot, row: &WaiterRow, line: &AheadOfWaiter<'_>) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = gates(seen).collect();
    if row.unreachable {
        reasons.push(Reason::Unreachable);
    } else if seen.limit > 0 && row.permits > seen.limit {
        reasons.push(Reason::AboveLimit { permits: row.permits, limit: seen.limit });
    } else if named::is_by_name(row, line) {
        reasons.extend(named::reasons(seen, row, line));
    } else {
        if !line.fits(row) {
            reasons.extend(in_line(row, line));
        }
        reasons.extend(by_holders(seen, row, line));
    }
    if reasons.is_empty() {
        reasons.push(Reason::AboutToBeServed);
    }
    reasons
}

/// Returns the reasons that keep every waiter out, even if no permit is held.
fn gates(seen: &Snapshot) -> impl Iterator<Item = Reason> {
    let paused = seen.paused.clone().map(|reason| Reason::Paused { reason });
    let guarded = seen.guarded_for.map(|left| Reason::Guarded { left: time(left) });
    let zero = Reason::LimitIsZero { is_pinned: seen.pinned.is_some() };
    let lowered = Reason::LimitLowered { held: seen.held, limit: seen.limit };
    let limit = match seen.limit {
        0 => Some(zero),
        limit => (seen.held > limit).then_some(lowered),
    };
    [paused, guarded, limit].into_iter().flatten()
}

/// Returns the reasons that concern the waiters ahead.
fn in_line(row: &WaiterRow, line: &AheadOfWaiter<'_>) -> Vec<Reason> {
    let Some(first) = line.ahead.first() else { return Vec::new() };
    let mut reasons = [Reason::Ahead {
        waiters: count(line.ahead.len()),
        permits: line.ahead.iter().map(|row| u64::from(row.permits)).sum(),
        first: first.ticket,
    }]
    .to_vec();
    let overtook =
        |other: &&&WaiterRow| other.priority > row.priority && other.waiting_for < row.waiting_for;
    let overtaken = line.ahead.iter().filter(overtook);
    if let Some(priority) = overtaken.clone().map(|row| row.priority).max() {
        reasons.push(Reason::Overtaken { waiters: count(overtaken.count()), priority });
    }
    reasons
}

/// Returns the reasons that concern the holders of the missing permits, and the waiters for which
/// the free ones are kept. At a limit of 0 the holders do not matter.
fn by_holders(seen: &Snapshot, row: &WaiterRow, line: &AheadOfWaiter<'_>) -> Vec<Reason> {
    if line.fits(row) || seen.limit == 0 {
        return Vec::new();
    }
    let is_rwlock = seen.kind == Some(Kind::RwLock);
    let kept = line.kept().map(|(kept, free)| match is_rwlock {
        true if kept.permits == MOST_READERS => Reason::WriterAhead { ticket: kept.ticket },
        _ => Reason::KeptFree { ticket: kept.ticket, permits: kept.permits, free },
    });
    let holders = || Holders::new(seen);
    let held = match (seen.held, is_rwlock) {
        (0, _) => None,
        // A writer holds all permits. As many readers, with one each, hold no fewer.
        (MOST_READERS, true) if seen.holders_total == 1 => {
            Some(Reason::WriterHolds { holders: holders() })
        }
        (_, true) => Some(Reason::ReadersHold { holders: holders() }),
        (_, false) => Some(Reason::Held { free: line.free, limit: seen.limit, holders: holders() }),
    };
    kept.into_iter().chain(held).chain(not_renewed(seen)).collect()
}

fn not_renewed(seen: &Snapshot) -> Option<Reason> {
    let all = seen.holders.iter().map(HeldBy::new);
    let mut holders: Vec<_> = all.filter(|held| held.not_renewed_for.is_some()).collect();
    holders.sort_by_key(|held| held.valid_for);
    (!holders.is_empty()).then_some(Reason::NotRenewed { holders })
}

#[cfg(test)]
mod tests;
