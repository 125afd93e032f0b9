//! The ends of tickets that were not given back: time ends them, the store says that they are over,
//! or the store has been silent.

use super::{
    Session,
    event::{AcquireRefusal, Event, Loss},
    record::{Phase, Record},
};
use crate::{
    id::Ticket,
    name::Name,
    reply::Cause,
    time::{Micros, SECOND},
};

/// If the store does not answer a call about a place in the queue for this long, it counts as
/// silent. For a request that could not even be sent, a tenth of this time is enough.
const SILENCE: Micros = SECOND;

impl Session {
    /// Handles the alarm of a ticket: its wait is over, it is in danger, or it is lost.
    pub(super) fn ring(&mut self, now: Micros, ticket: Ticket) {
        let Some(name) = self.tickets.get(&ticket).cloned() else { return };
        let Some(record) = self.desk(&name).records.get_mut(&ticket) else { return };
        match record.phase {
            Phase::Leaving => self.give_up_leaving(&name, ticket),
            _ if !record.is_delivered => {
                let is_silent = self.is_store_silent(now, &name, ticket);
                let refusal =
                    if is_silent { AcquireRefusal::Silence } else { AcquireRefusal::TimedOut };
                self.events.push_back(Event::Refused { ticket, refusal });
                self.cancel(now, ticket);
            }
            _ if record.is_lost(now) => {
                // The store may still count the ticket as held. The cancel is repeated until the
                // store can be reached.
                self.events.push_back(Event::Lost { ticket, loss: Loss::Silence });
                self.cancel(now, ticket);
            }
            _ => {
                record.in_danger = true;
                let next = record.alarm_at();
                self.move_alarm(ticket, None, next);
                self.events.push_back(Event::Danger { ticket });
            }
        }
    }

    /// Returns whether a request missed its deadline because the store was silent, and not because
    /// others held the permits.
    fn is_store_silent(&self, now: Micros, name: &Name, ticket: Ticket) -> bool {
        let Some(desk) = self.desks.get(name) else { return false };
        let Some(record) = desk.records.get(&ticket) else { return false };
        let unanswered_since = desk.under_way.and_then(|call| Some(self.calls.get(&call)?.at));
        let unanswered_for = unanswered_since.map_or(0, |at| now.saturating_sub(at));
        // The store has answered. A grant of which a wakeup told may still wait for its proof.
        let has_place = record.phase != Phase::Asking;
        let was_never_answered = record.sent_at.is_some() && !has_place;
        let long = if has_place { SILENCE } else { SILENCE / 10 };
        was_never_answered
            || desk.failures > 0
            // A connection that was made anew begins to count failures again.
            || record.silent_since.is_some()
            || unanswered_for >= long
    }

    /// Gives back a grant for which nobody waits any more, because a fail-over has undone the
    /// release or cancel of its ticket. The grant would keep others out for a ttl, and there may be
    /// many such grants. A ticket that was detached is not ours, and stays.
    pub(super) fn release_unwanted(&mut self, now: Micros, name: &Name, ticket: Ticket) {
        let number = self.next_number();
        self.add(now, name, Record::orphan(now, ticket, number, self.config.ttl));
    }

    /// Gives up a release, cancel or detach, because the store has been silent for two ttls. Every
    /// lease and place of the ticket has run out by now, or the store will never do as asked. No
    /// other ticket may join a lease under which this one may still stand, because that would keep
    /// this one alive.
    pub(super) fn give_up_leaving(&mut self, name: &Name, ticket: Ticket) {
        self.events.push_back(Event::Unanswered { ticket, given: None });
        let desk = self.desk(name);
        if let Some(lease) = desk.records.get(&ticket).map(|record| record.lease) {
            desk.shared_leases.retain(|_, shared| shared.lease != lease);
        }
        self.forget(name, ticket);
    }

    /// Tells the program that a ticket is not held any more, and forgets it. The store's record of
    /// it runs out by itself, or is cancelled.
    pub(super) fn lose(&mut self, name: &Name, ticket: Ticket, loss: Loss) {
        self.events.push_back(Event::Lost { ticket, loss });
        self.forget(name, ticket);
    }

    /// Takes in a wakeup that a ticket is over. The wakeup may be old: the session may have asked
    /// for the ticket again since, and the store may have granted it. So the session also cancels
    /// the ticket at the store. Otherwise a permit could stay held that nobody here knows of.
    pub(super) fn take_end(&mut self, now: Micros, ticket: Ticket, cause: Cause) {
        let Some(name) = self.tickets.get(&ticket).cloned() else { return };
        let Some(record) = self.desk(&name).records.get_mut(&ticket) else { return };
        match record.phase {
            Phase::Leaving => self.look_at(now, &name),
            // The wakeup may be about the grant that this client had before it attached. A renewal
            // by name shows which grant it is.
            _ if record.is_attaching && cause == Cause::Attached => {
                let lease = record.lease;
                record.is_doubted = record.granted.is_none();
                self.desk(&name).doubt(lease, now);
                self.look_at(now, &name);
            }
            _ => {
                let told = match record.is_delivered {
                    true => Event::Lost { ticket, loss: Loss::Ended(cause) },
                    false => Event::Refused { ticket, refusal: AcquireRefusal::Ended(cause) },
                };
                self.events.push_back(told);
                self.cancel(now, ticket);
            }
        }
    }
}
