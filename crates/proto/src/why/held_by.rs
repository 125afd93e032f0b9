//! The holders that a waiter waits for.

use alloc::vec::Vec;
use core::time::Duration;

use crate::{
    id::Ticket,
    snapshot::{HolderRow, Snapshot},
    time::Micros,
};

/// A ticket that holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct HeldBy {
    /// The ticket.
    pub ticket: Ticket,
    /// The number of permits that it holds.
    pub permits: u32,
    /// How long it has held them.
    pub held_for: Duration,
    /// How long its lease lasts without renewal; `None`: for as long as its process lives.
    pub valid_for: Option<Duration>,
    /// How long ago its lease was renewed, if a holder that lives would have renewed it since.
    pub not_renewed_for: Option<Duration>,
}

/// The holders that a waiter waits for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Holders {
    /// The holders that the snapshot lists, in order of their grants.
    pub listed: Vec<HeldBy>,
    /// The number of holders that the snapshot does not list.
    pub others: u32,
}

impl HeldBy {
    pub(super) fn new(row: &HolderRow) -> Self {
        Self {
            ticket: row.ticket,
            permits: row.slots.count(),
            held_for: time(row.held_for),
            valid_for: row.valid_for.map(time),
            not_renewed_for: row.not_renewed_for().map(time),
        }
    }
}

impl Holders {
    pub(super) fn new(seen: &Snapshot) -> Self {
        let listed: Vec<_> = seen.holders.iter().map(HeldBy::new).collect();
        let others = seen.holders_total.saturating_sub(count(listed.len()));
        Self { listed, others }
    }
}

pub(super) fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

pub(super) fn time(micros: Micros) -> Duration {
    Duration::from_micros(micros)
}
