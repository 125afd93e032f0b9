//! Passes commands to the session and its events to the program.

use std::{sync::Arc, time::Duration};

use seinpaal_proto::{
    Busy, Cause, Fence, Name, Ticket,
    session::{AcquireRefusal, Event, Loss, Want},
    time::{Micros, micros},
};

use super::{
    AcquireRequest, Driver, DriverCommand, GrantInHand, LeaseInHand, WantedPermits,
    journal::{note, ticket_of},
    lease::GrantTerms,
    releases::Releases,
    tickets::ByNumber,
};
use crate::{
    error::{AcquireError, ReleaseError},
    permit_state::{Lost, PermitState},
};

/// The callers of the program that wait for an answer.
#[derive(Default)]
pub(super) struct WaitingCallers {
    requests: ByNumber<Ticket, Box<AcquireRequest>>,
    tickets: ByNumber<u64, Ticket>,
    pub(super) grants: ByNumber<Ticket, Arc<GrantInHand>>,
    pub(super) releases: Releases,
}

impl WaitingCallers {
    fn name_of(&self, ticket: Ticket) -> Option<&Name> {
        let wanted = self.requests.get(&ticket).map(|request| &request.wanted.name);
        wanted.or_else(|| Some(&self.grants.get(&ticket)?.name))
    }

    /// Takes note that the caller of one ticket waits for another ticket from now on.
    fn renumber(&mut self, from: Ticket, to: Ticket) {
        if let Some(request) = self.requests.remove(&from) {
            self.tickets.insert(request.number, to);
            self.requests.insert(to, request);
        }
    }

    pub(super) fn held(&self) -> usize {
        self.grants.len()
    }

    pub(super) fn requests(&self) -> usize {
        self.requests.len()
    }

    pub(super) fn next_overdue(&self) -> Option<Micros> {
        self.releases.next_overdue()
    }

    /// Marks all grants as lost to the program, because nothing renews them any more.
    pub(super) fn lose_grants(&mut self) {
        for (_, grant) in self.grants.drain() {
            grant.set(PermitState::Lost(Lost::Closed));
            grant.held.is_over();
        }
    }

    /// Forgets all callers, because the connection was closed. Each caller learns so when its
    /// channel ends.
    pub(super) fn close(&mut self) {
        *self = Self::default();
    }

    /// Returns whether the session still holds this grant. Another client, or another part of this
    /// program, may have attached to the ticket since.
    pub(super) fn has_grant(&self, ticket: Ticket, fence: Fence) -> bool {
        self.grants.get(&ticket).is_some_and(|grant| grant.fence == fence)
    }
}

impl Driver {
    pub(super) fn take_command(&mut self, now: Micros, command: DriverCommand) {
        match command {
            DriverCommand::Close { reply } => self.close(now).told.push(reply),
            // A caller that asks a closed connection learns so because its channel ends.
            _ if self.closing.is_some() => {}
            DriverCommand::Acquire(request) if request.wanted.attach.is_some() => {
                self.attach(now, request);
            }
            // Only requests that go together need their tickets.
            DriverCommand::Acquire(request) => drop(self.acquire(now, request)),
            DriverCommand::AcquireTogether(requests) => {
                let tickets = requests.into_iter().map(|request| self.acquire(now, request));
                let tickets = tickets.collect();
                self.together.push(tickets);
            }
            DriverCommand::Abandon { number } => {
                // If the request is not found, its answer came before. A grant found no receiver
                // then, and went back.
                if let Some(ticket) = self.waiting.tickets.remove(&number) {
                    let request = self.waiting.requests.remove(&ticket);
                    request.inspect(|request| request.asked.abandoned());
                    self.session.cancel(now, ticket);
                }
            }
            DriverCommand::Release(giving) => self.release(now, giving),
            DriverCommand::Detach { ticket, fence, reply } => {
                self.detach(now, ticket, fence, reply);
            }
            DriverCommand::OneOff { name, request, as_nobody, timeout, reply } => {
                let one_off = self.session.one_off(now, &name, *request, as_nobody);
                self.one_offs.add(one_off, now.saturating_add(micros(timeout)), reply);
            }
            DriverCommand::Queue { name, command } => self.queues.take_command(now, name, *command),
            DriverCommand::StoreTask(task) => self.store_tasks.push(task(Arc::clone(&self.store))),
        }
    }

