//! What the program wants of the session: items, and an end to deliveries.

use super::{
    PendingOneOff, Session,
    event::{DeliveryEnd, Event, Loss, OneOffId, PopId, Want},
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
    /// Sends a request that is not about items to work on. An [`Event::Answer`] tells the result.
    pub fn one_off(&mut self, now: Micros, request: Request) -> OneOffId {
        let id = OneOffId(self.next_id());
        self.one_offs.push_back(PendingOneOff { id, request, at: now });
        id
    }

    /// Asks for items. An [`Event::Delivered`] has them.
    pub fn pop(&mut self, want: Want) -> PopId {
        let id = PopId(self.next_id());
        let ttl = want.ttl.min(self.config.longest_lease);
        self.poppers.add(id, Want { ttl, ..want });
        self.pop_due = true;
        id
    }

    /// Asks for no more items. Items that were delivered stay in hand.
    pub fn unpop(&mut self, pop: PopId) {
        self.poppers.remove(pop);
    }

    /// Ends a delivery. A popper that goes on wants another item then. An [`Event::Finished`] tells
    /// how the delivery ended.
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
            // It was lost before the program was done with it.
            self.events.push_back(Event::Finished { delivery, end: DeliveryEnd::Lost });
        }
    }

    /// Asks for nothing more, and gives back everything that is in hand.
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
