//! The line played through: who gets permits when, if holds take as long as they usually do.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use super::count;
use crate::{
    hold_times::HoldLengths,
    snapshot::{HolderRow, Snapshot},
    time::Micros,
};

/// A game of the line, in which waiters are served one after the other.
pub(super) struct LineGame<'a> {
    past: &'a HoldLengths,
    /// How many holds were taken to be like one that was seen.
    turn: u32,
    /// When permits come back, how many, and whether that is a guess.
    ends: BinaryHeap<Reverse<(Micros, u32, bool)>>,
    free: i64,
    now: Micros,
    /// What was said so far rests on a guess, and not only on the ends of leases that are not
    /// renewed.
    is_by_holds: bool,
    /// Somebody waits for permits of holders that are not listed.
    is_stuck: bool,
}

impl<'a> LineGame<'a> {
    /// Goes by holds that have ended. If there are none, nobody knows when a holder ends that
    /// renews its lease.
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

    /// Whether somebody who was served so far waited for more than leases that are not renewed.
    pub(super) fn is_by_holds(&self) -> bool {
        self.is_by_holds
    }

    /// Serves the next in line, and says when that is.
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
        // Whoever is served holds in turn, and those behind it wait for its end.
        let hold = self.past.one(self.turn).unwrap_or(Micros::MAX);
        self.turn += 1;
        self.free -= i64::from(permits);
        self.ends.push(Reverse((self.now.saturating_add(hold), permits, true)));
        (!self.is_stuck).then_some(self.now)
    }
}

/// How long a holder will hold yet, and whether that is a guess. One that does not renew holds
/// until its lease ends. One that has held longer than all others is taken to have two thirds of
/// its time behind it.
fn left(row: &HolderRow, past: &HoldLengths, turn: u32) -> (Micros, bool) {
    match (row.not_renewed_for(), row.valid_for) {
        (Some(_), Some(left)) => (left, false),
        _ if past.count() == 0 => (Micros::MAX, true),
        _ => (past.rest(row.held_for, turn).unwrap_or(row.held_for / 2), true),
    }
}
