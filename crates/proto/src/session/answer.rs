//! What replies, failures and wakeups do to what the session believes.

use super::{
    Session,
    compose::{Item, Sent},
    desk::{Desk, LeaseDesk},
    event::{Event, Failure, Loss, Refusal},
    record::{Exit, Phase, Validity},
};
use crate::{
    id::{Fence, LeaseId, Ticket},
    name::Name,
    reply::{Cause, Grant, Replies, Reply, TicketReply},
    slots::Slots,
    time::{MILLISECOND, Micros, SECOND},
};

/// How long requests that do not want to wait put up with a silent store.
const HASTE: Micros = 5 * SECOND;

impl Session {
    pub(super) fn take_answers(&mut self, now: Micros, sent: Sent, replies: Replies) {
        let Sent { at, name, items } = sent;
        let desk = self.desk(&name);
        desk.under_way = None;
        desk.retry_at = None;
        desk.failures = 0;
        desk.must_settle |= replies.backlog;
        for (item, reply) in items.into_iter().zip(replies.replies) {
            self.take_answer(now, at, &name, item, reply);
        }
        if let Some(look_in) = replies.look_in {
            let desk = self.desk(&name);
            if !desk.places.is_empty() {
                let look_at = now + look_in;
                desk.waiters_due = Some(desk.waiters_due.map_or(look_at, |due| due.min(look_at)));
            }
        }
        self.plan(&name);
    }

    fn take_answer(&mut self, now: Micros, at: Micros, name: &Name, item: Item, reply: Reply) {
        match (item, reply) {
            (Item::Ask(ask), reply) => {
                self.events.push_back(Event::Answer { ask, reply: Some(reply) });
            }
            (Item::Lease { lease, tickets }, Reply::Renewed { valid_for }) => {
                self.lease_is_renewed(now, at, name, lease, &tickets, valid_for);
            }
            (Item::Lease { lease, .. }, _) => self.renew_by_ticket(now, name, lease),
            (Item::Tickets { lease, tickets }, Reply::Tickets { valid_for, tickets: found }) => {
                self.tickets_are_renewed(now, at, name, lease, &tickets, &found, valid_for);
            }
            (Item::Tickets { lease, .. }, _) => self.renew_by_ticket(now, name, lease),
            (Item::Places, Reply::Renewed { .. }) => self.places_are_renewed(at, name),
            (Item::Places, _) => self.look_at_all_places(name),
            (Item::Acquire(ticket), reply) => self.take_acquired(now, at, name, ticket, reply),
            (Item::Attach(ticket), reply) => self.take_attached(now, at, name, ticket, reply),
            (Item::Release(ticket, slots), reply) => {
                self.take_released(name, ticket, slots, &reply);
            }
            (Item::Cancel(ticket), _) => self.forget(name, ticket),
            (Item::Detach(ticket), reply) => self.take_detached(name, ticket, &reply),
        }
    }

    fn take_acquired(
        &mut self,
        now: Micros,
        at: Micros,
        name: &Name,
        ticket: Ticket,
        reply: Reply,
    ) {
        let desk = self.desk(name);
        desk.uncertain.remove(&ticket);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        record.silent_since = None;
        match reply {
            Reply::Granted(grant) if grant.ticket == ticket => {
                self.take_grant(now, at, name, grant);
            }
            Reply::Queued { waiting, .. } => self.take_place(at, name, ticket, waiting),
            // Asked again, with a fresh idea of the store's clock.
            Reply::TooLate { .. } => {
                desk.refile(ticket);
                if record_is_asking_again(desk, ticket) {
                    desk.send_again(ticket);
                }
            }
            Reply::Busy { why, .. } => self.refuse(name, ticket, Refusal::Busy(why)),
            Reply::OtherLimit { stored, stated, .. } => {
                self.refuse(name, ticket, Refusal::OtherLimit { stored, stated });
            }
            Reply::TooMany { permits, limit, .. } => {
                self.refuse(name, ticket, Refusal::TooMany { permits, limit });
            }
            Reply::Ended { cause, .. } => self.refuse(name, ticket, Refusal::Ended(cause)),
            _ => self.refuse(name, ticket, Refusal::Store),
        }
    }

    /// The store is done with a ticket; the program is told if it still cares.
    fn refuse(&mut self, name: &Name, ticket: Ticket, refusal: Refusal) {
        let record = self.desk(name).records.get(&ticket);
        if record.is_some_and(|record| record.phase != Phase::Leaving) {
            self.events.push_back(Event::Refused { ticket, refusal });
        }
        self.forget(name, ticket);
    }

