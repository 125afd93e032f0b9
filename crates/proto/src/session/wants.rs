//! What the program wants of the session: permits, and an end to them.

use alloc::vec::Vec;

use super::{
    Session,
    event::{AcquireRefusal, Loss, OneOffId, Want},
    record::{Phase, Record, TicketExit},
};
use crate::{
    id::Ticket,
    name::Name,
    planted::{Mistake, planted},
    reply::Cause,
    request::Request,
    slots::Slots,
    time::Micros,
};

impl Session {
    /// Asks for permits. Events about the returned ticket say how it goes.
    pub fn acquire(&mut self, now: Micros, name: &Name, want: Want) -> Ticket {
        let longest = self.config.longest_lease;
        let (lease, ticket) = self.draw_ticket(name, want.ttl.min(longest));
        let number = self.next_number();
        self.add(now, name, Record::asking(ticket, number, lease, want).within(longest));
        ticket
    }

    /// Asks to become the holder of a ticket that another client, or this one, holds or has
    /// detached. If this session holds the ticket, that grant ends at once, and an event says so.
    ///
    /// # Errors
    /// This session itself waits for the ticket or is giving it back.
    pub fn attach(
        &mut self,
        now: Micros,
        name: &Name,
        ticket: Ticket,
        want: Want,
    ) -> Result<(), AcquireRefusal> {
        self.end_before_attach(name, ticket)?;
        let number = self.next_number();
        let longest = self.config.longest_lease;
        // A series of its own, which the ledger remembers as spent: a late copy of this request is
        // then refused.
        let lease = self.source.lease();
        self.add(now, name, Record::attaching(ticket, number, lease, want).within(longest));
        Ok(())
    }

    /// Ends what this session itself has of a ticket that it is to attach to.
    ///
    /// # Errors
    /// The ticket waits here, is being given back, or is one of another name.
    fn end_before_attach(&mut self, to: &Name, ticket: Ticket) -> Result<(), AcquireRefusal> {
        let Some(name) = self.tickets.get(&ticket).cloned() else { return Ok(()) };
        if name != *to {
            return Err(AcquireRefusal::Unknown);
        }
        let Some(record) = self.desk(&name).records.get(&ticket) else { return Ok(()) };
        match (record.phase, record.is_delivered) {
            (Phase::Leaving, _) => return Err(AcquireRefusal::Ended(Cause::Released)),
            (Phase::Held, true) => self.lose(&name, ticket, Loss::Ended(Cause::Attached)),
            _ if record.is_attaching => {
                self.refuse(&name, ticket, AcquireRefusal::Ended(Cause::Attached));
            }
            _ => return Err(AcquireRefusal::Unknown),
        }
        Ok(())
    }

    /// Gives back a ticket's permits, or these slots of them.
    pub fn release(&mut self, now: Micros, ticket: Ticket, slots: Option<Slots>) {
        self.with(now, ticket, |record| record.release(now, slots));
    }

    /// Gives a ticket up, whether it waits or holds.
    pub fn cancel(&mut self, now: Micros, ticket: Ticket) {
        let Some(name) = self.tickets.get(&ticket).cloned() else { return };
        let desk = self.desk(&name);
        // The store cannot know of a ticket about which nothing was sent.
        let is_unsent = desk.records.get(&ticket).is_some_and(|record| record.sent_at.is_none());
        if is_unsent || planted(Mistake::CancelsNothing) {
            self.forget(&name, ticket);
        } else {
            self.with(now, ticket, |record| record.leave(now, TicketExit::Cancel));
        }
    }

    /// Detaches a held ticket. Its lease lasts for its ttl once more, and has no owner until a
    /// client attaches.
    pub fn detach(&mut self, now: Micros, ticket: Ticket) {
        self.with(now, ticket, |record| record.leave(now, TicketExit::Detach));
    }

    /// Sends any other request about a name. With `as_nobody` the request carries no inbox, as an
    /// operator's does. If the request asks a holder to hand over, the session draws the lease that
    /// the ledger puts the ticket under.
    pub fn one_off(
        &mut self,
        now: Micros,
        name: &Name,
        mut request: Request,
        as_nobody: bool,
    ) -> OneOffId {
        if let Request::AskHolder(asked) = &mut request {
            asked.lease = self.source.lease();
        }
        self.last_one_off += 1;
        let id = OneOffId(self.last_one_off);
        self.desk(name).one_offs.push_back((id, request, as_nobody));
        self.look_at(now, name);
        id
    }

    /// Gives back and cancels everything.
    pub fn close(&mut self, now: Micros) {
        let tickets: Vec<Ticket> = self.tickets.keys().copied().collect();
        for ticket in tickets {
            self.cancel(now, ticket);
        }
    }
}
