//! The line before a waiter, and how far the free permits reach into it.

use alloc::vec::Vec;

use crate::snapshot::{Snapshot, WaiterRow};

/// The waiters that are served before a given one.
pub(super) struct AheadOfWaiter<'a> {
    /// These waiters in their order, without those that are passed over because nobody listens at
    /// their inboxes.
    pub(super) ahead: Vec<&'a WaiterRow>,
    pub(super) limit: u32,
    pub(super) free: u32,
}

impl<'a> AheadOfWaiter<'a> {
    /// Returns the line before the waiter in this row.
    pub(super) fn before(seen: &'a Snapshot, at: usize) -> Self {
        let ahead = seen.waiters[..at].iter().filter(|row| !row.unreachable).collect();
        Self { ahead, limit: seen.limit, free: seen.limit.saturating_sub(seen.held) }
    }

    /// Returns the waiters ahead that will take permits. A waiter that wants more than the limit is
    /// now will be refused.
    pub(super) fn takers(&self) -> impl Iterator<Item = &'a WaiterRow> {
        self.ahead.iter().copied().filter(|row| row.permits <= self.limit)
    }

    /// Returns the number of permits that it takes to serve all waiters ahead and then this one.
    pub(super) fn needs(&self, row: &WaiterRow) -> u64 {
        self.takers().map(|row| u64::from(row.permits)).sum::<u64>() + u64::from(row.permits)
    }

    /// Returns whether this waiter is served together with all that are ahead.
    pub(super) fn fits(&self, row: &WaiterRow) -> bool {
        self.needs(row) <= u64::from(self.free)
    }

    /// Returns the waiter ahead at which serving stops although permits are left, and how many are
    /// left.
    pub(super) fn kept(&self) -> Option<(&'a WaiterRow, u32)> {
        let mut left = self.free;
        for row in self.takers() {
            match left.checked_sub(row.permits) {
                Some(rest) => left = rest,
                None => return (left > 0).then_some((row, left)),
            }
        }
        None
    }
}
