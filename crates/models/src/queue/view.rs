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

/// More than twice the longest lease of any model, in ticks. Delays lie ahead, where every instant
/// counts.
const PAST: u64 = 16;
/// No less than any model's clock steps back, in ticks.
const BACK: u64 = 64;

impl World {
    fn lens(&self) -> Lens {
        let may_go_back = self.backward_left > 0;
        let (past, back) = if may_go_back { (BACK, BACK * TICK) } else { (PAST, 0) };
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
    let Client { life, contact, call, pops_left, pop, asks, held, session, .. } = client;
    (life, *contact == Contact::Listening, pops_left, pop.is_some()).hash(hasher);
    if *life == Life::Gone {
        return;
    }
    call.map(|(_, since)| view.own.exact(since)).hash(hasher);
    asks.iter().for_each(|(_, asked)| asked.hash(hasher));
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
