//! Extending leases.

use alloc::vec::Vec;

use super::{Contact, Contacts, Ledger};
use crate::{
    id::{Inbox, LeaseId, Ticket},
    reply::{Cause, Reply, TicketReply},
    request::{Renew, Whom},
    state::{Entry, Lease, Standing, State},
    time::{Micros, margin as margin_of},
};

/// The result of a renewal by ticket, as far as it concerns held tickets.
#[derive(Default)]
struct FoundHeld {
    /// At least one ticket stands under the lease of the renewal now.
    is_moved: bool,
    /// The shortest time for which a ticket of another client is still held.
    least_kept: Option<Option<Micros>>,
    /// The longest ttl with which a ticket of the sender's was acquired.
    ttl: Micros,
}

/// Returns the shorter of two times; `None` is a time without end.
fn sooner(a: Option<Micros>, b: Option<Micros>) -> Option<Micros> {
    [a, b].into_iter().flatten().min()
}

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    pub(super) fn renew(&mut self, renew: &Renew) -> Result<Reply, S::Error> {
        match &renew.whom {
            Whom::All { members, digest } => self.renew_all(renew, *members, *digest),
            Whom::Tickets(tickets) => self.renew_tickets(renew, tickets),
        }
    }

    /// Renews all tickets under a lease at once, if client and store agree on which these are. A
    /// lease that is still stored is still counted against the limit, so extending it is safe
    /// whatever the clock says.
    fn renew_all(&mut self, renew: &Renew, members: u32, digest: u64) -> Result<Reply, S::Error> {
        let Some(lease) = self.state.lease(renew.lease)? else { return Ok(Reply::Gone) };
        // A parked waiter counts as a difference, too: the renewal shows that its client listens,
        // but only a request of its own puts it back into the order of service.
        let agrees = (lease.members, lease.digest, lease.parked) == (members, digest, 0);
        if !agrees || lease.inbox != self.asker {
            return Ok(Reply::Differs);
        }
        self.extend(lease, renew.ttl, renew.margin, self.asker)?;
        let valid_for = self.renewed_for(renew.ttl);
        match self.state.first_member(renew.lease)? {
            Some(waiter) if renew.lease.is_place() => {
                Ok(Reply::Waits { valid_for, position: self.state.position(&waiter)? })
            }
            _ => Ok(Reply::Renewed { valid_for }),
        }
    }

    /// Renews held tickets by name, and moves them under the lease of the renewal.
    fn renew_tickets(&mut self, renew: &Renew, tickets: &[Ticket]) -> Result<Reply, S::Error> {
        let mut replies = Vec::with_capacity(tickets.len());
        let mut held = FoundHeld::default();
        let (mut ttl, mut margin) = (renew.ttl, renew.margin);
        for ticket in tickets {
            replies.push(self.renew_ticket(renew, *ticket, &mut held)?);
        }
        if held.is_moved
            && let Some(lease) = self.state.lease(renew.lease)?
        {
            if renew.ttl == 0 {
                (ttl, margin) = (held.ttl, margin_of(held.ttl));
                ttl = ttl.max(lease.ends.saturating_sub(self.head.clock));
            }
            self.extend(lease, ttl, margin, self.asker)?;
        }
        let renewed = self.renewed_for(ttl);
        let least = if held.is_moved { renewed } else { None };
        // The answer must not promise more than the time left of a ticket that another client
        // keeps.
        let valid_for = match held.least_kept {
            Some(kept) => sooner(least, kept),
            None => renewed,
        };
        Ok(Reply::Tickets { valid_for, tickets: replies })
    }

    fn renew_ticket(
        &mut self,
        renew: &Renew,
        ticket: Ticket,
        held: &mut FoundHeld,
    ) -> Result<TicketReply, S::Error> {
        let Some(entry) = self.state.entry(ticket)? else {
            let cause = self.over(ticket)?;
            return Ok(cause.map_or(TicketReply::Unknown, TicketReply::Ended));
        };
        let Standing::Holding { fence, slots } = entry.standing.clone() else {
            return Ok(TicketReply::Waiting);
        };
        if entry.inbox == self.asker {
            held.is_moved = true;
            held.ttl = held.ttl.max(entry.ttl);
            let (ttl, margin) = match renew.ttl {
                0 => (entry.ttl, margin_of(entry.ttl)),
                ttl => (ttl, renew.margin),
            };
            self.move_under(entry, renew.lease, self.asker, ttl, margin)?;
        } else if self.asker.is_some() {
            return Ok(TicketReply::Ended(Cause::Attached));
        } else {
            // The client that keeps this ticket renews its lease itself, at its own pace (rule 3).
            let kept = self.valid_for(&entry)?;
            held.least_kept = Some(held.least_kept.map_or(kept, |least| sooner(least, kept)));
        }
        let names = self.head.names.of(&slots);
        Ok(TicketReply::Held { fence, slots, names })
    }

    /// Puts a ticket under another lease, or gives it to another client.
    pub(super) fn move_under(
        &mut self,
        mut entry: Entry,
        lease: LeaseId,
        inbox: Option<Inbox>,
        ttl: Micros,
        margin: Micros,
    ) -> Result<(), S::Error> {
        if entry.lease == lease && entry.inbox == inbox {
            return Ok(());
        }
        self.part(&entry)?;
        entry.lease = lease;
        entry.inbox = inbox;
        self.join(&entry, ttl, margin)?;
        self.state.put_entry(&entry)
    }

    /// Makes a lease last for `ttl` from now. The head's clock may from now on advance by no more
    /// than `margin` in one step (rule 15).
    pub(super) fn extend(
        &mut self,
        mut lease: Lease,
        ttl: Micros,
        margin: Micros,
        inbox: Option<Inbox>,
    ) -> Result<(), S::Error> {
        lease.inbox = inbox;
        lease.ttl = ttl;
        lease.ends = self.head.clock + ttl;
        lease.ends_wall = self.now + ttl;
        self.head.bound = self.head.bound.min(margin);
        self.state.put_lease(&lease)
    }

    fn renewed_for(&mut self, ttl: Micros) -> Option<Micros> {
        let asker = self.asker;
        (!self.is_vouched_for(asker)).then_some(ttl)
    }

    /// Returns whether the kernel vouches for this client, so that its leases last as long as its
    /// process.
    pub(super) fn is_vouched_for(&mut self, inbox: Option<Inbox>) -> bool {
        inbox.is_some_and(|inbox| self.contact(inbox) == Contact::Alive)
    }
}
