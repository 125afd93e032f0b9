//! The queues of a connection: a session for each that is in use, and who in the program waits for what.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use seinpaal_proto::{
    Inbox, Name,
    queue::{
        Replies, Wakeup,
        session::{Bearings, Call, Session, Until, Wish},
    },
    session::{CallId, Config},
    time::Micros,
};

use super::{
    queue_command::{QueueCommand, Wanted},
    queue_waiters::{QueueWaiters, Taker},
};
use crate::{
    boottime::ClientClock,
    store::{Reading, StoreError},
};

pub(super) struct Queues {
    inbox: Inbox,
    config: Config,
    client_clock: ClientClock,
    address: Arc<str>,
    /// What the next session goes on from.
    bearings: Bearings,
    desks: BTreeMap<Name, QueueWaiters>,
    /// When each is to be looked at next.
    agenda: BTreeSet<(Micros, Name)>,
    touched: BTreeSet<Name>,
}

impl Queues {
    pub(super) fn new(
        inbox: Inbox,
        config: Config,
        reading: Reading,
        client_clock: ClientClock,
        address: Arc<str>,
    ) -> Self {
        let Reading { shows, asked_at } = reading;
        let clock = Some((shows, asked_at, client_clock.now()));
        Self {
            inbox,
            config,
            client_clock,
            address,
            bearings: Bearings { clock, seen: shows, ..Bearings::default() },
            desks: BTreeMap::new(),
            agenda: BTreeSet::new(),
            touched: BTreeSet::new(),
        }
    }

    pub(super) fn take_command(&mut self, now: Micros, name: Name, command: QueueCommand) {
        let ttl = self.config.ttl;
        let desk = self.desk(&name);
        match command {
            QueueCommand::Ask(asks) => {
                for (request, reply) in asks {
                    let ask = desk.session.ask(now, request);
                    desk.asks.insert(ask, reply);
                }
            }
            QueueCommand::Pop(wanted) => {
                let Wanted { number, items, until, drains, about, to, .. } = wanted;
                let ttl = wanted.ttl.unwrap_or(ttl);
                let pop = desk.session.pop(Wish { items, ttl, until, drains, about });
                let goes_on = until == Until::Unpopped;
                desk.pops.insert(pop, Taker { number, to, goes_on });
                desk.numbers.insert(number, pop);
            }
            QueueCommand::Unpop { number } => desk.unpop(number),
            QueueCommand::Finish { delivery, how, reply } => {
                desk.leases.remove(&delivery);
                desk.finishes.extend(reply.map(|reply| (delivery, reply)));
                desk.session.finish(delivery, how);
            }
        }
    }

    fn desk(&mut self, name: &Name) -> &mut QueueWaiters {
        self.touched.insert(name.clone());
        self.desks.entry(name.clone()).or_insert_with(|| {
            let session =
                Session::new(self.inbox, name.clone(), self.config.clone(), self.bearings);
            QueueWaiters::new(session, self.client_clock, Arc::clone(&self.address))
        })
    }

    /// News of a queue that is not in use any more are about nothing.
    fn with(&mut self, name: &Name, tell: impl FnOnce(&mut QueueWaiters)) {
        if let Some(desk) = self.desks.get_mut(name) {
            tell(desk);
            self.touched.insert(name.clone());
        }
    }

    pub(super) fn take_wakeup(&mut self, now: Micros, wakeup: &Wakeup) {
        self.with(&wakeup.name, |desk| desk.session.handle_wakeup(now, wakeup));
    }

    pub(super) fn look_again(&mut self, now: Micros) {
        self.desks.values_mut().for_each(|desk| desk.session.look_again(now));
        self.touched.extend(self.desks.keys().cloned());
    }

    pub(super) fn take_done(
        &mut self,
        now: Micros,
        name: &Name,
        call: CallId,
        result: Result<Replies, StoreError>,
    ) {
        self.with(name, |desk| match result {
            Ok(replies) => {
                desk.last_error = None;
                desk.session.handle_replies(now, call, replies);
            }
            Err(error) => {
                tracing::warn!(target: "seinpaal", kind = ?error.kind(), %error, "the store did not answer");
                let failure = error.as_failure();
                desk.last_error = Some(error);
                desk.session.handle_failure(now, call, failure);
            }
        });
    }

    pub(super) fn close(&mut self) {
        for desk in self.desks.values_mut() {
            desk.close();
        }
        self.touched.extend(self.desks.keys().cloned());
    }

    /// Lets time pass, tells what there is to tell, and says what calls are due.
    pub(super) fn step(&mut self, now: Micros) -> Vec<(Name, Call)> {
        while let Some((_, name)) = self.agenda.first().filter(|(at, _)| *at <= now) {
            let name = name.clone();
            self.agenda.pop_first();
            self.touched.insert(name);
        }
        let touched = std::mem::take(&mut self.touched);
        touched.into_iter().flat_map(|name| self.step_one(now, name)).collect()
    }

    fn step_one(&mut self, now: Micros, name: Name) -> Option<(Name, Call)> {
        let desk = self.desks.get_mut(&name)?;
        desk.session.handle_timeout(now);
        desk.tell(&name);
        let call = desk.session.poll_call(now);
        desk.tell(&name);
        self.bearings = later(self.bearings, desk.session.bearings());
        if let Some(at) = desk.agenda_at.take() {
            self.agenda.remove(&(at, name.clone()));
        }
        if desk.session.is_idle() && desk.is_idle() {
            self.desks.remove(&name);
            return None;
        }
        if let Some(at) = desk.session.poll_timeout() {
            desk.agenda_at = Some(at);
            self.agenda.insert((at, name.clone()));
        }
        Some((name, call?))
    }

    pub(super) fn next_timeout(&self) -> Option<Micros> {
        self.agenda.first().map(|(at, _)| *at)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.desks.is_empty() && self.touched.is_empty()
    }
}

/// The later of each.
fn later(a: Bearings, b: Bearings) -> Bearings {
    Bearings {
        number: a.number.max(b.number),
        not_after: a.not_after.max(b.not_after),
        clock: match (a.clock, b.clock) {
            (Some(a), Some(b)) => Some(if a.1 > b.1 { a } else { b }),
            (a, b) => a.or(b),
        },
        seen: a.seen.max(b.seen),
    }
}

#[cfg(test)]
mod tests;
