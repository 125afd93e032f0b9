//! Takes in the answers to calls, request by request. Answers about leases are in `renewal.rs`, and
//! `belief.rs` has their consequences for permits.

use super::{
    Session,
    desk::Desk,
    event::{AcquireRefusal, Event, Loss},
    heard::Heard,
    lease::LeaseDesk,
    record::Phase,
    renewal::PLACE_RENEWAL,
    repetition::Repetition,
    sent::{BatchPart, Sent},
};
use crate::{
    id::{LeaseId, Ticket},
    name::Name,
    reply::{Cause, Replies, Reply, TicketReply},
    slots::Slots,
    time::Micros,
};

impl Session {
    /// Takes in the answers to a call.
    pub(super) fn take_answers(&mut self, now: Micros, sent: Sent, replies: Replies) {
        self.has_ended(&sent);
        let Sent { at, name, items, .. } = sent;
        // Validity counts from before the request went out: the store may have executed it at once,
        // and the answer may be late.
        let desk = self.desk(&name);
        desk.retry_at = None;
        desk.failures = 0;
        // The store does a bounded amount of work in each call. The next call makes it go on with
        // the rest.
        desk.must_settle |= replies.backlog;
        let heard = Heard { now, sent_at: at, name: &name };
        for (item, reply) in items.into_iter().zip(replies.replies) {
            self.take_answer(heard, item, reply);
        }
        if let Some(look_in) = replies.look_in {
            // Until then the line changes only by requests that wake the first waiter. If such a
            // wakeup is lost, this client notices by looking then: the renewal of the places among
            // which that waiter was says that they differ.
            self.desk(&name).look_by(now + look_in);
        }
        self.plan(&name);
    }

    fn take_answer(&mut self, heard: Heard<'_>, item: BatchPart, reply: Reply) {
        match item {
            BatchPart::OneOff(one_off) => {
                self.events.push_back(Event::Answer { one_off, reply: Some(reply) });
            }
            BatchPart::Lease { lease, tickets } => self.take_lease(heard, lease, &tickets, &reply),
            BatchPart::Tickets { lease, tickets } => {
                self.take_tickets(heard, lease, &tickets, &reply, |of| &mut of.renewals);
            }
            BatchPart::Proof { lease, tickets } => {
                self.take_tickets(heard, lease, &tickets, &reply, |of| &mut of.proofs);
            }
            BatchPart::Ahead { lease, ticket } => self.take_ahead(heard, lease, ticket, &reply),
            BatchPart::Places(lease) => self.take_places(heard, lease, &reply),
            BatchPart::Acquire(ticket) => self.take_acquired(heard, ticket, reply),
            BatchPart::Attach(ticket, lease) => self.take_attached(heard, ticket, lease, reply),
            BatchPart::Release(ticket, slots) => {
                self.take_released(heard.name, ticket, slots, &reply);
            }
            BatchPart::Cancel(ticket) => self.forget(heard.name, ticket),
            BatchPart::Detach(ticket) => self.take_detached(heard.name, ticket, &reply),
        }
    }

    fn take_lease(&mut self, heard: Heard<'_>, lease: LeaseId, tickets: &[Ticket], reply: &Reply) {
        match reply {
            Reply::Renewed { valid_for } => {
                self.lease_is_renewed(heard, lease, tickets, *valid_for);
            }
            // The tickets under the lease at the store are not those that the session believes to
            // be there.
            _ => self.renew_by_ticket(heard.now, heard.name, lease),
        }
    }

    /// Takes in the answer to a renewal by name, which was sent to renew the lease or as a proof.
    fn take_tickets(
        &mut self,
        heard: Heard<'_>,
        lease: LeaseId,
        tickets: &[Ticket],
        reply: &Reply,
        sent_as: impl FnOnce(&mut LeaseDesk) -> &mut Repetition,
    ) {
        let Reply::Tickets { valid_for, tickets: found } = reply else {
            return self.renew_by_ticket(heard.now, heard.name, lease);
        };
        if let Some(of) = self.desk(heard.name).leases.get_mut(&lease) {
            sent_as(of).answered();
        }
        self.tickets_are_renewed(heard, lease, tickets, found, *valid_for);
    }

