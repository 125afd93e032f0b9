//! Commands into the session, events out of it.

use std::{collections::HashMap, sync::Arc};

use seinpaal_proto::{
    Busy, Cause, Name, Slots, Ticket,
    session::{Event, Loss, Refusal, Wish},
    time::Micros,
};
use tokio::sync::oneshot;

use super::{Command, Detached, Done, Driver, Grant, Request};
use crate::{
    error::{AcquireError, Ended, ReleaseError},
    guarded::GuardedError,
    permit::{Lost, PermitState},
};

/// The slots that somebody gives back, and whom to tell.
type Release = (Slots, Option<oneshot::Sender<Result<(), ReleaseError>>>);

/// Who in the program waits for what.
#[derive(Default)]
pub(super) struct Waiting {
    requests: HashMap<Ticket, Request>,
    tickets: HashMap<u64, Ticket>,
    grants: HashMap<Ticket, Arc<Grant>>,
    releases: HashMap<Ticket, Vec<Release>>,
    detaches: HashMap<Ticket, oneshot::Sender<Detached>>,
}

impl Driver {
    pub(super) fn take_command(&mut self, now: Micros, command: Command) {
        match command {
            Command::Acquire(request) => drop(self.acquire(now, request)),
            Command::AcquireTogether(requests) => {
                let tickets = requests.into_iter().map(|request| self.acquire(now, request));
                let tickets = tickets.collect();
                self.together.push(tickets);
            }
            Command::Abandon { number } => {
                if let Some(ticket) = self.waiting.tickets.remove(&number) {
                    self.waiting.requests.remove(&ticket);
                    self.session.cancel(now, ticket);
                }
            }
            Command::Release { ticket, slots, reply } => {
                if !self.waiting.grants.contains_key(&ticket) {
                    reply.map(|reply| reply.send(Err(ReleaseError::NotHeld)));
                    return;
                }
                let release = (slots.clone(), reply);
                self.waiting.releases.entry(ticket).or_default().push(release);
                self.session.release(now, ticket, Some(slots));
            }
            Command::Detach { ticket, reply } => {
                if self.waiting.grants.contains_key(&ticket) {
                    self.waiting.detaches.insert(ticket, reply);
                    self.session.detach(now, ticket);
                } else {
                    let _ = reply.send(Err(ReleaseError::NotHeld));
                }
            }
            Command::Ask { name, request, as_nobody, reply } => {
                let ask = self.session.ask(now, &name, request, as_nobody);
                self.asks.insert(ask, reply);
            }
            Command::List { prefix, reply } => {
                let store = Arc::clone(&self.store);
                self.under_way.push(Box::pin(async move {
                    let listed = store.list(&prefix).await;
                    Done::List(reply, listed)
                }));
            }
            Command::Queue { name, command } => self.queues.take_command(now, name, command),
            Command::ListQueues { prefix, reply } => {
                let store = Arc::clone(&self.store);
                self.under_way.push(Box::pin(async move {
                    let listed = store.list_queues(&prefix).await;
                    Done::ListQueues(reply, listed)
                }));
            }
            Command::Sleep { time, reply } => self.under_way.push(Box::pin(async move {
                tokio::time::sleep(time).await;
                let _ = reply.send(());
                Done::Slept
            })),
            Command::Guarded { write, reply } => {
                let store = Arc::clone(&self.store);
                self.under_way.push(Box::pin(async move {
                    let written = match store.guarded(&write) {
                        Some(written) => written.await,
                        None => Err(GuardedError::NotOnThisStore),
                    };
                    // Nobody is left to be told if the future was dropped.
                    let _ = reply.send(written);
                    Done::Guarded
                }));
            }
            Command::Close { reply } => {
                self.session.close(now);
                self.queues.close();
                for (_, grant) in self.waiting.grants.drain() {
                    grant.set(PermitState::Lost(Lost::Ended(Ended::Released)));
                }
                self.closing.push(reply);
            }
        }
    }

    fn acquire(&mut self, now: Micros, request: Request) -> Ticket {
        let wanted = &request.wanted;
        let wish = Wish {
            kind: wanted.kind,
            permits: wanted.permits,
            limit: wanted.limit,
            enqueue: wanted.enqueue,
            priority: wanted.priority,
            ttl: wanted.ttl.unwrap_or_else(|| self.session.config().ttl),
            deadline: wanted.deadline,
            about: wanted.about.clone(),
        };
        let ticket = match wanted.attach {
            Some(ticket) => {
                self.session.attach(now, &wanted.name, ticket, wish);
                ticket
            }
            None => self.session.acquire(now, &wanted.name, wish),
        };
        self.waiting.tickets.insert(request.number, ticket);
        self.waiting.requests.insert(ticket, request);
        ticket
    }

    /// Passes on what the session has to tell.
    pub(super) fn tell(&mut self, now: Micros) {
        while let Some(event) = self.session.poll_event() {
            tracing::debug!(target: "seinpaal", ?event);
            self.pass_on(now, event);
        }
    }

