//! The part of a queue's state that can still make a difference.

use core::hash::{Hash, Hasher};

use super::MemoryQueue;
use crate::{
    id::Inbox,
    queue::{
        fingerprint::View,
        item::{Item, Standing},
        ledger::AGING,
        state::{Head, Place, SessionRecord, WorkerCall},
    },
};

impl MemoryQueue {
    /// Feeds to `hasher` all facts on which the ledger's later steps depend, with instants relative
    /// to the store's clock. Ranks count by their order only, so all items must have the same
    /// priority, or have been pushed at the same time.
    pub fn fingerprint<H: Hasher>(&self, view: &View<'_>, hasher: &mut H) {
        // The orders, groups and totals follow from the rest; `check` proves it.
        let Some(head) = &self.head else { return 0_u8.hash(hasher) };
        head_of(head, view, hasher);
        for item in self.items.values() {
            item_of(item, head, view, hasher);
        }
        self.order_of_all(view, hasher);
        self.places.values().for_each(|place| place_of(place, view, hasher));
        self.sessions.values().for_each(|record| session_of(record, view, hasher));
    }

    /// Feeds to `hasher` the order in which the items would be delivered if all were ready.
    fn order_of_all<H: Hasher>(&self, view: &View<'_>, hasher: &mut H) {
        let rank = |item: &Item| match item.standing {
            Standing::Delayed { due } => due as i64 - i64::from(item.priority.get()) * AGING as i64,
            _ => item.rank,
        };
        let mut order: alloc::vec::Vec<_> =
            self.items.values().map(|item| (rank(item), item.id)).collect();
        order.sort_unstable();
        order.iter().for_each(|(_, id)| (view.item)(*id).hash(hasher));
    }

    /// Returns all items, by number.
    pub fn all_items(&self) -> impl Iterator<Item = &Item> {
        self.items.values()
    }

    /// Returns the facts of the queue that are not lists; `None` if nothing is stored of the queue.
    #[must_use]
    pub fn facts(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// Returns the workers that have a place, in line or called.
    pub fn workers(&self) -> impl Iterator<Item = (Inbox, WorkerCall)> {
        self.places.values().map(|place| (place.inbox, place.call))
    }
}

fn head_of<H: Hasher>(head: &Head, view: &View<'_>, hasher: &mut H) {
    let Head { limit, group_limit, paused, wall, bound, last, watch, watch_at, .. } = head;
    (limit, group_limit, paused.is_some(), bound, watch).hash(hasher);
    (view.store.exact(*wall), view.seen(*last)).hash(hasher);
    watch.map(|_| view.store.exact(*watch_at)).hash(hasher);
}

fn item_of<H: Hasher>(item: &Item, head: &Head, view: &View<'_>, hasher: &mut H) {
    // `pushed`, `about` and the history are for display.
    ((view.item)(item.id), item.attempt, item.most, &item.group).hash(hasher);
    match &item.standing {
        Standing::Ready { open } => (0_u8, open).hash(hasher),
        Standing::Delayed { due } => (1_u8, view.store.exact(*due)).hash(hasher),
        Standing::InWork(work) => {
            let clock = view.store.on(head.clock);
            (2_u8, (view.fence)(work.fence), work.by, work.ttl).hash(hasher);
            (clock.exact(work.ends), view.store.exact(work.ends_wall)).hash(hasher);
        }
        Standing::Dead { .. } => 3_u8.hash(hasher),
    }
}

fn place_of<H: Hasher>(place: &Place, view: &View<'_>, hasher: &mut H) {
    let Place { inbox, want, drains, until, call } = place;
    (inbox, want, drains, view.store.exact(*until)).hash(hasher);
    match call {
        WorkerCall::InLine => 0_u8.hash(hasher),
        WorkerCall::Since(at) => (1_u8, view.store.exact(*at)).hash(hasher),
    }
}

fn session_of<H: Hasher>(record: &SessionRecord, view: &View<'_>, hasher: &mut H) {
    let SessionRecord { session, number, until, replies } = record;
    (session, view.number(*session, *number), view.store.exact(*until)).hash(hasher);
    replies.iter().for_each(|reply| view.reply(reply, hasher));
}