    fn take_place(&mut self, at: Micros, name: &Name, ticket: Ticket, waiting: u32) {
        let due = at + self.config.waiter_ttl / 3;
        let desk = self.desk(name);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        if let Some(lease) = desk.leases.get_mut(&record.lease)
            && lease.known == 1
        {
            lease.base = at; // nobody but this waiter could make the lease, and it has not
        }
        if record.phase == Phase::Leaving {
            return;
        }
        record.phase = Phase::Waiting;
        desk.places.insert(ticket);
        let is_new = !core::mem::replace(&mut record.was_queued, true);
        desk.waiters_due = Some(desk.waiters_due.map_or(due, |earlier| earlier.min(due)));
        desk.refile(ticket);
        if is_new {
            self.events.push_back(Event::Queued { ticket, waiting });
        }
    }

    fn take_grant(&mut self, now: Micros, at: Micros, name: &Name, grant: Grant) {
        let desk = self.desk(name);
        let Some(record) = desk.records.get_mut(&grant.ticket) else { return };
        if let (Some(lease), Some(valid_for)) =
            (desk.leases.get_mut(&record.lease), grant.valid_for)
        {
            // The lease ends `valid_for` after a moment later than `at`.
            lease.base = lease.base.max((at + valid_for).saturating_sub(lease.ttl));
        }
        let valid = grant.valid_for.map(|valid_for| at + valid_for);
        self.hold(now, name, grant.ticket, (grant.fence, grant.slots, grant.limit), valid);
    }

    /// A wakeup says nothing of time: what is believed counts from the last moment at which the lease was
    /// known or the ticket was known to wait.
    pub(super) fn take_grant_by_wakeup(
        &mut self,
        now: Micros,
        ticket: Ticket,
        fence: Fence,
        slots: Slots,
        limit: u32,
    ) {
        let Some(name) = self.tickets.get(&ticket).cloned() else { return };
        let desk = self.desk(&name);
        let Some(record) = desk.records.get(&ticket) else { return };
        if !matches!(record.phase, Phase::Asking | Phase::Waiting) {
            return;
        }
        let base = desk.leases.get(&record.lease).map_or(0, |lease| lease.base);
        let ends = base + record.wish.ttl;
        self.hold(now, &name, ticket, (fence, slots, limit), Some(ends));
        self.plan(&name);
    }

    /// Takes note of a grant; `ends` is when its lease ends at the earliest.
    fn hold(
        &mut self,
        now: Micros,
        name: &Name,
        ticket: Ticket,
        grant: (Fence, Slots, u32),
        ends: Option<Micros>,
    ) {
        self.fence_seen = self.fence_seen.max(grant.0.0);
        let draw = self.draw();
        let desk = self.desk(name);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        let ttl = record.wish.ttl;
        if let Some(lease) = desk.leases.get_mut(&record.lease) {
            lease.hold(ticket, ttl / 30 * draw / 1024);
        }
        let before = record.alarm_at();
        record.grant = Some(grant);
        if record.phase != Phase::Leaving {
            record.phase = Phase::Held;
        }
        let after = record.alarm_at();
        desk.places.remove(&ticket);
        desk.refile(ticket);
        self.move_alarm(ticket, before, after);
        self.believe(now, name, ticket, ends);
    }

    /// Believes in a grant until a margin before `ends`, and hands it over once that leaves time to act.
    fn believe(&mut self, now: Micros, name: &Name, ticket: Ticket, ends: Option<Micros>) {
        let config = self.config.clone();
        let Some(record) = self.desk(name).records.get_mut(&ticket) else { return };
        if record.phase != Phase::Held {
            return;
        }
        let before = record.alarm_at();
        let ttl = record.wish.ttl;
        record.validity = ends.map_or(Validity::Always, |end| {
            Validity::Until(end.saturating_sub(config.margin(ttl)))
        });
        let is_sound = record.is_sound(now);
        record.in_danger &= !is_sound;
        let is_first = is_sound && !record.is_delivered;
        record.is_delivered |= is_sound;
        let (lease, valid_until) = (record.lease, record.valid_until());
        let granted = record.grant.clone();
        let after = record.alarm_at();
        let is_delivered = record.is_delivered;
        self.move_alarm(ticket, before, after);
        match granted {
            Some((fence, slots, limit)) if is_first => {
                self.events.push_back(Event::Acquired { ticket, fence, slots, limit, valid_until });
            }
            _ if is_sound && is_delivered => {
                self.events.push_back(Event::Renewed { ticket, valid_until });
            }
            _ => {}
        }
        if !is_sound && let Some(lease) = self.desk(name).leases.get_mut(&lease) {
            lease.due = Some(now);
        }
    }

