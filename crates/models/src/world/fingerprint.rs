//! What of a world can still make a difference: instants count by their distance from now.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
};

use seinpaal_proto::{Acquire, Batch, Contact, Lens, Replies, Reply, Request, TicketReply, What};

use super::{Client, Held, Load, Parcel, World};
use crate::bounds::TICK;

/// Twice the longest lease of any model, in ticks.
const PAST: u64 = 16;
/// No less than any model's clock steps back, in ticks.
const BACK: u64 = 64;

impl World {
    fn lenses(&self) -> (Lens, Lens) {
        let back = if self.backward_left > 0 { BACK * TICK } else { 0 };
        let own = Lens { now: self.now, tick: TICK, past: PAST * TICK, back };
        (own, own.on(self.store_now))
    }
}

impl Hash for World {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let (own, store) = self.lenses();
        self.ledger.fingerprint(&store, hasher);
        for client in &self.clients {
            client_of(client, &own, &store, hasher);
        }
        // The order of what is under way says nothing: anything may arrive first.
        let parcels = self.parcels.iter().map(|parcel| hash_of(parcel, &store));
        parcels.fold(0_u64, u64::wrapping_add).hash(hasher);
        (self.faults_left, self.forward_left, self.backward_left).hash(hasher);
        store.fence(seinpaal_proto::Fence(self.ghost.last_fence)).hash(hasher);
        (&self.ghost.granted, self.ghost.was_forgotten, self.ghost.was_set_back, self.ghost.broken)
            .hash(hasher);
    }
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        let of = |world: &Self| {
            let mut hasher = DefaultHasher::new();
            world.hash(&mut hasher);
            hasher.finish()
        };
        of(self) == of(other)
    }
}

fn client_of<H: Hasher>(client: &Client, own: &Lens, store: &Lens, hasher: &mut H) {
    let Client { inbox: _, session, life, contact, call, wishes_left, wanted, held } = client;
    (life, *contact == Contact::Listening, wishes_left, wanted).hash(hasher);
    call.map(|(_, since)| own.exact(since)).hash(hasher);
    if *life == super::Life::Gone {
        return;
    }
    session.fingerprint(own, store, hasher);
    for Held { ticket, permits, until } in held {
        (ticket, permits, until.map(|until| own.ticks(until))).hash(hasher);
    }
}

fn hash_of(parcel: &Parcel, store: &Lens) -> u64 {
    let mut hasher = DefaultHasher::new();
    parcel.is_late.hash(&mut hasher);
    match &parcel.load {
        Load::Request { from, call, batch } => {
            (0_u8, from, call.is_some()).hash(&mut hasher);
            batch_of(batch, store, &mut hasher);
        }
        Load::Replies { to, replies, .. } => {
            (1_u8, to).hash(&mut hasher);
            replies_of(replies, store, &mut hasher);
        }
        Load::Wakeup { to, wakeup } => {
            (2_u8, to, wakeup.ticket).hash(&mut hasher);
            match &wakeup.what {
                What::Granted { fence, slots, limit } => {
                    (store.fence(*fence), slots, limit).hash(&mut hasher);
                }
                other => other.hash(&mut hasher),
            }
        }
    }
    hasher.finish()
}

fn batch_of<H: Hasher>(batch: &Batch, store: &Lens, hasher: &mut H) {
    let Batch { name: _, inbox, fence_seen, requests } = batch;
    (inbox, store.fence(seinpaal_proto::Fence(*fence_seen))).hash(hasher);
    for request in requests {
        match request {
            Request::Acquire(Acquire {
                ticket, permits, lease, waiter_lease, not_after, ..
            }) => {
                let not_after = not_after.map(|at| store.exact(at));
                (ticket, permits, lease, waiter_lease, not_after).hash(hasher);
            }
            other => other.hash(hasher),
        }
    }
}

fn replies_of<H: Hasher>(replies: &Replies, store: &Lens, hasher: &mut H) {
    let Replies { now, replies, backlog, look_in } = replies;
    (store.exact(*now), backlog, look_in).hash(hasher);
    for reply in replies {
        match reply {
            Reply::Granted(grant) => {
                (grant.ticket, store.fence(grant.fence), &grant.slots).hash(hasher);
                (grant.limit, grant.valid_for).hash(hasher);
            }
            Reply::Tickets { valid_for, tickets } => {
                valid_for.hash(hasher);
                tickets.iter().for_each(|reply| ticket_of(reply, store, hasher));
            }
            other => other.hash(hasher),
        }
    }
}

fn ticket_of<H: Hasher>(reply: &TicketReply, store: &Lens, hasher: &mut H) {
    match reply {
        TicketReply::Held { fence, slots } => (store.fence(*fence), slots).hash(hasher),
        other => other.hash(hasher),
    }
}