    /// Takes in the answer to the proof of a grant that a release in the same call was to give to a
    /// waiter of ours.
    fn take_ahead(&mut self, heard: Heard<'_>, lease: LeaseId, ticket: Ticket, reply: &Reply) {
        let Reply::Tickets { valid_for, tickets: found } = reply else { return };
        let is_ours = matches!(found[..], [TicketReply::Held { .. }]);
        // If the permits went to another client, our waiter waits on, and the next release is sent
        // without a proof.
        self.desk(heard.name).hands_over_to_us = is_ours;
        if is_ours {
            self.tickets_are_renewed(heard, lease, &[ticket], found, *valid_for);
        }
    }

    fn take_places(&mut self, heard: Heard<'_>, lease: LeaseId, reply: &Reply) {
        match reply {
            Reply::Waits { .. } | Reply::Renewed { .. } => {
                self.places_are_renewed(heard.sent_at, heard.name, lease);
                let ticket = self.desk(heard.name).waiting_under(lease).into_iter().min();
                if let (Some(ticket), Reply::Waits { position, .. }) = (ticket, reply) {
                    self.events.push_back(Event::Waits { ticket, position: *position });
                }
            }
            // The store does not count as many places as this client. Asking for each of them shows
            // which is gone.
            _ => self.look_at_places(heard.name, lease),
        }
    }

    /// Takes in the answer to an acquire.
    fn take_acquired(&mut self, heard: Heard<'_>, ticket: Ticket, reply: Reply) {
        let desk = self.desk(heard.name);
        desk.uncertain.remove(&ticket);
        let Some(record) = desk.records.get_mut(&ticket).filter(|record| !record.is_attaching)
        else {
            return;
        };
        record.silent_since = None;
        match reply {
            Reply::Granted(grant) if grant.ticket == ticket => {
                self.take_grant(heard, grant);
            }
            Reply::Queued { waiting, .. } => {
                self.take_place(heard.sent_at, heard.name, ticket, waiting);
            }
            // The request was too long on its way. The session sends it again, with a deadline by
            // the reading of the store's clock that came with this answer.
            Reply::TooLate { .. } => {
                desk.refile(ticket);
                // A waiting ticket asks again only to learn whether it still waits, so nothing else
                // would send it.
                if record_is_asking_again(desk, ticket) {
                    desk.send_again(ticket);
                }
            }
            // This session has not released the ticket: then it would have no record of it, or one
            // that is leaving. The store refuses the ticket because a later ticket of its series
            // came first.
            Reply::Ended { cause: Cause::Released, .. } if record.phase != Phase::Leaving => {
                self.renumber(heard.now, heard.name, ticket);
            }
            reply => self.refuse(heard.name, ticket, refusal_of(reply)),
        }
    }

    /// Ends a ticket that the store refuses. The program is told if it still waits for an answer.
    pub(super) fn refuse(&mut self, name: &Name, ticket: Ticket, refusal: AcquireRefusal) {
        let record = self.desk(name).records.get(&ticket);
        if record.is_some_and(|record| record.phase != Phase::Leaving) {
            self.events.push_back(Event::Refused { ticket, refusal });
        }
        self.forget(name, ticket);
    }

    /// Takes in that a ticket waits in line.
    fn take_place(&mut self, at: Micros, name: &Name, ticket: Ticket, waiting: u32) {
        let due = at + self.config.waiter_ttl / PLACE_RENEWAL;
        let desk = self.desk(name);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        // A wakeup with the grant may come before the answer that the ticket waits.
        if matches!(record.phase, Phase::Leaving | Phase::Held) {
            return;
        }
        // From here on the ticket is renewed together with the other places of its series. It is
        // first due a part of their ttl after the request.
        record.phase = Phase::Waiting;
        let is_new = !core::mem::replace(&mut record.was_queued, true);
        desk.take_place(ticket, due);
        desk.refile(ticket);
        if is_new {
            self.events.push_back(Event::Queued { ticket, waiting });
        }
    }

