//! Requests that end tickets: release, cancel and evict.

use super::{Contacts, Ledger};
use crate::{
    id::{LeaseId, Ticket},
    reply::{Cause, Reply, What},
    slots::Slots,
    state::{Entry, Standing, State},
    time::Micros,
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Gives back a ticket's permits, or some of its slots.
    pub(super) fn release(
        &mut self,
        ticket: Ticket,
        some: Option<&Slots>,
    ) -> Result<Reply, S::Error> {
        let Some(entry) = self.state.entry(ticket)? else { return self.not_here(ticket) };
        if !self.may_end(&entry) {
            return Ok(Reply::Ended { ticket, cause: Cause::Attached });
        }
        if let (Some(some), Standing::Holding { .. }) = (some, &entry.standing)
            && entry.inbox == self.asker
        {
            return self.release_some(entry, some);
        }
        // A waiter has no slots yet, and an operator gives back whole tickets only.
        self.release_all(&entry, Cause::Released)?;
        Ok(Reply::Released { ticket, left: 0 })
    }

    /// Gives back the named slots. The request names slots and not a number of them, so that
    /// sending it twice is safe.
    fn release_some(&mut self, mut entry: Entry, some: &Slots) -> Result<Reply, S::Error> {
        let ticket = entry.ticket;
        let Standing::Holding { slots, .. } = &mut entry.standing else {
            return Ok(Reply::Released { ticket, left: entry.permits });
        };
        let freed = slots.take(some);
        if slots.is_empty() {
            // The request names all slots that are left. `release_all` frees the slots that the
            // entry has.
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

    /// Ends a ticket and tells its holder, if another client gave it back (rule 20).
    fn release_all(&mut self, entry: &Entry, cause: Cause) -> Result<(), S::Error> {
        if cause == Cause::Released {
            self.note_length(entry);
        }
        self.leave(entry)?;
        self.close(entry, cause)?;
        if entry.inbox != self.asker {
            self.wake(entry, What::Ended(cause));
        }
        self.settle()
    }

    /// Notes how long a hold took that was given back. Every other end says nothing of how long
    /// holds take. An expiry comes when the lease is over, and an eviction when an operator wants
    /// it. After a cancel nobody may have known of the hold, and a ticket that changes hands goes
    /// on.
    fn note_length(&mut self, entry: &Entry) {
        if matches!(entry.standing, Standing::Holding { .. }) {
            self.head.recent = self.head.recent.with(self.now.saturating_sub(entry.since));
        }
    }

    /// Returns whether the sender may end this entry (rule 14). A client ends its own grants only.
    /// A request without an inbox comes from an operator, who may end any grant.
    fn may_end(&self, entry: &Entry) -> bool {
        let is_place = matches!(entry.standing, Standing::Waiting { .. });
        is_place || self.asker.is_none() || entry.inbox == self.asker
    }

    /// Ends a ticket of the sender's, and refuses it from now on.
    pub(super) fn cancel(
        &mut self,
        ticket: Ticket,
        remember: Micros,
        attach: Option<LeaseId>,
    ) -> Result<Reply, S::Error> {
        let entry = self.state.entry(ticket)?;
        // With `attach`, the client gives up an attach whose outcome it does not know. If the
        // ticket stands under another lease, that attach has not happened, and the ticket is not
        // touched.
        let is_given_up =
            |entry: &Entry| self.may_end(entry) && attach.is_none_or(|lease| entry.lease == lease);
        match entry.filter(is_given_up) {
            Some(entry) => self.release_all(&entry, Cause::Cancelled)?,
            // The request itself may still be on its way (docs/internals/protocol.md, "Cancel
            // before acquire").
            None => self.refuse_later(attach.map_or(ticket, LeaseId::as_ticket), remember)?,
        }
        Ok(Reply::Cancelled { ticket })
    }

    /// Refuses a request for this ticket that comes later. The time of remembering starts now, even
    /// if the ticket was remembered before: a copy of its request may be as young as this cancel.
    fn refuse_later(&mut self, ticket: Ticket, remember: Micros) -> Result<(), S::Error> {
        // A ticket that is still here is another client's by now. The ledger cannot also note it as
        // over.
        if self.state.entry(ticket)?.is_some() {
            return Ok(());
        }
        // The first cause stays, so that the ledger tells how the ticket ended, and not that it was
        // cancelled afterwards.
        let is_over = self.over(ticket)?.is_some();
        self.raise(ticket, remember, |memory| {
            if !is_over {
                memory.note(ticket.number(), Cause::Cancelled);
            }
        })
    }

    /// Ends the lease or the place of any client. A repeated evict finds the ticket evicted
    /// already, and has the same answer.
    pub(super) fn evict(&mut self, ticket: Ticket) -> Result<Reply, S::Error> {
        if let Some(entry) = self.state.entry(ticket)? {
            self.end(&entry, Cause::Evicted)?;
            self.settle()?;
            return Ok(Reply::Evicted { ticket });
        }
        Ok(match self.over(ticket)? {
            Some(Cause::Evicted) => Reply::Evicted { ticket },
            _ => Reply::Unknown { ticket },
        })
    }

    /// Returns the answer about a ticket that neither holds nor waits.
    pub(super) fn not_here(&mut self, ticket: Ticket) -> Result<Reply, S::Error> {
        Ok(match self.over(ticket)? {
            Some(cause) => Reply::Ended { ticket, cause },
            None => Reply::Unknown { ticket },
        })
    }

    /// Takes a ticket out of every list and count that has it. Counts stop at 0, because they may
    /// be too low if somebody has damaged the rows of a store.
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