    fn lease_is_renewed(
        &mut self,
        now: Micros,
        at: Micros,
        name: &Name,
        lease: LeaseId,
        tickets: &[Ticket],
        valid_for: Option<Micros>,
    ) {
        self.schedule_renewal(at, name, lease);
        for &ticket in tickets {
            self.believe(now, name, ticket, valid_for.map(|valid_for| at + valid_for));
        }
    }

    fn schedule_renewal(&mut self, at: Micros, name: &Name, lease: LeaseId) {
        let draw = self.draw();
        let Some(of) = self.desk(name).leases.get_mut(&lease) else { return };
        of.base = of.base.max(at);
        of.by_ticket = false;
        of.due = (!of.held.is_empty()).then(|| at + of.ttl / 3 - of.ttl / 30 * draw / 1024);
    }

    /// Both sides disagree on what stands under a lease. What we hold moves under a new one, ticket by
    /// ticket; what we know nothing of stays behind under the old one, which is not renewed any more.
    fn renew_by_ticket(&mut self, now: Micros, name: &Name, lease: LeaseId) {
        let fresh = self.source.lease();
        let desk = self.desk(name);
        let Some(old) = desk.leases.get_mut(&lease) else { return };
        let mut new = LeaseDesk::new(old.ttl);
        new.base = old.base;
        new.by_ticket = true;
        new.due = Some(now);
        new.held = core::mem::take(&mut old.held);
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
        desk.leases.retain(|_, lease| lease.users > 0);
    }

