//! The part of a world that can still make a difference. Instants count by their distance from now.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
};

use seinpaal_proto::{
    Acquire, Attach, Batch, Contact, Fence, Lens, Replies, Reply, Request, TicketReply, What,
};

use super::{Client, Ghost, Parcel, PermitInProgram, World, step::fence_of};
use crate::{
    bounds::TICK,
    game::are_alike,
    traffic::{Life, Load},
};

/// How far back instants still count, in ticks: twice the longest lease or place of any model.
const PAST: u64 = 24;
/// The reach of [`PAST`] where the store's clock is set, in ticks. An instant that is new by the
/// client's clock may lie a step further back by the store's, and an instant in the past may be
/// ahead again.
const BACK: u64 = 64;

impl World {
    fn lenses(&self) -> (Lens, Lens) {
        // The longer reach counts after the last step of the clock, too: an answer from before that
        // step may still be under way.
        let past = if self.is_clock_set { BACK } else { PAST };
        let back = if self.backward_left > 0 { BACK * TICK } else { 0 };
        let own = Lens { now: self.now, tick: TICK, past: past * TICK, back };
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
        let looks = InstantViews { store, fences: self.fences_in_order() };
        self.fences_of_holders().for_each(|fence| looks.fence(fence).hash(hasher));
        // The order of parcels does not count, because any of them may arrive first.
        let parcels = self.parcels.iter().map(|parcel| hash_of(parcel, &looks));
        parcels.fold(0_u64, u64::wrapping_add).hash(hasher);
        (self.faults_left, self.forward_left, self.backward_left, self.turns_left).hash(hasher);
        ghost_of(&self.ghost, &own, &looks, hasher);
    }
}

impl World {
    fn fences_of_holders(&self) -> impl Iterator<Item = Fence> {
        let held = self.clients.iter().flat_map(|client| &client.held).map(|held| held.fence);
        held.chain(self.holders().filter_map(fence_of)).map(Fence)
    }

