//! The acts of an operator, and of clients on permits of others.

use std::sync::Arc;

use seinpaal_proto::{
    Batch, Configure, Entry, LeaseId, Limit, MemoryState, Renew, Request, SlotNames, Ticket, Whom,
    session::Session,
};

use super::{
    Action, Life, World,
    act::want,
    step::{fence_of, is_ended_by},
};
use crate::{
    bounds::{Bounds, Rule, Steer},
    traffic::Load,
};

impl World {
    pub(super) fn actions_to(&self, steer: Steer, actions: &mut Vec<Action>) {
        let tickets: Vec<Ticket> = self.holders().map(|entry| entry.ticket).collect();
        let pinned = self.ledger.facts().and_then(|head| head.pinned);
        let everybody = 0..self.clients.len();
        match steer {
            Steer::Attach => actions.extend(everybody.flat_map(|who| {
                let strange = tickets.iter().filter(move |ticket| self.is_strange(who, **ticket));
                strange.map(move |ticket| Action::Attach(who, *ticket))
            })),
            Steer::Detach => actions.extend(everybody.flat_map(|who| {
                let is_alive = self.clients[who].life == Life::Alive;
                let held = if is_alive { self.clients[who].held.len() } else { 0 };
                (0..held).map(move |nth| Action::Detach(who, nth))
            })),
            Steer::Release | Steer::Evict | Steer::Renew => {
                actions.extend(tickets.iter().map(|ticket| Action::Operate(steer, Some(*ticket))));
            }
            Steer::Pin(limit) if pinned == Some(limit) => {}
            Steer::Unpin if pinned.is_none() => {}
            Steer::Name(names)
                if self.ledger.facts().is_some_and(|head| head.names.to_string() == names) => {}
            Steer::Pin(_) | Steer::Unpin | Steer::Name(_) => {
                actions.push(Action::Operate(steer, None));
            }
        }
    }

    /// Returns whether a living client neither holds a ticket, nor waits under it, nor has a
    /// request under way that ends it.
    fn is_strange(&self, who: usize, ticket: Ticket) -> bool {
        let client = &self.clients[who];
        let has = client.held.iter().map(|held| &held.ticket).chain(&client.wanted);
        let is_known = has.into_iter().any(|known| *known == ticket);
        client.life == Life::Alive && !is_known && !self.is_being_ended_by(who, ticket)
    }

    /// Returns whether a request of the client that ends the ticket is under way. The request names
    /// no grant, so it also ends a hold for which the client attaches to the ticket meanwhile. The
    /// models avoid that case, because nothing is promised about it (docs/decisions/tickets.md).
    fn is_being_ended_by(&self, who: usize, ticket: Ticket) -> bool {
        let ends = |request: &Request| match request {
            Request::Release { ticket: ended, .. } => *ended == ticket,
            Request::Cancel { ticket: ended, attach: None, .. } => *ended == ticket,
            _ => false,
        };
        self.parcels.iter().any(|parcel| match &parcel.load {
            Load::Request { from, batch, .. } => *from == who && batch.requests.iter().any(ends),
            _ => false,
        })
    }

    pub(super) fn attach(&mut self, who: usize, ticket: Ticket, bounds: &Bounds) {
        self.turns_left -= 1;
        let (name, now) = (Self::name(), self.now);
        let want = want(1, Rule::Nothing, "", bounds);
        let session = Arc::make_mut(&mut self.clients[who].session);
        let begun = session.attach(now, &name, ticket, want);
        if begun.is_ok() {
            self.ghost.attached.push((who, ticket));
            self.clients[who].wanted.push(ticket);
        }
        self.with_session(who, |_, _| {});
    }

    pub(super) fn detach(&mut self, who: usize, nth: usize) {
        self.turns_left -= 1;
        let ticket = self.clients[who].held.remove(nth).ticket;
        self.with_session(who, |session: &mut Session, now| session.detach(now, ticket));
    }

    /// An operator's request belongs to no client, and arrives at once.
    pub(super) fn operate(&mut self, bounds: &Bounds, steer: Steer, ticket: Option<Ticket>) {
        self.turns_left = self.turns_left.saturating_sub(1);
        let request = match (steer, ticket) {
            (Steer::Release, Some(ticket)) => Request::Release { ticket, slots: None },
            (Steer::Evict, Some(ticket)) => Request::Evict { ticket },
            (Steer::Renew, Some(ticket)) => Request::Renew(Renew {
                lease: LeaseId::from(ticket),
                ttl: bounds.ttl(),
                margin: bounds.ttl() / 4,
                whom: Whom::Tickets(vec![ticket]),
            }),
            (Steer::Pin(limit), _) => {
                let limit = Limit::new(limit).unwrap_or(Limit::ONE);
                Request::Configure(Configure::Limit(limit))
            }
            (Steer::Unpin, _) => Request::Configure(Configure::Unpin),
            (Steer::Name(names), _) => Request::Configure(Configure::Slots(
                names.parse().unwrap_or_else(|_| SlotNames::none()),
            )),
            _ => return,
        };
        let requests = vec![request];
        let batch = Batch { name: Self::name(), inbox: None, fence_seen: 0, requests };
        let wakeups = self.take(bounds, &batch).wakeups;
        wakeups.into_iter().for_each(|wakeup| self.post(bounds, wakeup));
    }

    /// Notes the grants of others that this batch ended by name.
    pub(super) fn note_endings(&mut self, before: &MemoryState, batch: &Batch) {
        for entry in before.entries().filter(|entry| is_ended_by(batch, entry.ticket)) {
            let owner = self.clients.iter().position(|client| Some(client.inbox) == entry.inbox);
            let stays = |after: &Entry| {
                (after.ticket, after.inbox) == (entry.ticket, entry.inbox)
                    && fence_of(after) == fence_of(entry)
            };
            if let (Some(owner), Some(fence)) = (owner, fence_of(entry))
                && !self.holders().any(stays)
            {
                self.ghost.ended.insert((owner, entry.ticket, fence), self.now);
            }
        }
    }
}
