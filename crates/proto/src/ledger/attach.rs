//! Changes of hands: another client attaches to a ticket, or its holder detaches it.

use super::{Contacts, Ledger};
use crate::{
    id::{Fence, LeaseId, Ticket},
    reply::{Cause, Reply, What},
    request::Attach,
    state::{Entry, Standing, State},
    time::Micros,
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Makes the sender the holder of a ticket that holds (rule 20).
    pub(super) fn attach(&mut self, want: &Attach) -> Result<Reply, S::Error> {
        let ticket = want.ticket;
        if want.not_after.is_some_and(|not_after| self.now > not_after) {
            return Ok(Reply::TooLate { ticket }); // rule 16
        }
        let Some(entry) = self.state.entry(ticket)? else { return self.not_here(ticket) };
        if matches!(entry.standing, Standing::Waiting { .. }) {
            return Ok(Reply::Unknown { ticket });
        }
        if entry.lease == want.lease && entry.inbox == self.asker {
            return self.told(&entry); // a repetition of this attach (rule 9)
        }
        // The lease is checked only now: an attach that was executed has spent its lease, and its
        // repetition was answered above.
        if let Some(cause) = self.over(want.lease.as_ticket())? {
            return Ok(Reply::Ended { ticket, cause });
        }
        self.hand_over(entry, want)
    }

    /// Grants the ticket to the new holder (rule 20). An attach is a grant of its own: it ends the
    /// grant before it, and the former holder is told.
    fn hand_over(&mut self, before: Entry, want: &Attach) -> Result<Reply, S::Error> {
        self.part(&before)?;
        self.spend(want)?;
        let mut entry = Entry {
            lease: want.lease,
            inbox: self.asker,
            ttl: want.ttl,
            since: self.now,
            about: want.about.clone(),
            ..before.clone()
        };
        if let Standing::Holding { fence, .. } = &mut entry.standing {
            *fence = self.next_fence();
        }
        self.join(&entry, want.ttl, want.margin)?;
        self.state.put_entry(&entry)?;
        if before.inbox != self.asker {
            self.wake(&before, What::Ended(Cause::Attached));
        }
        self.told(&entry)
    }

    /// Remembers the lease of an attach in the way of a ticket that is over, so that a late copy of
    /// this request cannot take the ticket back from the client that attaches next. A client draws
    /// a new lease for each attach, with a series of its own.
    fn spend(&mut self, want: &Attach) -> Result<(), S::Error> {
        let spent = want.lease.as_ticket();
        if self.state.entry(spent)?.is_some() {
            return Ok(()); // A ticket of this number is here. No client of ours draws a number twice.
        }
        self.raise(spent, want.ttl, |memory| memory.note(spent.number(), Cause::Attached))
    }

    /// Leaves a ticket of the sender's without an owner, under a lease of its own.
    pub(super) fn detach(
        &mut self,
        ticket: Ticket,
        fence: Fence,
        ttl: Micros,
        margin: Micros,
    ) -> Result<Reply, S::Error> {
        let Some(entry) = self.state.entry(ticket)? else { return self.not_here(ticket) };
        let Standing::Holding { fence: granted, .. } = entry.standing else {
            return Ok(Reply::Unknown { ticket });
        };
        // Each attach is a grant of its own. A late copy of a detach must not take the ticket from
        // a client that has since attached to it again and believes that it holds the ticket.
        let is_late = granted > fence;
        // A ticket without an owner is detached already. A repeated request gets the same answer
        // (rule 9).
        if is_late || entry.inbox.is_some() && entry.inbox != self.asker {
            return Ok(Reply::Ended { ticket, cause: Cause::Attached });
        }
        self.move_under(entry, LeaseId::from(ticket), None, ttl, margin)?;
        // A lease that was there keeps its end when a ticket joins it, so it is extended here.
        if let Some(lease) = self.state.lease(LeaseId::from(ticket))? {
            self.extend(lease, ttl, margin, None)?;
        }
        Ok(Reply::Renewed { valid_for: Some(ttl) })
    }
}