    fn pass_on(&mut self, now: Micros, event: Event) {
        match event {
            Event::Queued { ticket, waiting } => {
                if let Some(request) = self.waiting.requests.get_mut(&ticket)
                    && let Some(on_queued) = request.on_queued.take()
                {
                    on_queued(waiting);
                }
            }
            Event::Acquired { ticket, fence, slots, limit, valid_until } => {
                self.hand_over(now, ticket, |name| {
                    Grant::new(name, ticket, fence, slots, limit, valid_until)
                });
            }
            Event::Renewed { ticket, valid_until } => {
                self.on_grant(ticket, |grant| grant.renewed(valid_until));
            }
            Event::Danger { ticket } => {
                self.on_grant(ticket, |grant| grant.set(PermitState::Danger));
            }
            Event::Lost { ticket, loss } => self.lost(ticket, loss),
            Event::Refused { ticket, refusal } => self.refused(now, ticket, refusal),
            Event::Released { ticket, was_held, left, given } => {
                self.released(ticket, was_held, left, given);
            }
            Event::Detached { ticket, valid_for } => {
                self.waiting.grants.remove(&ticket);
                if let Some(reply) = self.waiting.detaches.remove(&ticket) {
                    let _ = reply.send(Ok(valid_for));
                }
            }
            Event::Answer { ask, reply } => {
                let answer = reply.ok_or_else(|| self.error());
                if let Some(asked) = self.asks.remove(&ask) {
                    let _ = asked.send(answer);
                }
            }
            _ => {}
        }
    }

    fn on_grant(&self, ticket: Ticket, tell: impl FnOnce(&Grant)) {
        if let Some(grant) = self.waiting.grants.get(&ticket) {
            tell(grant);
        }
    }

    fn hand_over(&mut self, now: Micros, ticket: Ticket, grant: impl FnOnce(Name) -> Grant) {
        let Some(request) = self.waiting.requests.remove(&ticket) else {
            return self.session.cancel(now, ticket);
        };
        self.waiting.tickets.remove(&request.number);
        let grant = Arc::new(grant(request.wanted.name));
        self.waiting.grants.insert(ticket, Arc::clone(&grant));
        if request.reply.send(Ok(grant)).is_err() {
            self.waiting.grants.remove(&ticket);
            self.session.cancel(now, ticket);
        }
    }

    fn lost(&mut self, ticket: Ticket, loss: Loss) {
        if let Some(grant) = self.waiting.grants.remove(&ticket) {
            let lost = Lost::from(loss);
            tracing::warn!(target: "seinpaal", name = %grant.name, %ticket, %lost, "lost");
            grant.set(PermitState::Lost(lost));
        }
        self.answer_releases(ticket, false);
        if let Some(reply) = self.waiting.detaches.remove(&ticket) {
            let _ = reply.send(Err(ReleaseError::NotHeld));
        }
    }

    fn refused(&mut self, now: Micros, ticket: Ticket, refusal: Refusal) {
        let Some(request) = self.waiting.requests.remove(&ticket) else { return };
        self.waiting.tickets.remove(&request.number);
        let error = match refusal {
            // A grant that ran out before anybody heard of it: ask again, at the end of the line.
            Refusal::Ended(Cause::Expired) if request.wanted.attach.is_none() => {
                self.acquire(now, request);
                return;
            }
            Refusal::Busy(Busy::TooManyWaiting) => AcquireError::TooManyWaiting,
            Refusal::Busy(Busy::Paused) => AcquireError::Paused,
            Refusal::Busy(_) => AcquireError::Busy,
            Refusal::TimedOut => AcquireError::TimedOut,
            Refusal::OtherKind { stored, stated } => AcquireError::OtherKind { stored, stated },
            Refusal::OtherLimit { stored, stated } => AcquireError::OtherLimit { stored, stated },
            Refusal::TooMany { permits, limit } => AcquireError::TooMany { permits, limit },
            Refusal::Ended(cause) => AcquireError::Ended(cause.into()),
            Refusal::Unknown => AcquireError::Unknown,
            _ => self.refused_by_store(),
        };
        let _ = request.reply.send(Err(error));
    }

    fn released(&mut self, ticket: Ticket, was_held: bool, left: u32, given: Option<Slots>) {
        let Some(given) = given.filter(|_| left > 0) else {
            self.waiting.grants.remove(&ticket);
            return self.answer_releases(ticket, was_held);
        };
        if let Some(releases) = self.waiting.releases.get_mut(&ticket) {
            for release in releases.extract_if(.., |(slots, _)| given.contains(slots)) {
                answer(release, was_held);
            }
        }
    }

    fn answer_releases(&mut self, ticket: Ticket, was_held: bool) {
        for release in self.waiting.releases.remove(&ticket).into_iter().flatten() {
            answer(release, was_held);
        }
    }
}

fn answer((_, reply): Release, was_held: bool) {
    if let Some(reply) = reply {
        let _ = reply.send(if was_held { Ok(()) } else { Err(ReleaseError::NotHeld) });
    }
}
