//! The store's side: the real ledger executes a batch, and the step is judged.

use std::sync::Arc;

use seinpaal_proto::{Batch, Contact, Contacts, Inbox, Outcome, Wakeup, execute, session::CallId};

use super::{Client, Load, Parcel, World, judge::Step};
use crate::bounds::Bounds;

/// What the store knows of clients.
pub(super) struct Known<'a>(pub(super) &'a [Client]);

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
        let outcome = match bounds.plant {
            None => self.execute(bounds, batch),
            Some(plant) => {
                let planted = plant.request(batch, &self.ledger);
                let mut outcome = self.execute(bounds, &planted);
                plant.outcome(bounds, batch, &mut outcome);
                outcome
            }
        };
        for wakeup in outcome.wakeups {
            self.post(bounds, wakeup);
        }
        if let Some(call) = call {
            let replies = Arc::new(outcome.replies);
            self.parcels.push(Parcel::new(Load::Replies { to: from, call, replies }));
        }
    }

    fn execute(&mut self, bounds: &Bounds, batch: &Batch) -> Outcome {
        self.forget(bounds);
        self.step(bounds, batch)
    }

    /// A store forgets what nobody uses as soon as it may, though nobody asks.
    pub(super) fn forget(&mut self, bounds: &Bounds) {
        if self.ledger.is_at_rest() && !self.ledger.is_empty() {
            self.look(bounds);
        }
    }

    pub(super) fn look(&mut self, bounds: &Bounds) {
        let (name, requests) = (Self::name(), Vec::new());
        self.step(bounds, &Batch { name, inbox: None, fence_seen: 0, requests });
    }

    fn step(&mut self, bounds: &Bounds, batch: &Batch) -> Outcome {
        let before = Arc::clone(&self.ledger);
        let ledger = Arc::make_mut(&mut self.ledger);
        bounds.plant.inspect(|plant| plant.before(ledger));
        let Ok(outcome) = execute(ledger, &mut Known(&self.clients), self.store_now, batch);
        bounds.plant.inspect(|plant| plant.after(ledger, batch));
        let step = Step { before: &before, after: &self.ledger, batch };
        let broken = step.judge(bounds, self.store_now, &self.clients, &mut self.ghost);
        self.ghost.broken = self.ghost.broken.or(broken);
        outcome
    }

    /// A wakeup to nobody, or one too many, is lost.
    fn post(&mut self, bounds: &Bounds, wakeup: Wakeup) {
        let Some(to) = self.clients.iter().position(|c| c.inbox == wakeup.inbox) else { return };
        let under_way = |parcel: &&Parcel| matches!(parcel.load, Load::Wakeup { .. });
        let is_heard = self.clients[to].contact == Contact::Listening
            && self.clients[to].life != super::Life::Gone;
        if is_heard && self.parcels.iter().filter(under_way).count() < bounds.wakeups {
            self.parcels.push(Parcel::new(Load::Wakeup { to, wakeup: Arc::new(wakeup) }));
        }
    }
}
