//! The queues of a connection: a session for each queue in use, and the callers that wait at it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use seinpaal_proto::{
    Inbox, Name,
    queue::{
        Replies, Wakeup,
        session::{Bearings, Call, Session, Until, Want},
    },
    session::{CallId, SessionConfig},
    time::Micros,
};

use super::{
    journal::{note_failure, note_queue_batch},
    queue_command::{QueueCommand, WantedItems},
    queue_waiters::{QueueWaiters, Taker},
};
use crate::{
    boottime::ClientClock,
    store::{Reading, StoreError},
};

pub(super) struct QueueSessions {
    inbox: Inbox,
    config: SessionConfig,
    client_clock: ClientClock,
    address: Arc<str>,
    /// The state that the next session carries on.
    bearings: Bearings,
    by_name: BTreeMap<Name, QueueWaiters>,
    /// The instant of the next look at each queue.
    agenda: BTreeSet<(Micros, Name)>,
    /// Queues with news or commands since the last step.
    touched: BTreeSet<Name>,
}

impl QueueSessions {
    pub(super) fn new(
        inbox: Inbox,
        config: SessionConfig,
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
            by_name: BTreeMap::new(),
            agenda: BTreeSet::new(),
            touched: BTreeSet::new(),
        }
    }

    pub(super) fn take_command(&mut self, now: Micros, name: Name, command: QueueCommand) {
        let ttl = self.config.ttl;
        let waiters = self.waiters(&name);
        match command {
            QueueCommand::OneOffs(one_offs) => {
                for (request, reply) in one_offs {
                    let one_off = waiters.session.one_off(now, request);
                    waiters.one_offs.insert(one_off, reply);
                }
            }
            QueueCommand::Pop(wanted) => {
                let WantedItems { number, items, until, drains, about, to, .. } = wanted;
                let ttl = wanted.ttl.unwrap_or(ttl);
                let pop = waiters.session.pop(Want { items, ttl, until, drains, about });
                let goes_on = until == Until::Unpopped;
                waiters.pops.insert(pop, Taker { number, to, goes_on });
                waiters.numbers.insert(number, pop);
            }
            QueueCommand::Unpop { number } => waiters.unpop(number),
            QueueCommand::Finish { delivery, how, reply } => {
                // The program has finished the item, so no news of its lease are passed on any
                // more.
                waiters.leases.remove(&delivery);
                waiters.finishes.extend(reply.map(|reply| (delivery, reply)));
                waiters.session.finish(delivery, how);
            }
        }
    }

    fn waiters(&mut self, name: &Name) -> &mut QueueWaiters {
        self.touched.insert(name.clone());
        self.by_name.entry(name.clone()).or_insert_with(|| {
            let session =
                Session::new(self.inbox, name.clone(), self.config.clone(), self.bearings);
            QueueWaiters::new(session, self.client_clock, Arc::clone(&self.address))
        })
    }

    /// Passes news to the session of a queue. News about a queue that is no longer in use are
    /// dropped.
    fn with(&mut self, name: &Name, tell: impl FnOnce(&mut QueueWaiters)) {
        if let Some(waiters) = self.by_name.get_mut(name) {
            tell(waiters);
            self.touched.insert(name.clone());
        }
    }

    pub(super) fn take_wakeup(&mut self, now: Micros, wakeup: &Wakeup) {
        self.with(&wakeup.name, |waiters| waiters.session.handle_wakeup(now, wakeup));
    }

    pub(super) fn look_again(&mut self, now: Micros) {
        self.by_name.values_mut().for_each(|waiters| waiters.session.look_again(now));
        self.touched.extend(self.by_name.keys().cloned());
    }

    pub(super) fn take_done(
        &mut self,
        now: Micros,
        name: &Name,
        call: CallId,
        result: Result<Replies, StoreError>,
    ) {
        self.with(name, |waiters| match result {
            Ok(replies) => {
                waiters.last_error = None;
                waiters.session.handle_replies(now, call, replies);
            }
            Err(error) => {
                note_failure(&error);
                let failure = error.as_failure();
                waiters.last_error = Some(error);
                waiters.session.handle_failure(now, call, failure);
            }
        });
    }

    pub(super) fn close(&mut self) {
        for (name, waiters) in &mut self.by_name {
            waiters.close();
            waiters.count(name);
        }
        self.touched.extend(self.by_name.keys().cloned());
    }

    /// Marks all items in work as lost to the program.
    pub(super) fn lose_leases(&mut self) {
        self.by_name.values_mut().for_each(QueueWaiters::lose_leases);
    }

    /// Lets time pass, passes on events, and returns the calls that are due.
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
        let waiters = self.by_name.get_mut(&name)?;
        waiters.session.handle_timeout(now);
        waiters.tell(&name);
        let before = waiters.session.bearings().number;
        let call = waiters.session.poll_call(now);
        // A batch that is sent again has the same number as before.
        if let Some(call) = call.as_ref().filter(|call| call.batch.number > before) {
            note_queue_batch(&name, &call.batch);
        }
        self.bearings = later(self.bearings, waiters.session.bearings());
        if let Some(at) = waiters.agenda_at.take() {
            self.agenda.remove(&(at, name.clone()));
        }
        if waiters.session.is_idle() && waiters.is_idle() {
            // The next session at this queue, or at another one, goes on with the bearings that
            // were noted above.
            self.by_name.remove(&name);
            return None;
        }
        if let Some(at) = waiters.session.poll_timeout() {
            waiters.agenda_at = Some(at);
            self.agenda.insert((at, name.clone()));
        }
        Some((name, call?))
    }

    pub(super) fn next_timeout(&self) -> Option<Micros> {
        self.agenda.first().map(|(at, _)| *at)
    }

    pub(super) fn holds(&self) -> bool {
        self.by_name.values().any(QueueWaiters::holds)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.by_name.is_empty() && self.touched.is_empty()
    }
}

/// Returns the later value of each field.
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
