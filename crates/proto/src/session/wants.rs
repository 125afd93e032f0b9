//! The calls of the program to the session: asking for permits, and ending them.

use alloc::vec::Vec;

use super::{
    Session,
    event::{AcquireRefusal, Loss, OneOffId, Want},
    record::{Phase, Record, TicketExit},
};
use crate::{id::Ticket, name::Name, reply::Cause, request::Request, slots::Slots, time::Micros};

impl Session {
    /// Asks for permits. Events about the returned ticket tell the outcome.
    pub fn acquire(&mut self, now: Micros, name: &Name, want: Want) -> Ticket {
        let longest = self.config.longest_lease;
        let (lease, ticket) = self.draw_ticket(name, want.ttl.min(longest));
        let number = self.next_number();
        self.add(now, name, Record::asking(ticket, number, lease, want).within(longest));
        ticket
    }

    /// Asks to become the holder of a ticket that another client holds, that was detached, or that
    /// this session holds. If this session holds the ticket, that grant ends at once, and an event
    /// says so.
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
        // The lease has a series of its own, which the ledger remembers as spent. So the ledger
        // refuses a late copy of this request.
        let lease = self.source.lease();
        self.add(now, name, Record::attaching(ticket, number, lease, want).within(longest));
        Ok(())
    }

    /// Ends this session's own hold of a ticket to which it is about to attach.
    ///
    /// # Errors
    /// The ticket waits here, is being given back, or belongs to another name.
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

    /// Gives back a ticket's permits, or only these slots of it.
    pub fn release(&mut self, now: Micros, ticket: Ticket, slots: Option<Slots>) {
        self.with(now, ticket, |record| record.release(now, slots));
    }

    /// Gives a ticket up, whether it waits or holds.
    pub fn cancel(&mut self, now: Micros, ticket: Ticket) {
        let Some(name) = self.tickets.get(&ticket).cloned() else { return };
        let desk = self.desk(&name);
        // The store cannot know of a ticket about which nothing was sent.
        let is_unsent = desk.records.get(&ticket).is_some_and(|record| record.sent_at.is_none());
        if is_unsent {
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

    /// Sends a request of any other kind about a name. With `as_nobody` the request carries no
    /// inbox, like an operator's.
    pub fn one_off(
        &mut self,
        now: Micros,
        name: &Name,
        request: Request,
        as_nobody: bool,
    ) -> OneOffId {
        self.last_one_off += 1;
        let id = OneOffId(self.last_one_off);
        self.desk(name).one_offs.push_back((id, request, as_nobody));
        self.look_at(now, name);
        id
    }

    /// Gives back all permits and cancels all waiting requests.
    pub fn close(&mut self, now: Micros) {
        let tickets: Vec<Ticket> = self.tickets.keys().copied().collect();
        for ticket in tickets {
            self.cancel(now, ticket);
        }
    }
}
