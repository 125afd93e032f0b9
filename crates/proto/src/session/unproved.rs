//! Two planted mistakes, as they were: what a wakeup says is believed, on the age of the place.

use super::Session;
use crate::{
    id::Ticket,
    name::Name,
    planted::{Mistake, planted},
    time::Micros,
};

impl Session {
    /// When the places in line were last renewed, at the latest; before a grant clears that.
    pub(super) fn place_age(&mut self, now: Micros, name: &Name) -> Micros {
        let third = self.config.waiter_ttl / 3;
        let due = self.desk(name).waiters_due.unwrap_or(now);
        third.saturating_sub(due.saturating_sub(now))
    }

    /// Hands over what a wakeup granted, without a proof.
    pub(super) fn hand_over_unproved(
        &mut self,
        now: Micros,
        name: &Name,
        ticket: Ticket,
        age: Micros,
    ) {
        let draw = self.draw();
        let config = self.config.clone();
        let desk = self.desk(name);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        let ttl = record.want.ttl;
        let margin = config.margin(ttl).min(config.waiter_ttl / 2 + config.waiter_ttl / 100);
        let certain = (ttl.min(config.waiter_ttl)).saturating_sub(margin);
        let left = certain.saturating_sub(age);
        let is_believed =
            if planted(Mistake::DangerBeforeRenewal) { left >= ttl / 2 } else { left > 0 };
        if !is_believed {
            return;
        }
        record.believe(now - age, Some(certain));
        record.danger_at = now + left.saturating_sub(ttl / 4).max(left / 2);
        let event = record.tell_belief(true, true);
        let alarm = record.alarm_at();
        let due = if left < ttl / 2 { left } else { ttl } / 3;
        let due = due - due / 10 * draw / 1024;
        if let Some(lease) = desk.leases.get_mut(&record.lease) {
            lease.unproved.remove(&ticket);
            lease.renew_by(now + due);
        }
        self.move_alarm(ticket, None, alarm);
        self.events.extend(event);
    }
}
