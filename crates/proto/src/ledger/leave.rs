//! How tickets leave: released, cancelled, evicted.

use super::{Contacts, Ledger};
use crate::{
    id::Ticket,
    planted::{Bug, planted},
    reply::{Cause, Reply},
    slots::Slots,
    state::{Entry, Past, Standing, State},
    time::Micros,
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    pub(super) fn release(
        &mut self,
        ticket: Ticket,
        some: Option<&Slots>,
    ) -> Result<Reply, S::Error> {
        let Some(entry) = self.state.entry(ticket)? else { return self.not_here(ticket) };
        if let (Some(some), Standing::Holding { .. }) = (some, &entry.standing) {
            return self.release_some(entry, some);
        }
        self.release_all(&entry, Cause::Released)?;
        Ok(Reply::Released { ticket, left: 0 })
    }

    /// Gives back the named slots. Naming them, and not how many, makes it safe to send twice.
    fn release_some(&mut self, mut entry: Entry, some: &Slots) -> Result<Reply, S::Error> {
        let ticket = entry.ticket;
        let Standing::Holding { slots, .. } = &mut entry.standing else {
            return Ok(Reply::Released { ticket, left: entry.permits });
        };
        let freed = slots.take(some);
        if slots.is_empty() {
            slots.extend(&freed);
            self.release_all(&entry, Cause::Released)?;
            return Ok(Reply::Released { ticket, left: 0 });
        }
        entry.permits = entry.permits.saturating_sub(freed.count());
        let left = entry.permits;
        self.state.put_entry(&entry)?;
        self.free(&freed)?;
        self.settle()?;
        Ok(Reply::Released { ticket, left })
    }

    fn release_all(&mut self, entry: &Entry, cause: Cause) -> Result<(), S::Error> {
        self.leave(entry)?;
        self.remember(entry.ticket, cause, entry.ttl)?;
        if planted(Bug::FreesWithoutServing) {
            return Ok(());
        }
        self.settle()
    }

    pub(super) fn cancel(&mut self, ticket: Ticket, remember: Micros) -> Result<Reply, S::Error> {
        if let Some(entry) = self.state.entry(ticket)? {
            self.release_all(&entry, Cause::Cancelled)?;
        } else if self.state.past(ticket)?.is_none() {
            // The request itself may still be on its way (docs/protocol.md, "Cancel before acquire").
            self.remember(ticket, Cause::Cancelled, remember)?;
        }
        Ok(Reply::Cancelled { ticket })
    }

    pub(super) fn evict(&mut self, ticket: Ticket) -> Result<Reply, S::Error> {
        if let Some(entry) = self.state.entry(ticket)? {
            self.end(&entry, Cause::Evicted)?;
            self.settle()?;
            return Ok(Reply::Evicted { ticket });
        }
        Ok(match self.state.past(ticket)? {
            Some(Past { cause: Cause::Evicted, .. }) => Reply::Evicted { ticket },
            _ => Reply::Unknown { ticket },
        })
    }

    fn not_here(&mut self, ticket: Ticket) -> Result<Reply, S::Error> {
        Ok(match self.state.past(ticket)? {
            Some(Past { cause, .. }) => Reply::Ended { ticket, cause },
            None => Reply::Unknown { ticket },
        })
    }

    /// Takes a ticket out of everything it stands in. Where somebody has damaged the rows a count may be too
    /// low; here, too, it stops at 0.
    pub(super) fn leave(&mut self, entry: &Entry) -> Result<(), S::Error> {
        self.state.remove_entry(entry.ticket)?;
        self.part(entry)?;
        match &entry.standing {
            Standing::Holding { slots, .. } => {
                self.head.holders = self.head.holders.saturating_sub(1);
                self.free(slots)
            }
            Standing::Waiting { .. } => {
                self.head.waiting = self.head.waiting.saturating_sub(1);
                Ok(())
            }
        }
    }

    fn free(&mut self, slots: &Slots) -> Result<(), S::Error> {
        self.head.held = self.head.held.saturating_sub(slots.count());
        for &(first, last) in slots.ranges() {
            self.state.push_free_slots(first, last)?;
        }
        Ok(())
    }
}
