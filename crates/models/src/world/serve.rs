//! The store's side: the real ledger executes a batch, and the step is judged.

use std::sync::Arc;

use seinpaal_proto::{
    Batch, Contact, Contacts, Inbox, Outcome, Request, Ticket, Wakeup, execute, session::CallId,
};

use super::{Broken, Client, Parcel, World, step::Step};
use crate::{
    bounds::Bounds,
    traffic::{Life, Load},
};

/// The store's knowledge of which clients listen.
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
        let outcome = self.take(bounds, batch);
        for wakeup in outcome.wakeups {
            self.post(bounds, wakeup);
        }
        if let Some(call) = call {
            let replies = Arc::new(outcome.replies);
            self.parcels.push(Parcel::new(Load::Replies { to: from, call, replies }));
        }
    }

    /// Executes a batch that arrives, with the planted mistake if there is one.
    pub(super) fn take(&mut self, bounds: &Bounds, batch: &Batch) -> Outcome {
        let Some(plant) = bounds.plant else { return self.execute(bounds, batch) };
        let planted = plant.request(batch, &self.ledger);
        let mut outcome = self.execute(bounds, &planted);
        plant.outcome(bounds, batch, &mut outcome);
        outcome
    }

    pub(super) fn execute(&mut self, bounds: &Bounds, batch: &Batch) -> Outcome {
        self.forget(bounds);
        if self.ghost.terms.is_some() || self.ghost.naming.is_some() {
            return self.execute_in_turn(bounds, batch);
        }
        self.step(bounds, batch)
    }

    /// Expires what is due, and then executes request by request, so that the limit and the names
    /// can be judged after each.
    fn execute_in_turn(&mut self, bounds: &Bounds, batch: &Batch) -> Outcome {
        let of = |requests| Batch { requests, ..batch.clone() };
        let mut whole = self.step(bounds, &of(Vec::new()));
        for request in &batch.requests {
            let outcome = self.step(bounds, &of(vec![request.clone()]));
            whole.wakeups.extend(outcome.wakeups);
            whole.replies.replies.extend(outcome.replies.replies);
            whole.replies.backlog |= outcome.replies.backlog;
            whole.replies.look_in = outcome.replies.look_in;
        }
        whole
    }

    /// Forgets the name as soon as a store may, although no request arrives.
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
        let replies = &outcome.replies.replies;
        let step = Step { before: &before, after: &self.ledger, batch, replies };
        let broken = step.judge(bounds, self.store_now, &self.clients, &mut self.ghost);
        let broken =
            broken.filter(|b| *b != Broken::Twice || !self.asks_for_the_forgotten(bounds, batch));
        self.ghost.broken = self.ghost.broken.or(broken);
        self.note_endings(&before, batch);
        outcome
    }

    /// Returns whether a batch asks for a ticket that another client ended so long ago that the
    /// ledger has forgotten it. The batch may come from the ticket's own client, which was never
    /// told of the end and still wants the permit, or be a stray copy of that client's request
    /// (docs/internals/tests/models.md).
    fn asks_for_the_forgotten(&self, bounds: &Bounds, batch: &Batch) -> bool {
        let mut ended = self.ghost.ended.iter();
        ended.any(|((_, ticket, _), at)| at + bounds.ttl() <= self.now && asks_for(batch, *ticket))
    }

    /// Sends a wakeup. A wakeup to a client that does not listen is lost, and so is a wakeup beyond
    /// `Bounds::wakeups`.
    pub(super) fn post(&mut self, bounds: &Bounds, wakeup: Wakeup) {
        let Some(to) = self.clients.iter().position(|c| c.inbox == wakeup.inbox) else { return };
        let under_way = self.parcels.iter().filter(|parcel| parcel.is_wakeup()).count();
        let is_heard =
            self.clients[to].contact == Contact::Listening && self.clients[to].life != Life::Gone;
        if is_heard && under_way < bounds.wakeups {
            self.parcels.push(Parcel::new(Load::Wakeup { to, wakeup: Arc::new(wakeup) }));
        }
    }
}

/// Returns whether a batch asks for permits under this ticket.
pub(super) fn asks_for(batch: &Batch, ticket: Ticket) -> bool {
    batch
        .requests
        .iter()
        .any(|request| matches!(request, Request::Acquire(want) if want.ticket == ticket))
}
