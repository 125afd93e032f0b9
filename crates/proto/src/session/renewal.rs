//! Takes in the answers to renewals.

use alloc::boxed::Box;

use super::{
    Session,
    event::{AcquireRefusal, Loss},
    heard::Heard,
    lease::LeaseDesk,
    record::Phase,
    schedule::LeaseSchedule,
    series::SharedLease,
};
use crate::{
    id::{LeaseId, Ticket},
    name::Name,
    reply::{Cause, TicketReply},
    request::Batch,
    time::Micros,
};

/// A place is renewed after this part of its ttl.
pub(super) const PLACE_RENEWAL: Micros = 6;

impl Session {
    /// Takes in the renewal of a whole lease.
    pub(super) fn lease_is_renewed(
        &mut self,
        heard: Heard<'_>,
        lease: LeaseId,
        tickets: &[Ticket],
        valid_for: Option<Micros>,
    ) {
        if let Some(of) = self.desk(heard.name).leases.get_mut(&lease) {
            of.renewals.answered();
        }
        self.schedule_renewal(heard, lease, valid_for);
        for &ticket in tickets {
            let desk = self.desk(heard.name);
            // A ticket that is not proved yet is renewed by name, since only that answer has its
            // fence.
            let unproved = desk.leases.get(&lease).map(|of| of.unproved.contains(&ticket));
            if unproved == Some(false) {
                self.believe(heard, ticket, valid_for);
            }
        }
    }

    /// Takes in a renewal by ticket: the store has answered for each ticket whether it holds.
    pub(super) fn tickets_are_renewed(
        &mut self,
        heard: Heard<'_>,
        lease: LeaseId,
        tickets: &[Ticket],
        found: &[TicketReply],
        valid_for: Option<Micros>,
    ) {
        self.schedule_renewal(heard, lease, valid_for);
        for (&ticket, found) in tickets.iter().zip(found) {
            match found {
                TicketReply::Held { fence, slots, names } => {
                    let held = (*fence, slots.clone(), names.clone());
                    self.take_held(heard.name, ticket, held);
                    self.believe(heard, ticket, valid_for);
                }
                TicketReply::Waiting if self.is_unproved(heard.name, ticket) => {
                    self.stand_again(heard.now, heard.name, ticket);
                }
                TicketReply::Ended(cause) => {
                    self.take_loss(heard, ticket, Loss::Ended(*cause));
                }
                _ => self.take_loss(heard, ticket, Loss::Forgotten),
            }
        }
    }

    /// Takes in that the store does not count this ticket as held.
    fn take_loss(&mut self, heard: Heard<'_>, ticket: Ticket, loss: Loss) {
        let Heard { now, name, .. } = heard;
        let Some(record) = self.desk(name).records.get(&ticket) else { return };
        match (record.phase, record.is_delivered) {
            (Phase::Held, true) => self.lose(name, ticket, loss),
            // The grant was undone, and a later ticket of the series was granted since.
            (Phase::Held, false)
                if loss == Loss::Ended(Cause::Released) && !record.is_attaching =>
            {
                self.renumber(now, name, ticket);
            }
            (Phase::Held, false) => {
                // The store has forgotten the ticket, which is no refusal. So the ticket may be
                // asked for again.
                let cause = if let Loss::Ended(cause) = loss { cause } else { Cause::Expired };
                self.refuse(name, ticket, AcquireRefusal::Ended(cause));
            }
            _ => {}
        }
    }

    /// Handles a disagreement of client and store about the tickets under a lease. Tickets that the
    /// session holds move under a new lease, one by one. Tickets that it does not know stay under
    /// the old lease, which is not renewed any more.
    pub(super) fn renew_by_ticket(&mut self, now: Micros, name: &Name, lease: LeaseId) {
        let held = self.desk(name).leases.get(&lease).map_or(0, |old| old.held.len());
        for _ in 0..held.div_ceil(Batch::MOST_UNDER_A_LEASE) {
            let fresh = self.source.lease();
            self.move_some(now, name, lease, fresh);
        }
        self.desk(name).leases.retain(|_, lease| lease.users > 0);
    }

    /// Moves as many held tickets to a new lease as it may have.
    fn move_some(&mut self, now: Micros, name: &Name, lease: LeaseId, fresh: LeaseId) {
        let desk = self.desk(name);
        let Some(old) = desk.leases.get_mut(&lease) else { return };
        let mut new = Box::new(LeaseDesk::new(old.ttl));
        new.proved_at = old.proved_at;
        new.by_ticket = true;
        new.due = Some(now);
        while new.held.len() < Batch::MOST_UNDER_A_LEASE
            && let Some(ticket) = old.held.pop_first()
        {
            new.held.insert(ticket);
            if old.unproved.remove(&ticket) {
                new.unproved.insert(ticket);
            }
        }
        new.users = u32::try_from(new.held.len()).unwrap_or(u32::MAX);
        old.users -= new.users;
        old.due = None;
        old.renewals.answered();
        for ticket in new.held.iter() {
            if let Some(record) = desk.records.get_mut(ticket) {
                record.lease = fresh;
            }
        }
        // The next permits join the new lease. Under the old one they would keep tickets alive that
        // nobody here knows of.
        for shared in desk.shared_leases.values_mut().filter(|shared| shared.lease == lease) {
            *shared = SharedLease::new(fresh);
        }
        desk.leases.insert(fresh, new);
    }

    /// Plans the next renewal of a lease that is valid for `valid_for`, counted from when its
    /// request was sent.
    pub(super) fn schedule_renewal(
        &mut self,
        heard: Heard<'_>,
        lease: LeaseId,
        valid_for: Option<Micros>,
    ) {
        let draw = self.draw();
        let config = self.config.clone();
        let Some(of) = self.desk(heard.name).leases.get_mut(&lease) else { return };
        of.by_ticket = false;
        let length = valid_for.unwrap_or(of.ttl);
        // A lease that is valid for less than its ttl is worth as much as one that was renewed that
        // much earlier.
        of.proved_at =
            valid_for.map_or(Micros::MAX, |_| (heard.sent_at + length).saturating_sub(of.ttl));
        let certain = length.saturating_sub(config.margin(of.ttl));
        if !of.held.is_empty() {
            of.renew_by(heard.sent_at + LeaseSchedule::new(of.ttl, certain).renew_drawn(draw));
        }
    }

    fn is_unproved(&mut self, name: &Name, ticket: Ticket) -> bool {
        let desk = self.desk(name);
        desk.leases.values().any(|lease| lease.unproved.contains(&ticket))
    }

    pub(super) fn places_are_renewed(&mut self, at: Micros, name: &Name, lease: LeaseId) {
        let due = at + self.config.waiter_ttl / PLACE_RENEWAL;
        let places = self.desk(name).places.get_mut(&lease);
        places.into_iter().for_each(|places| places.renew_by(due));
    }

    /// Lets each ticket that waits under this lease ask anew, because the store has other places
    /// there than the session believes. The answers tell whether the tickets hold or wait.
    pub(super) fn look_at_places(&mut self, name: &Name, lease: LeaseId) {
        let desk = self.desk(name);
        desk.waiting_under(lease).into_iter().for_each(|ticket| desk.send_again(ticket));
    }
}
