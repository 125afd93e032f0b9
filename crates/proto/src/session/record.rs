//! The session's knowledge of one ticket.

use super::{
    event::{Event, Want},
    schedule::LeaseSchedule,
};
use crate::{
    id::{Fence, LeaseId, Ticket},
    slot_names::SlotNames,
    slots::Slots,
    time::{Micros, WAITER_TTL},
};

/// The progress of a ticket.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Phase {
    /// The store has not answered the request yet.
    Asking,
    /// The ticket is in line, as far as the session knows.
    Waiting,
    /// The ticket is granted, as far as the session knows.
    Held,
    /// The program does not want the ticket any more, and the store has not confirmed its end.
    Leaving,
}

/// The way in which a ticket leaves.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum TicketExit {
    Release,
    Cancel,
    Detach,
}

/// The time for which the session believes in a grant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Validity {
    Until(Micros),
    /// The store vouches for the grant as long as this process lives.
    Always,
}

/// The store's grant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct StoreGrant {
    pub(super) fence: Fence,
    pub(super) slots: Slots,
    pub(super) names: SlotNames,
    pub(super) limit: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) ticket: Ticket,
    /// The place in the order in which the program asked for tickets.
    pub(super) number: u64,
    pub(super) lease: LeaseId,
    pub(super) want: Want,
    /// The ttl that the program asked for, with which a permit is detached. The ttl in `want` is
    /// shorter if the store cannot promise as much.
    pub(super) full_ttl: Micros,
    pub(super) phase: Phase,
    pub(super) exit: TicketExit,
    /// The session attaches to the ticket, or has attached to it. The ticket came from another
    /// client, or was detached.
    pub(super) is_attaching: bool,
    /// A wakeup said that the ticket is over before an answer said whether it was granted.
    pub(super) is_doubted: bool,
    /// When a request about the ticket was first sent. Until then the store cannot know of it.
    pub(super) sent_at: Option<Micros>,
    pub(super) granted: Option<StoreGrant>,
    pub(super) validity: Validity,
    /// When to stop in an orderly way if the store is not heard from.
    pub(super) danger_at: Micros,
    pub(super) is_delivered: bool,
    pub(super) in_danger: bool,
    pub(super) was_queued: bool,
    /// Slots to give back while the program keeps the rest.
    pub(super) giving: Slots,
    /// The time since which the store has left requests about the ticket unanswered.
    pub(super) silent_since: Option<Micros>,
    /// When to stop trying to leave: by then the store has ended the ticket by itself.
    pub(super) leave_by: Option<Micros>,
}

impl Record {
    pub(super) fn asking(ticket: Ticket, number: u64, lease: LeaseId, want: Want) -> Self {
        Self {
            ticket,
            number,
            lease,
            full_ttl: want.ttl,
            want,
            phase: Phase::Asking,
            exit: TicketExit::Cancel,
            is_attaching: false,
            is_doubted: false,
            sent_at: None,
            granted: None,
            validity: Validity::Until(0),
            danger_at: 0,
            is_delivered: false,
            in_danger: false,
            was_queued: false,
            giving: Slots::none(),
            silent_since: None,
            leave_by: None,
        }
    }

    /// Cuts the ttl to the longest lease that the store promises.
    pub(super) fn within(mut self, longest_lease: Micros) -> Self {
        self.want.ttl = self.want.ttl.min(longest_lease);
        self
    }

    /// Returns the same want under another ticket, as if the session had heard nothing of it.
    pub(super) fn asking_anew(self, ticket: Ticket, number: u64, lease: LeaseId) -> Self {
        // The time that the program has waited, and the fact that it was told of its place in line,
        // belong to the want and not to the ticket.
        let Self { want, full_ttl, was_queued, silent_since, .. } = self;
        let anew = Self::asking(ticket, number, lease, want);
        Self { full_ttl, was_queued, silent_since, ..anew }
    }

    pub(super) fn attaching(ticket: Ticket, number: u64, lease: LeaseId, want: Want) -> Self {
        Self { is_attaching: true, ..Self::asking(ticket, number, lease, want) }
    }