    /// Every fence that can still be compared with another of its ticket. There is none before a
    /// ticket has changed hands.
    fn fences_in_order(&self) -> Vec<u64> {
        if self.ghost.attached.is_empty() {
            return Vec::new();
        }
        let ended = self.ghost.ended.keys().map(|(_, _, fence)| Fence(*fence));
        let told = self.parcels.iter().flat_map(fences_in);
        let all = self.fences_of_holders().chain(ended).chain(told).map(|fence| fence.0);
        let mut all: Vec<u64> = all.collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Views of a store's instants and fences. Fences count by their distance, and by their order among
/// those that can still be compared.
struct InstantViews {
    store: Lens,
    fences: Vec<u64>,
}

impl InstantViews {
    fn fence(&self, fence: Fence) -> (i64, Option<usize>) {
        (self.store.fence(fence), self.fences.iter().position(|known| *known == fence.0))
    }
}

fn fences_in(parcel: &Parcel) -> Vec<Fence> {
    let of = |reply: &Reply| match reply {
        Reply::Granted(grant) => vec![grant.fence],
        Reply::Tickets { tickets, .. } => tickets.iter().filter_map(fence_told).collect(),
        _ => Vec::new(),
    };
    match &parcel.load {
        Load::Replies { replies, .. } => replies.replies.iter().flat_map(of).collect(),
        Load::Wakeup { wakeup, .. } => match wakeup.what {
            What::Granted { fence, .. } => vec![fence],
            _ => Vec::new(),
        },
        Load::Request { batch, .. } => batch.requests.iter().filter_map(fence_meant).collect(),
    }
}

/// The fence of the grant that a request means. The request is too late if a later grant exists.
fn fence_meant(request: &Request) -> Option<Fence> {
    match request {
        Request::Detach { fence, .. } => Some(*fence),
        _ => None,
    }
}

fn fence_told(reply: &TicketReply) -> Option<Fence> {
    match reply {
        TicketReply::Held { fence, .. } => Some(*fence),
        _ => None,
    }
}

fn ghost_of<H: Hasher>(ghost: &Ghost, own: &Lens, looks: &InstantViews, hasher: &mut H) {
    let Ghost { last_fence, granted, was_forgotten, was_set_back, .. } = ghost;
    looks.store.fence(Fence(*last_fence)).hash(hasher);
    (granted, was_forgotten, was_set_back).hash(hasher);
    let Ghost { ended, attached, terms, is_calm, broken, .. } = ghost;
    for ((who, ticket, fence), at) in ended {
        (who, ticket, looks.fence(Fence(*fence)), own.exact(*at)).hash(hasher);
    }
    (attached, terms, is_calm, broken).hash(hasher);
    // The wishes are in the hashes of requests and waiters already.
    ghost.naming.as_ref().map(|naming| naming.names()).hash(hasher);
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        are_alike(self, other)
    }
}

fn client_of<H: Hasher>(client: &Client, own: &Lens, store: &Lens, hasher: &mut H) {
    let Client { inbox: _, session, life, contact, calls, wants_left, wanted, held } = client;
    (life, *contact == Contact::Listening, wants_left, wanted).hash(hasher);
    calls.iter().for_each(|(_, since)| own.exact(*since).hash(hasher));
    if *life == Life::Gone {
        return;
    }
    session.fingerprint(own, store, hasher);
    for PermitInProgram { ticket, fence: _, permits, until } in held {
        (ticket, permits, until.map(|until| own.ticks(until))).hash(hasher);
    }
}

fn hash_of(parcel: &Parcel, looks: &InstantViews) -> u64 {
    let mut hasher = DefaultHasher::new();
    parcel.is_late.hash(&mut hasher);
    match &parcel.load {
        Load::Request { from, call, batch } => {
            (0_u8, from, call.is_some()).hash(&mut hasher);
            batch_of(batch, looks, &mut hasher);
        }
        Load::Replies { to, replies, .. } => {
            (1_u8, to).hash(&mut hasher);
            replies_of(replies, looks, &mut hasher);
        }
        Load::Wakeup { to, wakeup } => {
            (2_u8, to, wakeup.ticket).hash(&mut hasher);
            match &wakeup.what {
                What::Granted { fence, slots, limit } => {
                    (looks.fence(*fence), slots, limit).hash(&mut hasher);
                }
                other => other.hash(&mut hasher),
            }
        }
    }
    hasher.finish()
}

fn batch_of<H: Hasher>(batch: &Batch, looks: &InstantViews, hasher: &mut H) {
    let store = &looks.store;
    let Batch { name: _, inbox, fence_seen, requests } = batch;
    (inbox, store.fence(Fence(*fence_seen))).hash(hasher);
    for request in requests {
        match request {
            Request::Acquire(Acquire { ticket, permits, wishes, limit, not_after, .. }) => {
                let not_after = not_after.map(|at| store.exact(at));
                (ticket, permits, wishes, limit, not_after).hash(hasher);
            }
            Request::Attach(Attach { ticket, lease, not_after, .. }) => {
                (ticket, lease, not_after.map(|at| store.exact(at))).hash(hasher);
            }
            Request::Detach { ticket, fence, .. } => (ticket, looks.fence(*fence)).hash(hasher),
            other => other.hash(hasher),
        }
    }
}

fn replies_of<H: Hasher>(replies: &Replies, looks: &InstantViews, hasher: &mut H) {
    let Replies { now, replies, backlog, look_in } = replies;
    (looks.store.exact(*now), backlog, look_in).hash(hasher);
    for reply in replies {
        match reply {
            Reply::Granted(grant) => {
                (grant.ticket, looks.fence(grant.fence), &grant.slots, &grant.names).hash(hasher);
                (grant.limit, grant.valid_for).hash(hasher);
            }
            Reply::Tickets { valid_for, tickets } => {
                valid_for.hash(hasher);
                tickets.iter().for_each(|reply| ticket_of(reply, looks, hasher));
            }
            other => other.hash(hasher),
        }
    }
}

fn ticket_of<H: Hasher>(reply: &TicketReply, looks: &InstantViews, hasher: &mut H) {
    match reply {
        TicketReply::Held { fence, slots, names } => {
            (looks.fence(*fence), slots, names).hash(hasher);
        }
        other => other.hash(hasher),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bounds::{Bounds, Rule},
        list::{explored, walked},
        world::Action,
    };

    #[test]
    fn what_counts_of_the_past_is_twice_the_longest_lease_or_place_and_a_step_of_the_clock() {
        for bounds in explored().into_iter().chain(walked()) {
            let reckoned = 2 * bounds.ttl.max(bounds.place);
            assert!(PAST >= reckoned, "{}", bounds.name);
            let steps = u64::from(bounds.clock_steps.max(bounds.steps_back)) * bounds.clock_step;
            assert!(BACK >= reckoned + steps, "{}", bounds.name);
        }
    }

    /// The two answers differ only in their reading of the store's clock, which decides on the
    /// deadline of the client's next batch.
    #[test]
    fn an_answer_that_was_made_earlier_is_another_after_the_last_step_of_the_clock_too() {
        let bounds = Bounds { clock_steps: 1, steps_back: 1, clock_step: 30, ..Bounds::BASE };
        let want = || Action::Want(0, 1, Rule::Refuse(bounds.limit), "");
        let world = |actions: [Action; 3]| {
            let mut world = World::new(&bounds);
            let steps = [Action::Backward].into_iter().chain(actions).chain([Action::Forward]);
            steps.for_each(|action| world.act(&bounds, action));
            world
        };
        let early = world([want(), Action::Deliver(0), Action::Tick]);
        let late = world([want(), Action::Tick, Action::Deliver(0)]);
        assert!(early != late);
    }
}
