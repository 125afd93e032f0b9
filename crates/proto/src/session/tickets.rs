//! The tickets of a session: under which name and lease each is filed, and when the session has to
//! look at it.

use super::{Session, event::Event, lease::LeaseDesk, record::Record, series::SharedLease};
use crate::{
    id::{LeaseId, Ticket},
    name::Name,
    request::Batch,
    time::Micros,
};

impl Session {
    /// Draws a new ticket. Returns the lease that it will stand under, too.
    pub(super) fn draw_ticket(&mut self, name: &Name, ttl: Micros) -> (LeaseId, Ticket) {
        self.desk(name);
        let Self { desks, source, .. } = self;
        let desk = desks.get_mut(name).unwrap_or_else(|| unreachable!("made above"));
        desk.make_room_for_series(ttl);
        let shared =
            desk.shared_leases.get_or_insert_with(ttl, || SharedLease::new(source.lease()));
        let is_full = |of: &LeaseDesk| of.users as usize >= Batch::MOST_UNDER_A_LEASE;
        if desk.leases.get(&shared.lease).is_some_and(|of| is_full(of)) {
            *shared = SharedLease::new(source.lease());
        }
        let ticket = shared.draw(source);
        let lease = shared.lease;
        desk.lease(lease, ttl);
        (lease, ticket)
    }

    pub(super) fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Files a record under its name, with its lease and its alarm.
    pub(super) fn add(&mut self, now: Micros, name: &Name, record: Record) {
        let ticket = record.ticket;
        if let Some(alarm) = record.alarm_at() {
            self.alarms.insert((alarm, ticket));
        }
        let (lease, ttl) = (record.lease, record.want.ttl);
        let desk = self.desk(name);
        desk.lease(lease, ttl).users += 1;
        desk.insert(record);
        self.tickets.insert(ticket, name.clone());
        self.look_at(now, name);
    }

    /// Changes a record, and puts its name on the agenda for now.
    pub(super) fn with(&mut self, now: Micros, ticket: Ticket, change: impl FnOnce(&mut Record)) {
        let Some(name) = self.tickets.get(&ticket).cloned() else { return };
        let desk = self.desk(&name);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        let before = record.alarm_at();
        change(record);
        let after = record.alarm_at();
        desk.refile(ticket);
        self.move_alarm(ticket, before, after);
        self.look_at(now, &name);
    }

    pub(super) fn move_alarm(
        &mut self,
        ticket: Ticket,
        before: Option<Micros>,
        after: Option<Micros>,
    ) {
        if before != after {
            before.map(|at| self.alarms.remove(&(at, ticket)));
            after.map(|at| self.alarms.insert((at, ticket)));
        }
    }

    /// Asks for the permits of a ticket with another ticket. Either a later ticket of the same
    /// series reached the store before this one, or this one's place has lapsed since. Nobody has
    /// ended the ticket, but it cannot be granted any more.
    pub(super) fn renumber(&mut self, now: Micros, name: &Name, ticket: Ticket) {
        let desk = self.desk(name);
        let Some(record) = desk.records.get(&ticket).cloned() else { return };
        self.forget_quietly(name, ticket);
        let (lease, fresh) = self.draw_ticket(name, record.want.ttl);
        self.events.push_back(Event::Renumbered { from: ticket, to: fresh });
        // The new ticket gets a new number, too. With the old one it would be sent before tickets
        // of its series that were drawn earlier, and would overtake them in turn.
        let number = self.next_number();
        self.add(now, name, record.asking_anew(fresh, number, lease));
    }

    /// Removes a ticket from all lists that have it, and plans its name again: a name leaves the
    /// agenda with its last ticket.
    pub(super) fn forget(&mut self, name: &Name, ticket: Ticket) {
        if self.forget_quietly(name, ticket) {
            self.plan(name);
        }
    }

    /// Removes a ticket as `forget` does, but does not plan the name again. Returns whether the
    /// ticket was filed here.
    pub(super) fn forget_quietly(&mut self, name: &Name, ticket: Ticket) -> bool {
        self.tickets.remove(&ticket);
        let Some(record) = self.desk(name).remove(ticket) else { return false };
        if let Some(alarm) = record.alarm_at() {
            self.alarms.remove(&(alarm, ticket));
        }
        true
    }
}
