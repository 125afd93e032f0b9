//! Taking items to work on.

use alloc::vec::Vec;

use super::{Ledger, PLACE_TTL};
use crate::{
    id::{Fence, Inbox},
    ledger::{Contact, Contacts},
    queue::{
        item::{Delivery, Item, Standing, Work},
        reply::{Popped, Reply},
        request::Pop,
        state::{Place, State, WorkerCall},
    },
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Delivers items to the sender, and puts it in line if it wants more.
    pub(super) fn pop(&mut self, pop: &Pop) -> Result<Reply, S::Error> {
        // The worker has come, so it is neither in line nor called any more. It gets a new place
        // below if it wants more items than there are.
        self.leave_line(self.asker)?;
        let mut items = Vec::new();
        while (items.len() as u32) < pop.items && self.delivers() {
            let Some(item) = self.next_open()? else { break };
            // The first item goes out however long it is. Otherwise it would be the first for ever.
            if !items.is_empty() && item.bytes as usize > self.room {
                break;
            }
            items.push(self.deliver(item, pop)?);
        }
        let want = pop.items.saturating_sub(items.len() as u32);
        if pop.wait && want > 0 {
            self.stand_in_line(pop, want)?;
        }
        self.popped(items)
    }

    /// Returns whether another item may be in work.
    pub(super) fn delivers(&self) -> bool {
        self.head.paused.is_none() && self.head.limit.is_none_or(|limit| self.head.in_work < limit)
    }

    /// Puts an item in work, with a lease for the sender.
    fn deliver(&mut self, ready: Item, pop: &Pop) -> Result<Popped, S::Error> {
        let mut item = ready.clone();
        self.head.in_work += 1;
        self.head.bound = self.head.bound.min(pop.margin);
        item.attempt += 1;
        item.standing = Standing::InWork(Work {
            fence: Fence(self.next_number()),
            by: self.asker,
            about: pop.about.clone(),
            since: self.now,
            ttl: pop.ttl,
            ends: self.head.clock + pop.ttl,
            ends_wall: self.now + pop.ttl,
        });
        // The item is written before it leaves the order, because its group is then asked for the
        // next item, which must not be this one.
        self.state.put_item(&item)?;
        self.leave_ready(&ready, true)?;
        self.hand_out(&item)
    }

    /// Reads an item as its worker gets it, and counts its payload against the answer's room.
    fn hand_out(&mut self, item: &Item) -> Result<Popped, S::Error> {
        self.room = self.room.saturating_sub(item.bytes as usize);
        let fence = item.work().map_or(Fence(0), |work| work.fence);
        Ok(Popped {
            delivery: Delivery { id: item.id, fence },
            attempt: item.attempt,
            most: item.most,
            priority: item.priority,
            group: item.group.clone(),
            about: item.about.clone(),
            pushed: item.pushed,
            payload: self.state.payload(item.id)?,
        })
    }

    /// Answers a pop again whose answer was lost, with the same items except those that are over.
    pub(super) fn deliver_again(&mut self, before: &[Popped]) -> Result<Reply, S::Error> {
        let mut items = Vec::new();
        for Popped { delivery, .. } in before {
            if let Some(item) = self.in_work(*delivery)? {
                items.push(self.hand_out(&item)?);
            }
        }
        self.popped(items)
    }

    /// Makes the answer to a pop. The time that it promises holds for every item in it.
    fn popped(&mut self, items: Vec<Popped>) -> Result<Reply, S::Error> {
        let mut least = None;
        for popped in &items {
            let work = self.in_work(popped.delivery)?.and_then(|item| item.work().cloned());
            let left = work.map_or(0, |work| work.ends.saturating_sub(self.head.clock));
            least = Some(least.map_or(left, |least: u64| least.min(left)));
        }
        let valid_for =
            if self.is_vouched_for(self.asker) { None } else { Some(least.unwrap_or(0)) };
        let left = [self.head.ready, self.head.delayed, self.head.in_work];
        let left = left.iter().map(|count| u64::from(*count)).sum();
        Ok(Reply::Popped { items, valid_for, left })
    }

    pub(super) fn in_work(&mut self, delivery: Delivery) -> Result<Option<Item>, S::Error> {
        let is_it = |work: &Work| work.fence == delivery.fence;
        self.item_if(delivery.id, |it| matches!(it, Standing::InWork(work) if is_it(work)))
    }

    /// Returns whether leases of this client do not run out while its process lives.
    pub(super) fn is_vouched_for(&mut self, inbox: Inbox) -> bool {
        self.contact(inbox) == Contact::Alive
    }

    fn stand_in_line(&mut self, pop: &Pop, want: u32) -> Result<(), S::Error> {
        self.head.idle += 1;
        self.state.put_place(&Place {
            inbox: self.asker,
            want,
            drains: pop.drains,
            until: self.now + PLACE_TTL,
            call: WorkerCall::InLine,
        })
    }

    pub(super) fn leave(&mut self) -> Result<Reply, S::Error> {
        self.leave_line(self.asker)?;
        Ok(Reply::Left)
    }

    /// Takes away a worker's place, in line or called.
    pub(super) fn leave_line(&mut self, inbox: Inbox) -> Result<(), S::Error> {
        if self.head.idle == 0 && self.head.called == 0 {
            return Ok(());
        }
        match self.state.place(inbox)? {
            Some(place) => self.remove_place(&place),
            None => Ok(()),
        }
    }

    pub(super) fn remove_place(&mut self, place: &Place) -> Result<(), S::Error> {
        match place.call {
            WorkerCall::InLine => self.head.idle = self.head.idle.saturating_sub(1),
            WorkerCall::Since(_) => {
                self.head.called = self.head.called.saturating_sub(1);
                self.head.wanted = self.head.wanted.saturating_sub(place.want);
            }
        }
        self.state.remove_place(place.inbox)
    }
}