    /// Takes in the answer to an attach.
    fn take_attached(&mut self, heard: Heard<'_>, ticket: Ticket, lease: LeaseId, reply: Reply) {
        let desk = self.desk(heard.name);
        desk.uncertain.remove(&ticket);
        // Another task of this program may have attached to the ticket since, under another lease.
        let Some(record) = desk.records.get_mut(&ticket).filter(|record| record.lease == lease)
        else {
            return;
        };
        record.silent_since = None;
        match reply {
            Reply::Granted(grant) if grant.ticket == ticket => self.take_grant(heard, grant),
            Reply::TooLate { .. } => desk.refile(ticket),
            Reply::Ended { cause, .. } => {
                self.refuse(heard.name, ticket, AcquireRefusal::Ended(cause));
            }
            Reply::Unknown { .. } => self.refuse(heard.name, ticket, AcquireRefusal::Unknown),
            _ => self.refuse(heard.name, ticket, AcquireRefusal::Store),
        }
    }

    /// Takes in the answer to a release, of a whole permit or of some slots.
    fn take_released(&mut self, name: &Name, ticket: Ticket, slots: Option<Slots>, reply: &Reply) {
        let (was_held, left) = match reply {
            Reply::Released { left, .. } => (true, *left),
            // The release was sent twice, and the reply to the first one was lost.
            Reply::Ended { cause: Cause::Released, .. } => (true, 0),
            _ => (false, 0),
        };
        let desk = self.desk(name);
        let is_repeated = desk.uncertain.remove(&ticket);
        let phase = desk.records.get(&ticket).map(|record| record.phase);
        // The program keeps the rest of a permit of which it gave back a part.
        let keeps = slots.is_some() && phase == Some(Phase::Held);
        let given = slots.clone().filter(|_| keeps || left > 0);
        // The call that was not answered may have released the ticket, and the store may have
        // forgotten it since. Then nobody can say how the release went.
        let is_known = !is_repeated || !matches!(reply, Reply::Unknown { .. });
        self.events.push_back(match is_known {
            true => Event::Released { ticket, was_held, left, given },
            false => Event::Unanswered { ticket, given },
        });
        match (slots, reply) {
            (Some(given), Reply::Released { left: 1.., .. }) => {
                self.keep_rest(name, ticket, &given);
            }
            // The ticket is over at the store, and so are the permits of it that the program keeps.
            (Some(_), Reply::Ended { cause, .. }) if keeps => {
                self.lose(name, ticket, Loss::Ended(*cause));
            }
            (Some(_), _) if keeps => self.lose(name, ticket, Loss::Forgotten),
            _ if phase.is_some() => self.forget(name, ticket),
            _ => {}
        }
    }

    /// Notes that a part of a permit went back. The permits that stay keep their ticket, their
    /// fence and their lease.
    fn keep_rest(&mut self, name: &Name, ticket: Ticket, given: &Slots) {
        let desk = self.desk(name);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        record.giving.take(given);
        if let Some(granted) = &mut record.granted {
            granted.slots.take(given);
        }
        desk.refile(ticket);
    }

    fn take_detached(&mut self, name: &Name, ticket: Ticket, reply: &Reply) {
        match reply {
            Reply::Renewed { valid_for } => {
                self.events.push_back(Event::Detached { ticket, valid_for: *valid_for });
            }
            Reply::Ended { cause, .. } => {
                self.events.push_back(Event::Lost { ticket, loss: Loss::Ended(*cause) });
            }
            _ => self.events.push_back(Event::Lost { ticket, loss: Loss::Forgotten }),
        }
        self.forget(name, ticket);
    }
}

/// Returns the refusal that the caller is told if the store answered its acquire with anything but
/// a grant.
fn refusal_of(reply: Reply) -> AcquireRefusal {
    match reply {
        Reply::Busy { why, .. } => AcquireRefusal::Busy(why),
        Reply::OtherKind { stored, stated, .. } => AcquireRefusal::OtherKind { stored, stated },
        Reply::OtherLimit { stored, stated, is_pinned, .. } => {
            AcquireRefusal::OtherLimit { stored, stated, is_pinned }
        }
        Reply::TooMany { permits, limit, .. } => AcquireRefusal::TooMany { permits, limit },
        Reply::NoSuchSlot { there, .. } => AcquireRefusal::NoSuchSlot { there },
        Reply::Ended { cause, .. } => AcquireRefusal::Ended(cause),
        _ => AcquireRefusal::Store,
    }
}

fn record_is_asking_again(desk: &Desk, ticket: Ticket) -> bool {
    desk.records.get(&ticket).is_some_and(|record| record.phase == Phase::Waiting)
}
