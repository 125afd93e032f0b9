//! Handles failed calls. The session asks again, with the same tickets, if another try can help
//! ([`CallFailure::is_passing`]). A store that would only repeat its answer is sent nothing again
//! except renewals of held permits. The session does not wait for a store without room
//! ([`CallFailure::is_full`]), and gives back permits held there as soon as there is room.

use alloc::vec::Vec;

use super::{
    Session,
    event::{AcquireRefusal, CallFailure, Event},
    record::{Phase, Record, TicketExit},
    sent::{BatchPart, Sent},
};
use crate::{
    id::LeaseId,
    id::Ticket,
    name::Name,
    request::Enqueue,
    time::{MILLISECOND, Micros, SECOND},
};

/// How long a silent store may delay requests that do not wait for permits.
const HASTE: Micros = 5 * SECOND;

impl Session {
    /// Sends the requests of a failed call again after a pause. The pause grows with each failure
    /// and is never longer than a lease that is held here can bear.
    pub(super) fn take_failure(&mut self, now: Micros, sent: Sent, failure: CallFailure) {
        let draw = self.draw();
        let config = self.config.clone();
        self.has_ended(&sent);
        let desk = self.desk(&sent.name);
        desk.failures += 1;
        let held = desk.leases.values().filter(|lease| !lease.held.is_empty());
        // The schedule of a held lease says when its renewal is repeated at the latest.
        let most = held.map(|lease| config.schedule(lease.ttl).repeat()).min();
        // 50 ms after the first failure, twice as long after each further one, and 1 s at most.
        let pause = ((25 * MILLISECOND) << desk.failures.min(6)).min(SECOND);
        let pause = most.map_or(pause, |most| pause.min(most));
        // At least half of the pause, and the rest by chance, so that the clients of a store that
        // is back do not all come at once.
        desk.retry_at = Some(now + pause / 2 + pause / 2 * draw / 1024);
        for item in sent.items {
            self.take_back(now, sent.at, &sent.name, item, failure);
        }
        self.plan(&sent.name);
    }

    /// Files one request of a failed call for the next call, or gives it up.
    fn take_back(
        &mut self,
        now: Micros,
        at: Micros,
        name: &Name,
        item: BatchPart,
        failure: CallFailure,
    ) {
        let desk = self.desk(name);
        match item {
            BatchPart::OneOff(one_off) => {
                self.events.push_back(Event::Answer { one_off, reply: None });
            }
            BatchPart::Lease { lease, tickets } | BatchPart::Tickets { lease, tickets } => {
                desk.renew_after_failure(lease, now, at);
                self.bear_silence_of(now, at, name, tickets, failure);
            }
            BatchPart::Proof { tickets, .. } => {
                self.bear_silence_of(now, at, name, tickets, failure);
            }
            BatchPart::Ahead { .. } => {} // the ticket waits on
            BatchPart::Places(lease) => self.bear_silence_in_line(now, at, name, lease, failure),
            BatchPart::Acquire(ticket) | BatchPart::Attach(ticket, _) => {
                if failure.maybe_executed {
                    desk.uncertain.insert(ticket);
                }
                self.bear_silence(now, at, name, ticket, failure);
            }
            BatchPart::Release(ticket, _)
            | BatchPart::Cancel(ticket)
            | BatchPart::Detach(ticket) => {
                if failure.maybe_executed {
                    desk.uncertain.insert(ticket);
                }
                desk.send_again(ticket);
                if !failure.is_passing && desk.is_leaving(ticket) {
                    self.give_up_leaving(name, ticket);
                }
            }
        }
    }

    /// Notes that the renewal of the places under this lease had no answer.
    fn bear_silence_in_line(
        &mut self,
        now: Micros,
        at: Micros,
        name: &Name,
        lease: LeaseId,
        failure: CallFailure,
    ) {
        let desk = self.desk(name);
        desk.places.get_mut(&lease).into_iter().for_each(|places| places.due = Some(now));
        // A store that is silent for a while keeps the places. A store that is damaged or full will
        // never grant them anything.
        let is_kept = failure.is_passing && !failure.is_full;
        let waiting = if is_kept { Vec::new() } else { desk.waiting_under(lease) };
        self.bear_silence_of(now, at, name, waiting, failure);
    }

    fn bear_silence_of(
        &mut self,
        now: Micros,
        at: Micros,
        name: &Name,
        tickets: Vec<Ticket>,
        failure: CallFailure,
    ) {
        for ticket in tickets {
            self.bear_silence(now, at, name, ticket, failure);
        }
    }

    /// Notes that a request about this ticket had no answer. It is sent again until the patience of
    /// the session is over; then its caller is refused.
    fn bear_silence(
        &mut self,
        now: Micros,
        at: Micros,
        name: &Name,
        ticket: Ticket,
        failure: CallFailure,
    ) {
        let patience = self.config.patience;
        let desk = self.desk(name);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        if record.phase == Phase::Leaving {
            return desk.outbox.insert(record);
        }
        // The program has this permit. Only time brings its danger and its loss, whichever call
        // fails.
        if record.is_delivered {
            return;
        }
        let is_patient = is_patient(record, now, at, patience);
        if record.phase != Phase::Held {
            desk.outbox.insert(record);
        }
        let is_over = !failure.is_passing || failure.is_full || !is_patient;
        // A request that never reached the store need not be cancelled there, above all not at a
        // store that has no room for the cancel.
        let is_certain =
            !failure.maybe_executed && record.phase == Phase::Asking && !record.was_queued;
        if is_over && failure.is_full && is_certain && !desk.uncertain.contains(&ticket) {
            return self.refuse(name, ticket, AcquireRefusal::Store);
        }
        if is_over {
            self.events.push_back(Event::Refused { ticket, refusal: AcquireRefusal::Store });
            self.leave_unsure(now, ticket);
        }
    }

    /// Cancels a ticket for which nobody waits any more, but which the store may have.
    fn leave_unsure(&mut self, now: Micros, ticket: Ticket) {
        self.with(now, ticket, |record| record.leave(now, TicketExit::Cancel));
    }
}

/// Returns whether the caller of a ticket waits on, though the request that was sent at `at` had no
/// answer.
fn is_patient(record: &mut Record, now: Micros, at: Micros, patience: Micros) -> bool {
    let since = *record.silent_since.get_or_insert(at);
    let patience = match record.want.enqueue {
        Enqueue::No => patience.min(HASTE),
        Enqueue::Yes { .. } => patience,
    };
    // A waiter that was granted its permit still waits for the proof.
    let is_waiting = record.phase == Phase::Held && record.was_queued;
    is_waiting || now.saturating_sub(since) < patience
}
