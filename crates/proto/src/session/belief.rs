//! What the session believes to hold, and until when.

use super::answer::Heard;
use super::{Session, event::Event, record::Phase};
use crate::{
    id::{Fence, Ticket},
    name::Name,
    planted::{Bug, planted},
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
            // The lease ends `valid_for` after a moment later than the sending.
            let base = (heard.sent_at + valid_for).saturating_sub(lease.ttl);
            lease.base = lease.base.max(base);
        }
        let margin = self.margin(heard.name, grant.ticket);
        let until = grant.valid_for.map(|valid| (heard.sent_at + valid).saturating_sub(margin));
        let Grant { ticket, fence, slots, limit, .. } = grant;
        self.hold(heard.now, heard.name, ticket, (fence, slots, limit), until);
    }

    /// A wakeup says nothing of time: what is believed counts from the last moment at which the lease was
    /// known not to be there, or to be renewed, and lasts no longer than the place would have.
    pub(super) fn take_grant_by_wakeup(
        &mut self,
        now: Micros,
        ticket: Ticket,
        fence: Fence,
        slots: Slots,
        limit: u32,
    ) {
        let Some(name) = self.tickets.get(&ticket).cloned() else { return };
        let waiter_ttl = self.config.waiter_ttl;
        let desk = self.desk(&name);
        let Some(record) = desk.records.get(&ticket) else { return };
        if !matches!(record.phase, Phase::Asking | Phase::Waiting) {
            return;
        }
        let lease = desk.leases.get(&record.lease);
        let ends = lease.map_or(0, |lease| lease.earliest_end(waiter_ttl));
        let ttl = record.wish.ttl;
        let margin = self.config.handed_margin(ttl);
        let until = Some(ends.saturating_sub(margin));
        self.hold(now, &name, ticket, (fence, slots, limit), until);
        self.plan(&name);
    }

    /// Takes note of a grant that is to be believed in until `until`.
    fn hold(
        &mut self,
        now: Micros,
        name: &Name,
        ticket: Ticket,
        grant: (Fence, Slots, u32),
        until: Option<Micros>,
    ) {
        self.fence_seen = self.fence_seen.max(grant.0.0);
        let draw = self.draw();
        let desk = self.desk(name);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        let due = now
            + first_renewal(record.wish.ttl, until.map(|until| until.saturating_sub(now)), draw);
        if let Some(lease) = desk.leases.get_mut(&record.lease) {
            lease.hold(ticket, due);
        }
        let before = record.alarm_at();
        record.grant = Some(grant);
        if record.phase != Phase::Leaving {
            record.phase = Phase::Held;
        }
        let after = record.alarm_at();
        desk.leave_place(ticket);
        desk.refile(ticket);
        self.move_alarm(ticket, before, after);
        self.believe(now, name, ticket, until);
    }

    /// A renewal said how long the lease is valid.
    pub(super) fn believe_again(
        &mut self,
        heard: Heard<'_>,
        ticket: Ticket,
        valid_for: Option<Micros>,
    ) {
        let margin = self.margin(heard.name, ticket);
        let until = valid_for.map(|valid| (heard.sent_at + valid).saturating_sub(margin));
        self.believe(heard.now, heard.name, ticket, until);
    }

    fn margin(&mut self, name: &Name, ticket: Ticket) -> Micros {
        let ttl = self.desk(name).records.get(&ticket).map_or(0, |record| record.wish.ttl);
        self.config.margin(ttl)
    }

    /// Believes in a grant until `until`, and hands it over once that leaves time to act.
    fn believe(&mut self, now: Micros, name: &Name, ticket: Ticket, until: Option<Micros>) {
        let enough = self.config.waiter_ttl / 10;
        let Some(record) = self.desk(name).records.get_mut(&ticket) else { return };
        if record.phase != Phase::Held {
            return;
        }
        let before = record.alarm_at();
        record.silent_since = None;
        let until = until.filter(|_| !planted(Bug::SilenceIsNoLoss));
        record.believe(now, until);
        let is_sound = record.is_sound(now, enough);
        record.in_danger &= !is_sound;
        let is_first = is_sound && !record.is_delivered;
        record.is_delivered |= is_sound;
        let (lease, valid_until) = (record.lease, record.valid_until());
        let (granted, is_delivered) = (record.grant.clone(), record.is_delivered);
        let after = record.alarm_at();
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

/// When to renew for the first time: at a third of the ttl, or, where less than that is certain, at a third
/// of what is.
fn first_renewal(ttl: Micros, certain: Option<Micros>, draw: u64) -> Micros {
    let at = certain.filter(|certain| *certain < ttl / 2).unwrap_or(ttl) / 3;
    at - at / 10 * draw / 1024
}
