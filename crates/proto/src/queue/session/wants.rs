//! What the program wants of the session: items, and an end to deliveries.

use super::{
    Ask, Session,
    event::{AskId, End, Event, Loss, PopId, Wish},
    poppers::Popper,
};
use crate::{
    queue::{
        item::Delivery,
        request::{How, Request},
    },
    time::Micros,
};

impl Session {
    /// Asks anything but for items. What came of it is told by an [`Event::Answer`].
    pub fn ask(&mut self, now: Micros, request: Request) -> AskId {
        let id = AskId(self.next_id());
        self.asks.push_back(Ask { id, request, at: now });
        id
    }

    /// Wants items.
    pub fn pop(&mut self, wish: Wish) -> PopId {
        let id = PopId(self.next_id());
        let ttl = wish.ttl.min(self.config.longest_lease);
        self.poppers.add(id, Wish { ttl, ..wish });
        self.pop_due = true;
        id
    }

    /// Wants no more items. Those that were delivered stay in hand.
    pub fn unpop(&mut self, pop: PopId) {
        self.poppers.remove(pop);
    }

    /// Ends a delivery; whoever it was for wants another one, if it goes on. How it went is told by an
    /// [`Event::Finished`].
    pub fn finish(&mut self, delivery: Delivery, how: How) {
        if let Some(taker) = self.work.takers.remove(&delivery) {
            let more = |popper: &mut Popper| {
                popper.in_hand = popper.in_hand.saturating_sub(1);
            };
            self.pop_due |= self.poppers.change(taker, more);
        }
        let is_in_hand = self.work.get(delivery).is_some_and(|held| held.leaving.is_none());
        if is_in_hand {
            self.work.change(delivery, |held| held.leave(how, false));
            self.finishes.push_back(delivery);
        } else {
            self.events.push_back(Event::Finished { delivery, end: End::Lost });
        }
    }

    /// Wants nothing more, and gives back what is in hand.
    pub fn close(&mut self) {
        let pops: alloc::vec::Vec<_> = self.poppers.ids().map(|(id, _)| id).collect();
        pops.into_iter().for_each(|pop| self.poppers.remove(pop));
        for delivery in self.work.in_hand() {
            self.events.push_back(Event::Lost { delivery, loss: Loss::Ended });
            self.give_back(delivery);
        }
    }

    pub(super) fn give_back(&mut self, delivery: Delivery) {
        self.work.change(delivery, |held| held.leave(How::GiveBack { delay: 0 }, true));
        self.finishes.push_back(delivery);
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}
