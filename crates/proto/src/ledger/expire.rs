//! Expiry: time ends leases, with the tickets under them, and the memory of series.

use super::{Contact, Contacts, Ledger, MOST_MEMORIES};
use crate::{
    id::{LeaseId, Ticket},
    reply::{Cause, What},
    request::DIGEST_MASK,
    state::{Entry, Lease, Memory, Standing, State},
    time::Micros,
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Ends the leases that have run out. The ledger's clock decides, because it cannot jump. If
    /// nobody listens at the inbox of a lease, the store's clock decides as well: there is no
    /// client whom a jump of that clock could hurt (rule 15).
    pub(super) fn expire(&mut self) -> Result<(), S::Error> {
        while let Some(lease) = self.state.first_lease_by_end()? {
            if lease.ends > self.head.clock || !self.has_work() {
                break;
            }
            match lease.inbox.map(|inbox| self.contact(inbox)) {
                Some(Contact::Alive) if self.is_by_living(&lease)? => self.vouch(lease)?,
                _ => self.end_lease(lease.id)?,
            }
        }
        while let Some(lease) = self.state.first_lease_by_wall()? {
            if lease.ends_wall > self.now || !self.has_work() {
                break;
            }
            match lease.inbox.map(|inbox| self.contact(inbox)) {
                Some(Contact::Alive) if self.is_by_living(&lease)? => self.vouch(lease)?,
                Some(Contact::Alive | Contact::Listening) => self.trust(lease)?,
                // A lease without an owner is a detached ticket's: there is no client whom a jump
                // could hurt.
                Some(Contact::Dead | Contact::Silent) | None => self.end_lease(lease.id)?,
            }
        }
        Ok(())
    }

    /// Returns whether a living process is enough to keep this lease. It is enough for a holder
    /// that the store has heard from since the grant. A waiter must renew, and so must a holder
    /// that has sent nothing since the grant (its ttl is 0). Otherwise a stopped process would hold
    /// up everybody behind it.
    fn is_by_living(&mut self, lease: &Lease) -> Result<bool, S::Error> {
        if lease.ttl == 0 {
            return Ok(false);
        }
        let first = self.state.first_member(lease.id)?;
        Ok(first.is_some_and(|entry| matches!(entry.standing, Standing::Holding { .. })))
    }

    /// Renews a lease whose holder lives, as the kernel says.
    fn vouch(&mut self, mut lease: Lease) -> Result<(), S::Error> {
        lease.ends = self.head.clock + lease.ttl;
        lease.ends_wall = self.now + lease.ttl;
        self.state.put_lease(&lease)
    }

    /// Lets only the ledger's clock end a lease whose holder listens.
    fn trust(&mut self, mut lease: Lease) -> Result<(), S::Error> {
        // The end moves by at least 1. Otherwise this very loop would find the lease again.
        lease.ends_wall = self.now + lease.ends.saturating_sub(self.head.clock).max(1);
        self.state.put_lease(&lease)
    }

    /// Ends all tickets under a lease, as far as the work of this call allows. A damaged lease with
    /// no ticket under it is removed, because it would come up again in every call.
    fn end_lease(&mut self, lease: LeaseId) -> Result<(), S::Error> {
        let mut first = self.state.first_member(lease)?;
        if first.is_none() {
            return self.state.remove_lease(lease);
        }
        while let Some(entry) = first {
            if !self.has_work() {
                return Ok(());
            }
            self.end(&entry, Cause::Expired)?;
            first = self.state.first_member(lease)?;
        }
        Ok(())
    }

    /// Ends one ticket: its permits are free, or its place is gone. A holder is told, and its
    /// ticket is remembered. A waiter whose place has only run out is not remembered: it may ask
    /// again with the same ticket, and then stands at the end of the line.
    pub(super) fn end(&mut self, entry: &Entry, cause: Cause) -> Result<(), S::Error> {
        let holds = matches!(entry.standing, Standing::Holding { .. });
        self.leave(entry)?;
        if holds || cause != Cause::Expired {
            self.close(entry, cause)?;
            self.wake(entry, What::Ended(cause));
        }
        Ok(())
    }

    /// Notes a grant in the memory of the ticket's series: a grant, too, raises the highest number
    /// that is remembered (rule 9).
    pub(super) fn open(&mut self, entry: &Entry) -> Result<(), S::Error> {
        self.raise(entry.ticket, entry.ttl, |memory| memory.open += 1)
    }

    /// Notes that a ticket which held or waited is over, so that a late copy of its request is
    /// refused (rule 9).
    pub(super) fn close(&mut self, entry: &Entry, cause: Cause) -> Result<(), S::Error> {
        let held = u32::from(matches!(entry.standing, Standing::Holding { .. }));
        self.raise(entry.ticket, entry.ttl, |memory| {
            memory.open = memory.open.saturating_sub(held);
            memory.note(entry.ticket.number(), cause);
        })
    }

    /// Raises the highest number of a series (rule 9). No ticket of the series up to this number is
    /// granted any more, for at least one ttl and for as long as any permit of the series is held.
    pub(super) fn raise(
        &mut self,
        ticket: Ticket,
        ttl: Micros,
        change: impl FnOnce(&mut Memory),
    ) -> Result<(), S::Error> {
        let series = ticket.series();
        let known = self.state.memory(series)?;
        if known.is_none() {
            self.head.past += 1;
        }
        let mut memory = known.unwrap_or_else(|| Memory::new(series));
        memory.last = memory.last.max(ticket.number());
        memory.until = memory.until.max(self.head.clock + ttl);
        change(&mut memory);
        self.state.put_memory(&memory)
    }

    /// Returns why a ticket that neither holds nor waits is over; `None` if it may still come.
    pub(super) fn over(&mut self, ticket: Ticket) -> Result<Option<Cause>, S::Error> {
        let memory = self.state.memory(ticket.series())?;
        Ok(memory.and_then(|memory| memory.cause(ticket.number())))
    }

    /// Forgets the series whose time is over, and the oldest ones if there are too many.
    pub(super) fn forget(&mut self) -> Result<(), S::Error> {
        while let Some(memory) = self.state.first_memory()? {
            let due = memory.until <= self.head.clock || self.head.past > MOST_MEMORIES;
            if !due || !self.has_work() {
                break;
            }
            self.head.past = self.head.past.saturating_sub(1);
            self.state.remove_memory(memory.series)?;
        }
        Ok(())
    }

    /// Puts a ticket under a lease. A lease that exists keeps its end, because a grant does not
    /// renew the other tickets under it. A lease that does not exist is made.
    pub(super) fn join(
        &mut self,
        entry: &Entry,
        ttl: Micros,
        margin: Micros,
    ) -> Result<Lease, S::Error> {
        let mut lease = match self.state.lease(entry.lease)? {
            Some(lease) => lease,
            None => Lease {
                id: entry.lease,
                inbox: entry.inbox,
                ttl,
                ends: self.head.clock + ttl,
                ends_wall: self.now + ttl,
                members: 0,
                digest: 0,
                parked: 0,
            },
        };
        lease.members += 1;
        lease.digest = (lease.digest + entry.ticket.digest()) & DIGEST_MASK;
        // The client relies on the fact that the ledger's clock never advances by more in one step
        // (rule 15).
        self.head.bound = self.head.bound.min(margin);
        self.state.put_lease(&lease)?;
        Ok(lease)
    }

    /// Takes a ticket from under its lease. The lease goes with its last ticket.
    pub(super) fn part(&mut self, entry: &Entry) -> Result<(), S::Error> {
        let Some(mut lease) = self.state.lease(entry.lease)? else { return Ok(()) };
        lease.members = lease.members.saturating_sub(1);
        lease.digest = lease.digest.wrapping_sub(entry.ticket.digest()) & DIGEST_MASK;
        if entry.is_parked() {
            lease.parked = lease.parked.saturating_sub(1);
        }
        if lease.members == 0 {
            return self.state.remove_lease(lease.id);
        }
        self.state.put_lease(&lease)
    }
}

impl Entry {
    /// Returns whether the entry is a waiter that is passed over.
    #[must_use]
    pub fn is_parked(&self) -> bool {
        matches!(self.standing, Standing::Waiting { parked: true, .. })
    }
}
