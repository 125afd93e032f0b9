//! The part of a world that can still make a difference. Instants count by their distance from now,
//! and items and deliveries by their order.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
};

use seinpaal_proto::{
    Contact, Fence, Inbox, Lens,
    queue::{ItemId, View},
};

use super::world::{Client, ItemInProgram, Parcel, World};
use crate::{
    bounds::TICK,
    game::are_alike,
    traffic::{Life, Load},
};

/// How far back instants still count, in ticks. What is over matters only through what is reckoned
/// from it: a lease, a client's patience, the two leases in which an end is told again, the time in
/// which a called worker must come. All of these are less. Other terms lie ahead until they are
/// reached, where every instant counts, and how long ago they were reached makes no difference:
/// places, however long ([`PLACE_TTL`](seinpaal_proto::queue::PLACE_TTL)), what is remembered of a
/// session until its batch's deadline (rule 9), and delays.
const PAST: u64 = 16;
/// The same where the store's clock is set: what was new by the client's clock may lie a step
/// further back by the store's, and what lies back may be ahead again.
const BACK: u64 = 64;

impl World {
    fn lens(&self) -> Lens {
        // Also after the last step: an answer from before it may still be under way.
        let past = if self.is_clock_set { BACK } else { PAST };
        let back = if self.backward_left > 0 { BACK * TICK } else { 0 };
        Lens { now: self.now, tick: TICK, past: past * TICK, back }
    }
}

impl Hash for World {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let own = self.lens();
        let item = |id: ItemId| self.nth(id).map_or(u64::MAX, |nth| nth as u64);
        let fence = |fence: Fence| match self.ghost.fences.get(&fence.0) {
            Some((nth, count)) => (*nth as u64) << 32 | u64::from(*count),
            None => u64::MAX,
        };
        let base = |inbox: Inbox| {
            let client = self.clients.iter().find(|client| client.inbox == inbox);
            client.map_or(0, |client| client.session.last_number())
        };
        let store = own.on(self.store_now);
        let view = View { own, store, item: &item, fence: &fence, base: &base };
        self.ledger.fingerprint(&view, hasher);
        self.clients.iter().for_each(|client| client_of(client, &view, hasher));
        // The order of what is under way does not count: anything may arrive first.
        let parcels = self.parcels.iter().map(|parcel| hash_of(parcel, &view));
        parcels.fold(0_u64, u64::wrapping_add).hash(hasher);
        let Self { pushed, returns_left, cancels_left, faults_left, .. } = self;
        (pushed, returns_left, cancels_left, faults_left).hash(hasher);
        (self.forward_left, self.backward_left).hash(hasher);
        let ghost = &self.ghost;
        for tale in &ghost.items {
            (tale.id.is_some(), tale.answer, tale.fate, tale.deliveries, tale.returned)
                .hash(hasher);
            tale.is_doubled.hash(hasher);
            tale.done_by.map(|by| fence(Fence(by))).hash(hasher);
        }
        ghost.handed.iter().for_each(|handed| fence(Fence(*handed)).hash(hasher));
        (store.fence(Fence(ghost.last)), ghost.is_slow, ghost.was_set_back).hash(hasher);
        ghost.broken.hash(hasher);
    }
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        are_alike(self, other)
    }
}

fn client_of<H: Hasher>(client: &Client, view: &View<'_>, hasher: &mut H) {
    let Client { life, contact, call, pops_left, pop, one_offs, held, session, .. } = client;
    (life, *contact == Contact::Listening, pops_left, pop.is_some()).hash(hasher);
    if *life == Life::Gone {
        return;
    }
    call.map(|(_, since)| view.own.exact(since)).hash(hasher);
    one_offs.iter().for_each(|(_, asked)| asked.hash(hasher));
    session.fingerprint(view, hasher);
    for ItemInProgram { delivery, until } in held {
        (view.fence)(delivery.fence).hash(hasher);
        until.map(|until| view.own.ticks(until)).hash(hasher);
    }
}

fn hash_of(parcel: &Parcel, view: &View<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    parcel.is_late.hash(&mut hasher);
    match &parcel.load {
        Load::Request { from, call, batch } => {
            (0_u8, from, call.is_some()).hash(&mut hasher);
            view.batch(batch, &mut hasher);
        }
        Load::Replies { to, replies, .. } => {
            (1_u8, to).hash(&mut hasher);
            view.replies(replies, &mut hasher);
        }
        Load::Wakeup { to, wakeup } => {
            (2_u8, to).hash(&mut hasher);
            view.wakeup(wakeup, &mut hasher);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use seinpaal_proto::queue::CALL_WAIT;

    use super::*;
    use crate::queue::{
        action::Action,
        bounds::Bounds,
        list::{explored, walked},
    };

    #[test]
    fn what_counts_of_the_past_is_more_than_any_model_reckons_from_it() {
        for bounds in explored().into_iter().chain(walked()) {
            let reckoned = bounds.patience().max(2 * bounds.ttl()) + CALL_WAIT;
            assert!(PAST * TICK > reckoned, "{}", bounds.name);
            let steps = u64::from(bounds.clock_steps.max(bounds.steps_back)) * bounds.clock_step;
            assert!(BACK * TICK > reckoned + steps * TICK, "{}", bounds.name);
        }
    }

    /// The answer's reading of the clock decides on the deadline of the next batch.
    #[test]
    fn an_answer_that_was_made_earlier_is_another_after_the_last_step_of_the_clock_too() {
        let bounds = Bounds { clock_steps: 1, steps_back: 1, ..Bounds::BASE };
        let world = |actions: [Action; 3]| {
            let mut world = World::new(&bounds);
            let steps = [Action::Backward].into_iter().chain(actions).chain([Action::Forward]);
            steps.for_each(|action| world.act(&bounds, action));
            world
        };
        let early = world([Action::Push, Action::Deliver(0), Action::Tick]);
        let late = world([Action::Push, Action::Tick, Action::Deliver(0)]);
        assert!(early != late);
    }
}
