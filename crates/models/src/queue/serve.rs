//! The store's side: the real ledger executes a batch, and the step is judged.

use std::sync::Arc;

use seinpaal_proto::{
    Contact, Contacts, Inbox,
    queue::{Batch, Outcome, Request, Wakeup, execute},
    session::CallId,
};

use super::{
    bounds::Bounds,
    judge::Step,
    world::{Client, Parcel, World},
};
use crate::traffic::{Life, Load};

/// The store's knowledge of which clients listen.
struct Known<'a>(&'a [Client]);

impl Contacts for Known<'_> {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        let client = self.0.iter().find(|client| client.inbox == inbox);
        client.map_or(Contact::Silent, |client| client.contact)
    }
}

impl World {
    pub(super) fn serve(
        &mut self,
        bounds: &Bounds,
        from: usize,
        call: Option<CallId>,
        batch: &Batch,
    ) {
        let outcome = self.step(bounds, batch);
        self.post_all(bounds, outcome.wakeups);
        if let Some(call) = call {
            let replies = Arc::new(outcome.replies);
            self.parcels.push(Parcel::new(Load::Replies { to: from, call, replies }));
        }
    }

    /// Sends requests from a session that is no client of the model and that the ledger does not
    /// remember.
    pub(super) fn ask_aside(&mut self, bounds: &Bounds, requests: Vec<Request>) {
        let (name, session) = (Self::name(), Inbox(1));
        let not_after = self.store_now;
        let batch = Batch { name, session, number: 0, not_after, seen: 0, requests };
        let outcome = self.step(bounds, &batch);
        self.post_all(bounds, outcome.wakeups);
    }

    fn step(&mut self, bounds: &Bounds, batch: &Batch) -> Outcome {
        let before = Arc::clone(&self.ledger);
        let ledger = Arc::make_mut(&mut self.ledger);
        let rewritten = bounds.plant.map(|plant| {
            plant.before(ledger, self.store_now);
            plant.request(batch, ledger)
        });
        let done = rewritten.as_ref().unwrap_or(batch);
        let Ok(mut outcome) = execute(ledger, &mut Known(&self.clients), self.store_now, done);
        bounds.plant.inspect(|plant| plant.after(&before, ledger, batch, self.store_now));
        bounds.plant.inspect(|plant| plant.replies(&mut outcome.replies));
        let (after, store_now) = (&*self.ledger, self.store_now);
        let step = Step { bounds, before: &before, after, batch, store_now };
        let broken = step.judge(&self.clients, &mut self.ghost);
        self.ghost.broken = self.ghost.broken.or(broken);
        outcome
    }

    /// Sends wakeups. A wakeup to a client that does not listen is lost, and so is a wakeup beyond
    /// `Bounds::wakeups`.
    fn post_all(&mut self, bounds: &Bounds, wakeups: Vec<Wakeup>) {
        for wakeup in wakeups {
            let to = self.clients.iter().position(|client| client.inbox == wakeup.inbox);
            let Some(to) = to.filter(|to| self.clients[*to].life != Life::Gone) else { continue };
            let under_way = self.parcels.iter().filter(|parcel| parcel.is_wakeup()).count();
            let is_heard = self.clients[to].contact == Contact::Listening;
            if is_heard && under_way < bounds.wakeups {
                self.parcels.push(Parcel::new(Load::Wakeup { to, wakeup: Arc::new(wakeup) }));
            } else {
                self.ghost.is_slow = true;
            }
        }
    }
}
