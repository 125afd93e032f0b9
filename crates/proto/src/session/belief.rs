//! What the session believes to hold, and until when.

use super::answer::Heard;
use super::{
    Session,
    event::Event,
    record::{Phase, Validity},
};
use crate::{
    id::{Fence, Ticket},
    name::Name,
    reply::Grant,
    slots::Slots,
    time::Micros,
};

impl Session {
    pub(super) fn take_grant(&mut self, heard: Heard<'_>, grant: Grant) {
        let desk = self.desk(heard.name);
        let Some(record) = desk.records.get_mut(&grant.ticket) else { return };
        if let (Some(lease), Some(valid_for)) =
            (desk.leases.get_mut(&record.lease), grant.valid_for)
        {
            // The lease ends `valid_for` after a moment later than `at`.
            lease.base = lease.base.max((heard.sent_at + valid_for).saturating_sub(lease.ttl));
        }
        let valid = grant.valid_for.map(|valid_for| heard.sent_at + valid_for);
        self.hold(
            heard.now,
            heard.name,
            grant.ticket,
            (grant.fence, grant.slots, grant.limit),
            valid,
        );
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
    pub(super) fn hold(
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
    pub(super) fn believe(
        &mut self,
        now: Micros,
        name: &Name,
        ticket: Ticket,
        ends: Option<Micros>,
    ) {
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
}
