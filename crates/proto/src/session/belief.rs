//! The session's belief in its permits: which it holds, and until when.
//!
//! A permit is handed to the program only on a full proof: an answer of the store that its lease
//! has just been made or renewed, which leaves at least two thirds of the ttl
//! (docs/decisions/leases.md). Until then its ticket is *unproved* and is
//! renewed by name at once.

use super::heard::Heard;
use super::{
    Session,
    record::{Phase, StoreGrant},
    schedule::LeaseSchedule,
    sent::BatchPart,
};
use crate::{
    id::{Fence, Ticket},
    name::Name,
    reply::Grant,
    slot_names::SlotNames,
    slots::Slots,
    time::Micros,
};

impl Session {
    /// Takes in a grant, for which the store says how long it lasts.
    pub(super) fn take_grant(&mut self, heard: Heard<'_>, grant: Grant) {
        let Grant { ticket, fence, slots, names, limit, valid_for } = grant;
        self.note_grant(heard.name, ticket, StoreGrant { fence, slots, names, limit });
        let lease = self.desk(heard.name).records.get(&ticket).map(|record| record.lease);
        lease.inspect(|lease| self.schedule_renewal(heard, *lease, valid_for));
        if self.is_doubted(heard.name, ticket) {
            // The wakeup may have told the end of this very grant. A renewal by name shows whether
            // it did, and only then is the permit handed over.
            return self.look_at(heard.now, heard.name);
        }
        self.believe(heard, ticket, valid_for);
    }

    /// Returns whether the session heard of the end of a grant before it heard of the grant. It
    /// returns `true` once only, since the grant is then proved by name.
    fn is_doubted(&mut self, name: &Name, ticket: Ticket) -> bool {
        let record = self.desk(name).records.get_mut(&ticket);
        record.is_some_and(|record| core::mem::take(&mut record.is_doubted))
    }

    /// Takes in a wakeup about a grant. The wakeup does not say how long the lease lasts. It may
    /// also be old, or tell of a grant that was undone since. So it only makes the session ask.
    pub(super) fn take_grant_by_wakeup(
        &mut self,
        now: Micros,
        ticket: Ticket,
        granted: StoreGrant,
    ) {
        let Some(name) = self.tickets.get(&ticket).cloned() else { return };
        let Some(record) = self.desk(&name).records.get_mut(&ticket) else { return };
        if !record.is_attaching && matches!(record.phase, Phase::Asking | Phase::Waiting) {
            record.was_queued = true;
            self.note_whose_it_was(&name);
            self.note_grant(&name, ticket, granted);
            self.expect_proof(now, &name, ticket);
            self.plan(&name);
            self.look_at(now, &name);
        }
    }

    /// Notes whether the last grant is due to a release of ours. A grant that the session hears of
    /// while such a release is under way is counted as the release's.
    fn note_whose_it_was(&mut self, name: &Name) {
        let under_way = self.desk(name).under_way.and_then(|call| self.calls.get(&call));
        let is_release = |part: &BatchPart| matches!(part, BatchPart::Release(..));
        let is_ours = under_way.is_some_and(|sent| sent.items.iter().any(is_release));
        self.desk(name).hands_over_to_us = is_ours;
    }

    /// Makes the next call about the name prove the grant. If the call before it hangs, the proof
    /// overtakes that call.
    fn expect_proof(&mut self, now: Micros, name: &Name, ticket: Ticket) {
        let config = self.config.clone();
        let desk = self.desk(name);
        let Some(lease) = desk.records.get(&ticket).map(|record| record.lease) else { return };
        if desk.under_way.is_some()
            && let Some(lease) = desk.leases.get_mut(&lease)
        {
            lease.proofs.is_held_up(now, config.schedule(lease.ttl).repeat());
        }
    }

    /// Notes a grant that nothing proves yet.
    fn note_grant(&mut self, name: &Name, ticket: Ticket, granted: StoreGrant) {
        // The next batch carries the fence, so that a store that lost its memory grants higher
        // fences only.
        self.fence_seen = self.fence_seen.max(granted.fence.0);
        let desk = self.desk(name);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        let before = record.alarm_at();
        record.granted = Some(granted);
        if record.phase != Phase::Leaving {
            record.phase = Phase::Held;
        }
        let after = record.alarm_at();
        if let Some(lease) = desk.leases.get_mut(&record.lease) {
            lease.hold(ticket);
        }
        desk.leave_place(ticket);
        desk.refile(ticket);
        self.move_alarm(ticket, before, after);
    }

    /// Puts a ticket back in line, because the store has it there and not as granted: the wakeup
    /// was about a grant that was undone since.
    pub(super) fn stand_again(&mut self, now: Micros, name: &Name, ticket: Ticket) {
        let desk = self.desk(name);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        if record.phase != Phase::Held || record.is_delivered {
            return;
        }
        record.granted = None;
        record.phase = Phase::Waiting;
        if let Some(lease) = desk.leases.get_mut(&record.lease) {
            lease.let_go(ticket);
        }
        // The next grant will stand under the lease of the series.
        desk.put_under(ticket, ticket.lease());
        // The place was not renewed while the session took the ticket for granted.
        desk.take_place(ticket, now);
    }

    /// Takes in that the store has a ticket as held, under this fence. The program is told the
    /// store's fence, and not the one of the wakeup, which may be older.
    pub(super) fn take_held(
        &mut self,
        name: &Name,
        ticket: Ticket,
        (fence, slots, names): (Fence, Slots, SlotNames),
    ) {
        let desk = self.desk(name);
        desk.uncertain.remove(&ticket);
        if let Some(record) = desk.records.get_mut(&ticket)
            && !record.is_delivered
            && let Some(granted) = &mut record.granted
        {
            (granted.fence, granted.slots, granted.names) = (fence, slots, names);
        }
    }

    /// Takes in an answer that says how long the lease of a ticket is valid; `None`: as long as the
    /// process lives. The first answer that leaves enough of the ttl hands the permit to the
    /// program.
    pub(super) fn believe(&mut self, heard: Heard<'_>, ticket: Ticket, valid_for: Option<Micros>) {
        let config = self.config.clone();
        let desk = self.desk(heard.name);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        if record.phase != Phase::Held {
            return;
        }
        let ttl = record.want.ttl;
        let certain = valid_for.map(|valid_for| valid_for.saturating_sub(config.margin(ttl)));
        let before = record.alarm_at();
        record.silent_since = None;
        record.believe(heard.sent_at, certain);
        let is_safe = record.is_safe(heard.now);
        let is_proof = valid_for.is_none_or(|valid_for| LeaseSchedule::is_full(ttl, valid_for));
        record.in_danger &= !is_safe;
        let event = record.tell_belief(is_safe, is_proof);
        let is_delivered = record.is_delivered;
        let after = record.alarm_at();
        if let Some(lease) = desk.leases.get_mut(&record.lease) {
            if is_delivered {
                lease.unproved.remove(&ticket);
            }
            if !is_safe {
                // The answer was on its way for so long that the permit is in danger already.
                lease.due = Some(heard.now);
            }
        }
        self.move_alarm(ticket, before, after);
        self.events.extend(event);
    }
}