    fn acquire(&mut self, now: Micros, request: Box<AcquireRequest>) -> Ticket {
        let want = self.want(&request.wanted);
        let ticket = self.session.acquire(now, &request.wanted.name, want);
        self.wait(ticket, request);
        ticket
    }

    /// Attaches to a ticket. If this connection holds the ticket, that grant ends first, and its
    /// permit hears so before the new request takes its place.
    fn attach(&mut self, now: Micros, request: Box<AcquireRequest>) {
        let wanted = &request.wanted;
        let Some(ticket) = wanted.attach else { return };
        let want = self.want(wanted);
        let attached = self.session.attach(now, &wanted.name, ticket, want);
        self.tell(now);
        match attached {
            Ok(()) => self.wait(ticket, request),
            Err(refusal) => {
                let error = self.error_of(refusal, &request.wanted);
                request.asked.refused(&error);
                let _ = request.reply.send(Err(error));
            }
        }
    }

    fn wait(&mut self, ticket: Ticket, request: Box<AcquireRequest>) {
        self.waiting.tickets.insert(request.number, ticket);
        self.waiting.requests.insert(ticket, request);
    }

    fn want(&self, wanted: &WantedPermits) -> Want {
        Want {
            kind: wanted.kind,
            permits: wanted.permits,
            wishes: wanted.wishes.clone(),
            limit: wanted.limit,
            enqueue: wanted.enqueue,
            priority: wanted.priority,
            ttl: wanted.ttl.unwrap_or_else(|| self.session.config().ttl),
            deadline: wanted.deadline,
            about: Arc::clone(&wanted.about),
        }
    }

    /// Passes the session's events on.
    pub(super) fn tell(&mut self, now: Micros) {
        while let Some(event) = self.session.poll_event() {
            let ticket = ticket_of(&event);
            let name = || ticket.and_then(|ticket| self.waiting.name_of(ticket));
            let request = ticket.and_then(|ticket| self.waiting.requests.get(&ticket));
            let log = || note(|| name().map_or("", Name::as_str), &event);
            request.map_or_else(tracing::Span::none, |it| it.span.clone()).in_scope(log);
            self.pass_on(now, event);
        }
    }

    fn pass_on(&mut self, now: Micros, event: Event) {
        match event {
            Event::Queued { ticket, waiting } => {
                if let Some(request) = self.waiting.requests.get_mut(&ticket) {
                    request.asked.queued(waiting);
                    if let Some(tell) = request.callbacks.on_queued.take() {
                        self.callbacks.push(Box::new(move || tell(waiting)));
                    }
                }
            }
            Event::Waits { ticket, position } => {
                let request = self.waiting.requests.get(&ticket);
                if let Some(tell) = request.and_then(|it| it.callbacks.on_position.clone()) {
                    self.callbacks.push(Box::new(move || tell(position)));
                }
            }
            Event::Renumbered { from, to } => self.waiting.renumber(from, to),
            Event::Acquired { ticket, fence, slots, names, limit, valid_until } => {
                let terms = GrantTerms { ticket, fence, slots, names, limit };
                self.hand_over(now, terms, valid_until);
            }
            Event::Renewed { ticket, valid_until } => {
                self.statistics.renewed();
                self.on_grant(ticket, |grant| {
                    grant.renewed(valid_until);
                    grant.held.renewed();
                });
            }
            Event::Danger { ticket } => {
                self.on_grant(ticket, |grant| grant.set(PermitState::Danger));
            }
            Event::Lost { ticket, loss } => self.lost(ticket, loss),
            Event::Refused { ticket, refusal } => self.refused(now, ticket, refusal),
            Event::Released { ticket, was_held, given, .. } => {
                self.released(ticket, was_held, given.as_ref());
            }
            Event::Detached { ticket, valid_for } => {
                self.waiting.grants.remove(&ticket);
                self.waiting.releases.answer_detach(ticket, Ok(valid_for));
            }
            Event::Unanswered { ticket, given } => self.unanswered(ticket, given.as_ref()),
            Event::Answer { one_off, reply } => {
                // Without a reply the call has failed, and `last_error` says how.
                let answer = reply.ok_or_else(|| self.error());
                self.one_offs.answer(one_off, answer);
            }
        }
    }

