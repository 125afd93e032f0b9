//! Reading everything about a name. The ledger settles first, so the answer never shows a lease
//! that has run out.

use alloc::vec::Vec;

use super::{Contacts, Ledger};
use crate::{
    reply::Reply,
    snapshot::{HolderRow, Snapshot, WaiterRow},
    state::{Entry, Standing, State},
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    pub(super) fn inspect(&mut self, rows: u32) -> Result<Reply, S::Error> {
        // Without this, the snapshot would show the limit of a holder that left in this batch.
        self.drop_terms();
        let mut holders = Vec::new();
        for entry in self.state.holders(rows)? {
            holders.extend(self.holder_row(entry)?);
        }
        let waiters = self.state.waiters(rows)?;
        Ok(Reply::Snapshot(Snapshot {
            kind: self.head.kind,
            limit: self.limit(),
            stated: self.head.stated,
            pinned: self.head.pinned,
            slot_names: self.head.names.clone(),
            paused: self.head.paused.clone(),
            guarded_for: self.guarded_for,
            held: self.head.held,
            holders_total: self.head.holders,
            waiting_total: self.head.waiting,
            recent: self.head.recent,
            holders,
            waiters: waiters.into_iter().filter_map(|entry| self.waiter_row(entry)).collect(),
        }))
    }

    fn holder_row(&mut self, entry: Entry) -> Result<Option<HolderRow>, S::Error> {
        let valid_for = self.valid_for(&entry)?;
        let Standing::Holding { fence, slots } = entry.standing else { return Ok(None) };
        Ok(Some(HolderRow {
            ticket: entry.ticket,
            slots,
            fence,
            held_for: self.now.saturating_sub(entry.since),
            valid_for,
            about: entry.about,
        }))
    }

    fn waiter_row(&self, entry: Entry) -> Option<WaiterRow> {
        let Standing::Waiting { priority, wishes, parked, .. } = entry.standing else {
            return None;
        };
        Some(WaiterRow {
            ticket: entry.ticket,
            permits: entry.permits,
            wishes,
            priority,
            waiting_for: self.now.saturating_sub(entry.since),
            unreachable: parked,
            about: entry.about,
        })
    }
}
