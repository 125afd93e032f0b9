//! Simulates the line: which waiter gets permits when, if holds take as long as they usually do.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use super::count;
use crate::{
    hold_times::HoldLengths,
    snapshot::{HolderRow, Snapshot},
    time::Micros,
};

/// A simulation of the line, in which waiters are served one after the other.
pub(super) struct LineGame<'a> {
    past: &'a HoldLengths,
    /// The number of lengths that were taken from holds already seen.
    turn: u32,
    /// When permits come back, how many, and whether that time is a guess.
    ends: BinaryHeap<Reverse<(Micros, u32, bool)>>,
    free: i64,
    now: Micros,
    /// Some time returned so far rests on a guess, and not only on the ends of leases that are not
    /// renewed.
    is_by_holds: bool,
    /// A waiter waits for permits of holders that are not listed.
    is_stuck: bool,
}

impl<'a> LineGame<'a> {
    /// Starts a simulation by the lengths of holds that have ended. If there are none, nobody knows
    /// when a holder ends that renews its lease.
    pub(super) fn new(seen: &Snapshot, past: &'a HoldLengths) -> Self {
        let ends = seen.holders.iter().zip(0..).map(|(row, turn)| {
            let (end, is_by_holds) = left(row, past, turn);
            Reverse((end, row.slots.count(), is_by_holds))
        });
        Self {
            past,
            turn: count(seen.holders.len()),
            ends: ends.collect(),
            free: i64::from(seen.limit) - i64::from(seen.held),
            now: 0,
            is_by_holds: false,
            is_stuck: false,
        }
    }

    /// Returns whether a waiter served so far waited for more than leases that are not renewed.
    pub(super) fn is_by_holds(&self) -> bool {
        self.is_by_holds
    }

    /// Serves the next waiter in line, and returns when that is.
    pub(super) fn serve(&mut self, permits: u32) -> Option<Micros> {
        while !self.is_stuck && self.free < i64::from(permits) {
            match self.ends.pop() {
                Some(Reverse((end, permits, is_by_holds))) => {
                    self.now = end;
                    self.is_by_holds |= is_by_holds;
                    self.free += i64::from(permits);
                }
                None => self.is_stuck = true,
            }
        }
        // Each waiter that is served becomes a holder in turn, and the waiters behind it wait for
        // the end of its hold.
        let hold = self.past.one(self.turn).unwrap_or(Micros::MAX);
        self.turn += 1;
        self.free -= i64::from(permits);
        self.ends.push(Reverse((self.now.saturating_add(hold), permits, true)));
        (!self.is_stuck).then_some(self.now)
    }
}

/// Returns how much longer a holder will hold, and whether that is a guess. A holder that does not
/// renew its lease holds until the lease ends. A holder that has held longer than all others is
/// assumed to have spent two thirds of its time.
fn left(row: &HolderRow, past: &HoldLengths, turn: u32) -> (Micros, bool) {
    match (row.not_renewed_for(), row.valid_for) {
        (Some(_), Some(left)) => (left, false),
        _ if past.count() == 0 => (Micros::MAX, true),
        _ => (past.rest(row.held_for, turn).unwrap_or(row.held_for / 2), true),
    }
}
