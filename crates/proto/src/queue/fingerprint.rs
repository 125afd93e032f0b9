//! How a model checker compares states of a queue, as it does for semaphores. Numbers that a store
//! draws are replaced by names.

use core::hash::{Hash, Hasher};

use super::{
    item::{Delivery, ItemId},
    reply::{Popped, Replies, Reply, Wakeup, What},
    request::{Batch, How, Request},
};
use crate::{
    fingerprint::Lens,
    id::{Fence, Inbox},
    time::Micros,
};

/// A view of a world. A store's numbers follow the clock, so two worlds that are alike have
/// different numbers. The checker gives them names that are equal.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The clock of the sessions.
    pub own: Lens,
    /// The clock of the store.
    pub store: Lens,
    /// The name of an item. It is the same in two worlds that are alike, whenever the item was
    /// pushed.
    pub item: &'a dyn Fn(ItemId) -> u64,
    /// The name of a delivery.
    pub fence: &'a dyn Fn(Fence) -> u64,
    /// The base from which numbers of a session's batches count, such as its last one.
    pub base: &'a dyn Fn(Inbox) -> u64,
}

impl View<'_> {
    pub(super) fn delivery(&self, delivery: Delivery) -> (u64, u64) {
        ((self.item)(delivery.id), (self.fence)(delivery.fence))
    }

    pub(super) fn number(&self, session: Inbox, number: u64) -> u64 {
        number.wrapping_sub((self.base)(session))
    }

    /// Returns how far ahead of the clock a number is that the ledger must stay above. A number
    /// behind the clock says nothing, unless the clock can be set back.
    pub(super) fn seen(&self, seen: Micros) -> i64 {
        self.store.fence(Fence(seen))
    }

    /// Feeds a batch that is under way to `hasher`.
    pub fn batch<H: Hasher>(&self, batch: &Batch, hasher: &mut H) {
        let Batch { name: _, session, number, not_after, seen, requests } = batch;
        let nth = (*number > 0).then(|| self.number(*session, *number));
        (session, nth, self.store.exact(*not_after), self.seen(*seen)).hash(hasher);
        requests.iter().for_each(|request| self.request(request, hasher));
    }

    pub(super) fn request<H: Hasher>(&self, request: &Request, hasher: &mut H) {
        match request {
            Request::Pop(pop) => (1_u8, pop).hash(hasher),
            Request::Push(push) => (2_u8, push).hash(hasher),
            Request::Finish { delivery, how } => {
                (3_u8, self.delivery(*delivery)).hash(hasher);
                how_of(how, hasher);
            }
            Request::Renew(renew) => {
                (4_u8, renew.ttl, renew.margin).hash(hasher);
                renew.deliveries.iter().for_each(|it| self.delivery(*it).hash(hasher));
            }
            Request::Cancel { id, spares_work } => {
                (5_u8, (self.item)(*id), spares_work).hash(hasher);
            }
            other => other.hash(hasher),
        }
    }

    /// Feeds answers to `hasher` that are under way, or remembered.
    pub fn replies<H: Hasher>(&self, replies: &Replies, hasher: &mut H) {
        let Replies { now, replies, backlog, look_in } = replies;
        (self.store.exact(*now), backlog, look_in).hash(hasher);
        replies.iter().for_each(|reply| self.reply(reply, hasher));
    }

    pub(super) fn reply<H: Hasher>(&self, reply: &Reply, hasher: &mut H) {
        core::mem::discriminant(reply).hash(hasher);
        match reply {
            Reply::Popped { items, valid_for, left } => {
                (valid_for, left, items.len()).hash(hasher);
                items.iter().for_each(|popped| self.popped(popped, hasher));
            }
            Reply::Renewed { valid_for, lost } => {
                valid_for.hash(hasher);
                lost.iter().for_each(|it| self.delivery(*it).hash(hasher));
            }
            Reply::Pushed { id }
            | Reply::Duplicate { id }
            | Reply::Acknowledged { id }
            | Reply::Returned { id }
            | Reply::Died { id }
            | Reply::Lost { id }
            | Reply::Cancelled { id, .. }
            | Reply::Unknown { id }
            | Reply::Replayed { id }
            | Reply::Dropped { id } => (self.item)(*id).hash(hasher),
            _ => {}
        }
    }

    fn popped<H: Hasher>(&self, popped: &Popped, hasher: &mut H) {
        (self.delivery(popped.delivery), popped.attempt, popped.most).hash(hasher);
    }

    /// Feeds a wakeup that is under way to `hasher`.
    pub fn wakeup<H: Hasher>(&self, wakeup: &Wakeup, hasher: &mut H) {
        wakeup.inbox.hash(hasher);
        match wakeup.what {
            What::Lost(delivery) => self.delivery(delivery).hash(hasher),
            other => other.hash(hasher),
        }
    }
}

/// Feeds the end of a delivery to `hasher`. Reasons are left out, because they are for people.
pub(super) fn how_of<H: Hasher>(how: &How, hasher: &mut H) {
    match how {
        How::Acknowledge => 0_u8.hash(hasher),
        How::GiveBack { delay } => (1_u8, delay).hash(hasher),
        How::Fail { delay, reason: _ } => (2_u8, delay).hash(hasher),
    }
}
