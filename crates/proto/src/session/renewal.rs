//! What renewals tell.

use super::answer::Heard;
use super::{
    Session,
    desk::LeaseDesk,
    event::{Loss, Refusal},
    record::Phase,
};
use crate::{
    id::{LeaseId, Ticket},
    name::Name,
    reply::{Cause, TicketReply},
    request::Batch,
    time::Micros,
};

/// The most tickets under one lease that is renewed ticket by ticket: half a batch of renewals.
pub(super) const MOST_MOVED: usize = Batch::MOST / 2 * Batch::MOST_TICKETS;

impl Session {
    pub(super) fn lease_is_renewed(
        &mut self,
        heard: Heard<'_>,
        lease: LeaseId,
        tickets: &[Ticket],
        valid_for: Option<Micros>,
    ) {
        self.schedule_renewal(heard.sent_at, heard.name, lease);
        for &ticket in tickets {
            self.believe_again(heard, ticket, valid_for);
        }
    }

    pub(super) fn tickets_are_renewed(
        &mut self,
        heard: Heard<'_>,
        lease: LeaseId,
        tickets: &[Ticket],
        found: &[TicketReply],
        valid_for: Option<Micros>,
    ) {
        self.schedule_renewal(heard.sent_at, heard.name, lease);
        for (&ticket, found) in tickets.iter().zip(found) {
            match found {
                TicketReply::Held { .. } => {
                    self.believe_again(heard, ticket, valid_for);
                }
                TicketReply::Ended(cause) => {
                    self.take_loss(heard.name, ticket, Loss::Ended(*cause));
                }
                _ => self.take_loss(heard.name, ticket, Loss::Forgotten),
            }
        }
    }

    fn take_loss(&mut self, name: &Name, ticket: Ticket, loss: Loss) {
        let Some(record) = self.desk(name).records.get(&ticket) else { return };
        match (record.phase, record.is_delivered) {
            (Phase::Held, true) => self.lose(name, ticket, loss),
            (Phase::Held, false) => {
                self.refuse(name, ticket, Refusal::Ended(Cause::Expired));
            }
            _ => {}
        }
    }

    /// Both sides disagree on what stands under a lease. What we hold moves under a new one, ticket by
    /// ticket; what we know nothing of stays behind under the old one, which is not renewed any more.
    pub(super) fn renew_by_ticket(&mut self, now: Micros, name: &Name, lease: LeaseId) {
        let held = self.desk(name).leases.get(&lease).map_or(0, |old| old.held.len());
        for _ in 0..held.div_ceil(MOST_MOVED) {
            let fresh = self.source.lease();
            self.move_some(now, name, lease, fresh);
        }
        self.desk(name).leases.retain(|_, lease| lease.users > 0);
    }

    /// Moves as many held tickets to a new lease as one call can renew.
    fn move_some(&mut self, now: Micros, name: &Name, lease: LeaseId, fresh: LeaseId) {
        let desk = self.desk(name);
        let Some(old) = desk.leases.get_mut(&lease) else { return };
        let mut new = LeaseDesk::new(old.ttl);
        (new.base, new.handed) = (old.base, old.handed);
        new.by_ticket = true;
        new.due = Some(now);
        while new.held.len() < MOST_MOVED
            && let Some(ticket) = old.held.pop_first()
        {
            new.held.insert(ticket);
        }
        new.users = u32::try_from(new.held.len()).unwrap_or(u32::MAX);
        new.known = new.users;
        old.users -= new.users;
        old.known -= new.known;
        old.due = None;
        for ticket in &new.held {
            if let Some(record) = desk.records.get_mut(ticket) {
                record.lease = fresh;
            }
        }
        for shared in desk.shared_leases.values_mut().filter(|shared| **shared == lease) {
            *shared = fresh;
        }
        desk.leases.insert(fresh, new);
    }

    fn schedule_renewal(&mut self, at: Micros, name: &Name, lease: LeaseId) {
        let draw = self.draw();
        let Some(of) = self.desk(name).leases.get_mut(&lease) else { return };
        of.base = of.base.max(at);
        of.by_ticket = false;
        of.due = (!of.held.is_empty()).then(|| at + of.ttl / 3 - of.ttl / 30 * draw / 1024);
    }

    /// All who wait were still waiting at some moment after `at`.
    pub(super) fn places_are_renewed(&mut self, at: Micros, name: &Name) {
        let due = at + self.config.waiter_ttl / 3;
        let desk = self.desk(name);
        if !desk.places.is_empty() {
            desk.waiters_due = Some(desk.waiters_due.map_or(due, |earlier| earlier.min(due)));
        }
        if desk.uncertain.is_empty() {
            for lease in desk.leases.values_mut() {
                lease.handed = lease.handed.max(at);
                if lease.held.is_empty() {
                    lease.is_not_there(at);
                }
            }
        }
    }

    pub(super) fn look_at_all_places(&mut self, name: &Name) {
        let desk = self.desk(name);
        desk.waiting().into_iter().for_each(|ticket| desk.send_again(ticket));
    }
}