    /// Makes the record of a ticket that the store granted after the program had left. It is given
    /// back at once.
    pub(super) fn orphan(now: Micros, ticket: Ticket, number: u64, ttl: Micros) -> Self {
        let mut record = Self::asking(ticket, number, LeaseId::from(ticket), Want::plain(ttl));
        record.leave(now, TicketExit::Release);
        record
    }

    /// Notes which slots to give back. If none would be left, the whole ticket is given back.
    pub(super) fn release(&mut self, now: Micros, slots: Option<Slots>) {
        let all = self.granted.as_ref().map(|granted| &granted.slots);
        match slots {
            Some(some) if all != Some(&some) && self.phase == Phase::Held => {
                self.giving.extend(&some);
            }
            _ => self.leave(now, TicketExit::Release),
        }
        if all_given(self) {
            self.leave(now, TicketExit::Release);
        }
    }

    pub(super) fn leave(&mut self, now: Micros, exit: TicketExit) {
        self.phase = Phase::Leaving;
        self.exit = exit;
        // A ticket that is not known to be granted may wait, and a place can outlast the lease for
        // which it waits.
        let place = if self.granted.is_none() { WAITER_TTL } else { 0 };
        self.leave_by = Some(now.saturating_add(self.want.ttl.max(place).saturating_mul(2)));
    }

    pub(super) fn is_lost(&self, now: Micros) -> bool {
        matches!(self.validity, Validity::Until(until) if until <= now)
    }

    /// Believes in the grant for `certain` from `sent_at`, or for as long as the process lives. A
    /// proof is never shortened by a later one, since answers may come in any order.
    pub(super) fn believe(&mut self, sent_at: Micros, certain: Option<Micros>) {
        let Some(certain) = certain else {
            (self.validity, self.danger_at) = (Validity::Always, Micros::MAX);
            return;
        };
        let until = sent_at + certain;
        if self.valid_until().is_none_or(|before| before <= until) {
            let danger = LeaseSchedule::new(self.want.ttl, certain).danger();
            (self.validity, self.danger_at) = (Validity::Until(until), sent_at + danger);
        }
    }

    /// Returns whether there is time to work before there is danger.
    pub(super) fn is_safe(&self, now: Micros) -> bool {
        self.danger_at > now
    }

    /// Returns the event to tell the program: first the grant, once a proof of it leaves time to
    /// work, and after that each renewal.
    pub(super) fn tell_belief(&mut self, is_safe: bool, is_proof: bool) -> Option<Event> {
        let (ticket, valid_until) = (self.ticket, self.valid_until());
        if self.is_delivered {
            return is_safe.then_some(Event::Renewed { ticket, valid_until });
        }
        let StoreGrant { fence, slots, names, limit } =
            self.granted.clone().filter(|_| is_safe && is_proof)?;
        self.is_delivered = true;
        Some(Event::Acquired { ticket, fence, slots, names, limit, valid_until })
    }

    pub(super) fn valid_until(&self) -> Option<Micros> {
        match self.validity {
            Validity::Always => None,
            Validity::Until(until) => Some(until),
        }
    }

    /// Returns when the ticket needs attention even if nothing is heard of it.
    pub(super) fn alarm_at(&self) -> Option<Micros> {
        match self.phase {
            Phase::Leaving => self.leave_by,
            _ if !self.is_delivered => self.want.deadline,
            _ => match self.validity {
                Validity::Always => None,
                Validity::Until(until) if self.in_danger => Some(until),
                Validity::Until(_) => Some(self.danger_at),
            },
        }
    }

    /// Returns whether the store must be sent a request about the ticket.
    pub(super) fn wants_to_send(&self) -> bool {
        match self.phase {
            Phase::Asking | Phase::Leaving => true,
            Phase::Waiting => false,
            Phase::Held => !self.giving.is_empty(),
        }
    }
}

fn all_given(record: &Record) -> bool {
    record.phase == Phase::Held
        && record.granted.as_ref().is_some_and(|granted| granted.slots == record.giving)
}