    #[expect(clippy::too_many_arguments, reason = "one reply taken apart")]
    fn tickets_are_renewed(
        &mut self,
        now: Micros,
        at: Micros,
        name: &Name,
        lease: LeaseId,
        tickets: &[Ticket],
        found: &[TicketReply],
        valid_for: Option<Micros>,
    ) {
        self.schedule_renewal(at, name, lease);
        for (&ticket, found) in tickets.iter().zip(found) {
            match found {
                TicketReply::Held { .. } => {
                    self.believe(now, name, ticket, valid_for.map(|valid_for| at + valid_for));
                }
                TicketReply::Ended(cause) => self.take_loss(name, ticket, Loss::Ended(*cause)),
                _ => self.take_loss(name, ticket, Loss::Forgotten),
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

    /// All who wait were still waiting at some moment after `at`.
    fn places_are_renewed(&mut self, at: Micros, name: &Name) {
        let due = at + self.config.waiter_ttl / 3;
        let desk = self.desk(name);
        if !desk.places.is_empty() {
            desk.waiters_due = Some(desk.waiters_due.map_or(due, |earlier| earlier.min(due)));
        }
        if desk.uncertain.is_empty() {
            for lease in desk.leases.values_mut().filter(|lease| lease.held.is_empty()) {
                lease.base = lease.base.max(at); // it is not there
            }
        }
    }

    fn look_at_all_places(&mut self, name: &Name) {
        let desk = self.desk(name);
        let Desk { places, records, outbox, .. } = desk;
        let records = places.iter().filter_map(|ticket| records.get(ticket));
        let waiting = records.filter(|record| record.phase == Phase::Waiting);
        waiting.for_each(|record| outbox.insert(record));
    }

    fn take_attached(
        &mut self,
        now: Micros,
        at: Micros,
        name: &Name,
        ticket: Ticket,
        reply: Reply,
    ) {
        let desk = self.desk(name);
        desk.uncertain.remove(&ticket);
        let Reply::Tickets { valid_for, tickets } = reply else {
            return self.refuse(name, ticket, Refusal::Store);
        };
        match tickets.into_iter().next() {
            Some(TicketReply::Held { fence, slots }) => {
                let grant = Grant { ticket, fence, slots, limit: 0, valid_for };
                self.take_grant(now, at, name, grant);
            }
            Some(TicketReply::Ended(cause)) => self.refuse(name, ticket, Refusal::Ended(cause)),
            _ => self.refuse(name, ticket, Refusal::Unknown),
        }
    }

    fn take_released(&mut self, name: &Name, ticket: Ticket, slots: Option<Slots>, reply: &Reply) {
        let (was_held, left) = match reply {
            Reply::Released { left, .. } => (true, *left),
            // A release that was repeated after a lost reply.
            Reply::Ended { cause: Cause::Released, .. } => (true, 0),
            _ => (false, 0),
        };
        self.events.push_back(Event::Released { ticket, was_held, left, given: slots.clone() });
        let desk = self.desk(name);
        desk.uncertain.remove(&ticket);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        match slots {
            Some(given) if was_held && left > 0 => {
                record.giving.take(&given);
                if let Some((_, all, _)) = &mut record.grant {
                    all.take(&given);
                }
                desk.refile(ticket);
            }
            Some(_) if !was_held && record.phase == Phase::Held => {
                self.lose(name, ticket, Loss::Forgotten);
            }
            _ => self.forget(name, ticket),
        }
    }

    fn take_detached(&mut self, name: &Name, ticket: Ticket, reply: &Reply) {
        match reply {
            Reply::Tickets { valid_for, tickets }
                if matches!(tickets.first(), Some(TicketReply::Held { .. })) =>
            {
                self.events.push_back(Event::Detached { ticket, valid_for: *valid_for });
            }
            _ => self.events.push_back(Event::Lost { ticket, loss: Loss::Forgotten }),
        }
        self.forget(name, ticket);
    }

    // ---- failures

    pub(super) fn take_failure(&mut self, now: Micros, sent: Sent, failure: Failure) {
        let draw = self.draw();
        let desk = self.desk(&sent.name);
        desk.under_way = None;
        desk.failures += 1;
        let pause = ((25 * MILLISECOND) << desk.failures.min(7)).min(2 * SECOND);
        desk.retry_at = Some(now + pause / 2 + pause / 2 * draw / 1024);
        for item in sent.items {
            self.take_back(now, sent.at, &sent.name, item, failure);
        }
        self.plan(&sent.name);
    }

    /// What was not answered is asked again, with the same tickets.
    fn take_back(&mut self, now: Micros, at: Micros, name: &Name, item: Item, failure: Failure) {
        let desk = self.desk(name);
        match item {
            Item::Ask(ask) => self.events.push_back(Event::Answer { ask, reply: None }),
            Item::Lease { lease, .. } | Item::Tickets { lease, .. } => {
                if let Some(lease) = desk.leases.get_mut(&lease)
                    && !lease.held.is_empty()
                {
                    lease.due = Some(now);
                }
            }
            Item::Places => desk.waiters_due = (!desk.places.is_empty()).then_some(now),
            Item::Acquire(ticket) | Item::Attach(ticket) => {
                if failure.maybe_executed {
                    desk.uncertain.insert(ticket);
                }
                self.bear_silence(now, at, name, ticket, failure);
            }
            Item::Release(ticket, _) | Item::Cancel(ticket) | Item::Detach(ticket) => {
                if failure.maybe_executed {
                    desk.uncertain.insert(ticket);
                }
                desk.send_again(ticket);
            }
        }
    }

    fn bear_silence(
        &mut self,
        now: Micros,
        at: Micros,
        name: &Name,
        ticket: Ticket,
        failure: Failure,
    ) {
        let patience = self.config.patience;
        let desk = self.desk(name);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        let since = *record.silent_since.get_or_insert(at);
        let patience = match record.wish.enqueue {
            crate::request::Enqueue::No => patience.min(HASTE),
            crate::request::Enqueue::Yes { .. } => patience,
        };
        desk.outbox.insert(record);
        let is_over = !failure.is_passing || now.saturating_sub(since) >= patience;
        if is_over && matches!(record.phase, Phase::Asking | Phase::Waiting) {
            self.events.push_back(Event::Refused { ticket, refusal: Refusal::Store });
            self.leave_unsure(now, ticket);
        }
    }

    /// Nobody waits for this ticket any more, but the store may have it.
    fn leave_unsure(&mut self, now: Micros, ticket: Ticket) {
        self.with(now, ticket, |record| record.leave(now, Exit::Cancel));
    }
}

fn record_is_asking_again(desk: &Desk, ticket: Ticket) -> bool {
    desk.records.get(&ticket).is_some_and(|record| record.phase == Phase::Waiting)
}