    fn on_grant(&self, ticket: Ticket, tell: impl FnOnce(&GrantInHand)) {
        if let Some(grant) = self.waiting.grants.get(&ticket) {
            tell(grant);
        }
    }

    /// Wakes the caller with its permit. If the caller has gone, the permit goes back.
    fn hand_over(&mut self, now: Micros, terms: GrantTerms, valid_until: Option<Micros>) {
        let ticket = terms.ticket;
        let Some(request) = self.waiting.requests.remove(&ticket) else {
            // The future was dropped before its grant came.
            return self.session.cancel(now, ticket);
        };
        self.waiting.tickets.remove(&request.number);
        let ttl = request.wanted.ttl.unwrap_or_else(|| self.session.config().ttl);
        let lease = LeaseInHand::new(self.clock, valid_until);
        let held = request.asked.granted(terms.slots.count(), terms.limit);
        let what = (request.wanted.name, request.wanted.kind);
        let grant = GrantInHand::new(what, terms, Duration::from_micros(ttl), lease, held);
        let grant = Arc::new(grant);
        // This comes before the caller has the grant, because the caller may release it at once on
        // another thread.
        self.waiting.grants.insert(ticket, Arc::clone(&grant));
        self.statistics.granted();
        if request.reply.send(Ok(grant)).is_err() {
            self.waiting.grants.remove(&ticket);
            self.session.cancel(now, ticket);
        }
    }

    /// Marks a permit as lost. A caller whose release is under way hears that the permit was not
    /// held or, if the store was silent, that the outcome is unknown.
    fn lost(&mut self, ticket: Ticket, loss: Loss) {
        let lost = Lost::from(loss);
        if let Some(grant) = self.waiting.grants.get(&ticket) {
            grant.set(PermitState::Lost(lost));
            grant.held.lost(lost);
            self.statistics.lost();
        }
        if lost == Lost::Silence {
            return self.unanswered(ticket, None);
        }
        self.no_more_releases(ticket, &Err(ReleaseError::NotHeld));
        self.waiting.releases.answer_detach(ticket, Err(ReleaseError::NotHeld));
    }

    fn refused(&mut self, now: Micros, ticket: Ticket, refusal: AcquireRefusal) {
        let Some(request) = self.waiting.requests.remove(&ticket) else { return };
        self.waiting.tickets.remove(&request.number);
        // The grant expired before its caller heard of it, so the request asks again, at the end of
        // the line.
        if refusal == AcquireRefusal::Ended(Cause::Expired) && request.wanted.attach.is_none() {
            self.acquire(now, request);
            return;
        }
        let error = self.error_of(refusal, &request.wanted);
        request.asked.refused(&error);
        let _ = request.reply.send(Err(error));
    }

    fn error_of(&self, refusal: AcquireRefusal, wanted: &WantedPermits) -> AcquireError {
        match refusal {
            AcquireRefusal::Busy(Busy::TooManyWaiting) => AcquireError::TooManyWaiting,
            // The reply has no reason. A caller that waits looks for it.
            AcquireRefusal::Busy(Busy::Paused) => AcquireError::Paused { reason: String::new() },
            AcquireRefusal::Busy(_) => AcquireError::Busy,
            AcquireRefusal::TimedOut => AcquireError::TimedOut,
            AcquireRefusal::Silence => self.silence().into(),
            AcquireRefusal::OtherKind { stored, stated } => {
                AcquireError::OtherKind { stored, stated }
            }
            AcquireRefusal::OtherLimit { stored, stated, is_pinned } => {
                AcquireError::OtherLimit { stored, stated, is_pinned }
            }
            AcquireRefusal::TooMany { permits, limit } => AcquireError::TooMany { permits, limit },
            AcquireRefusal::NoSuchSlot { there } => {
                AcquireError::NoSuchSlot { missing: wanted.wishes.missing_in(&there), there }
            }
            AcquireRefusal::Ended(cause) => AcquireError::Ended(cause.into()),
            AcquireRefusal::Unknown => AcquireError::Unknown,
            AcquireRefusal::Store => self.refused_by_store(),
        }
    }
}
