//! Extending leases.

use alloc::vec::Vec;

use super::{Contact, Contacts, Ledger};
use crate::{
    id::{Inbox, LeaseId, Ticket},
    planted::{Bug, planted},
    reply::{Reply, TicketReply},
    request::{Renew, Whom},
    state::{Entry, Lease, Standing, State},
    time::Micros,
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    pub(super) fn renew(&mut self, renew: &Renew) -> Result<Reply, S::Error> {
        match &renew.whom {
            Whom::All { members, digest } => self.renew_all(renew, *members, *digest),
            Whom::Tickets(tickets) => self.renew_tickets(renew, tickets),
        }
    }

    /// One small call for everything under a lease, if both sides agree on what that is. A lease that
    /// is still here is still counted, so extending it is safe whatever the clock says.
    fn renew_all(&mut self, renew: &Renew, members: u32, digest: u64) -> Result<Reply, S::Error> {
        let Some(lease) = self.state.lease(renew.lease)? else { return Ok(Reply::Gone) };
        let agrees = (lease.members, lease.digest, lease.parked) == (members, digest, 0);
        if !agrees && !planted(Bug::RenewsWhatDiffers) {
            return Ok(Reply::Differs);
        }
        self.extend(lease, renew)?;
        Ok(Reply::Renewed { valid_for: self.renewed_for(renew) })
    }

    fn renew_tickets(&mut self, renew: &Renew, tickets: &[Ticket]) -> Result<Reply, S::Error> {
        let mut replies = Vec::with_capacity(tickets.len());
        for ticket in tickets {
            replies.push(self.renew_ticket(renew, *ticket)?);
        }
        if replies.iter().any(|reply| matches!(reply, TicketReply::Held { .. }))
            && let Some(lease) = self.state.lease(renew.lease)?
        {
            self.extend(lease, renew)?;
        }
        Ok(Reply::Tickets { valid_for: self.renewed_for(renew), tickets: replies })
    }

    fn renew_ticket(&mut self, renew: &Renew, ticket: Ticket) -> Result<TicketReply, S::Error> {
        let Some(entry) = self.state.entry(ticket)? else {
            let past = self.state.past(ticket)?;
            return Ok(past.map_or(TicketReply::Unknown, |past| TicketReply::Ended(past.cause)));
        };
        match entry.standing.clone() {
            Standing::Waiting { .. } => Ok(TicketReply::Waiting),
            Standing::Holding { fence, slots } => {
                self.move_under(entry, renew.lease, renew)?;
                Ok(TicketReply::Held { fence, slots })
            }
        }
    }

    fn move_under(
        &mut self,
        mut entry: Entry,
        lease: LeaseId,
        renew: &Renew,
    ) -> Result<(), S::Error> {
        if entry.lease == lease && entry.inbox == self.asker {
            return Ok(());
        }
        self.part(&entry)?;
        entry.lease = lease;
        entry.inbox = self.asker;
        self.join(&entry, renew.ttl, renew.margin)?;
        self.state.put_entry(&entry)
    }

    fn extend(&mut self, mut lease: Lease, renew: &Renew) -> Result<(), S::Error> {
        lease.inbox = self.asker;
        lease.ttl = renew.ttl;
        lease.ends = self.head.clock + renew.ttl;
        lease.ends_wall = self.now + renew.ttl;
        self.head.bound = self.head.bound.min(renew.margin);
        self.state.put_lease(&lease)
    }

    fn renewed_for(&mut self, renew: &Renew) -> Option<Micros> {
        let asker = self.asker;
        (!self.is_vouched_for(asker)).then_some(renew.ttl)
    }

    /// Whether leases of this client do not run out while its process lives.
    pub(super) fn is_vouched_for(&mut self, inbox: Option<Inbox>) -> bool {
        inbox.is_some_and(|inbox| self.contact(inbox) == Contact::Alive)
    }
}
