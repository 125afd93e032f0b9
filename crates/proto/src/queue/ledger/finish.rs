//! Renewing deliveries, and ending them.

use alloc::vec::Vec;

use super::Ledger;
use crate::{
    ledger::Contacts,
    queue::{
        item::{Delivery, Ending, Item, PastDelivery, Standing},
        reply::Reply,
        request::{How, Renew},
        state::State,
    },
    time::{Micros, UNBOUNDED},
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Extends deliveries that are not over, and makes the session that asks their owner. In this
    /// way a delivery can be handed to another process.
    pub(super) fn renew(&mut self, renew: &Renew) -> Result<Reply, S::Error> {
        let mut lost = Vec::new();
        for delivery in &renew.deliveries {
            match self.in_work(*delivery)? {
                Some(item) => self.extend(item, renew)?,
                None => lost.push(*delivery),
            }
        }
        let valid_for = (!self.is_vouched_for(self.asker)).then_some(renew.ttl);
        Ok(Reply::Renewed { valid_for, lost })
    }

    fn extend(&mut self, mut item: Item, renew: &Renew) -> Result<(), S::Error> {
        if let Standing::InWork(work) = &mut item.standing {
            work.by = self.asker;
            work.ttl = renew.ttl;
            work.ends = self.head.clock + renew.ttl;
            work.ends_wall = self.now + renew.ttl;
        }
        self.head.bound = self.head.bound.min(renew.margin);
        self.state.put_item(&item)
    }

    /// Ends a delivery in the way that its worker reports.
    pub(super) fn finish_delivery(
        &mut self,
        delivery: Delivery,
        how: &How,
    ) -> Result<Reply, S::Error> {
        let id = delivery.id;
        let Some(mut item) = self.in_work(delivery)? else { return Ok(Reply::Lost { id }) };
        self.stop_work(&item)?;
        match how {
            How::Acknowledge => {
                self.remove(&item)?;
                Ok(Reply::Acknowledged { id })
            }
            How::GiveBack { delay } => {
                // A delivery that is given back does not count.
                item.attempt = item.attempt.saturating_sub(1);
                self.put_back(item, *delay)?;
                Ok(Reply::Returned { id })
            }
            How::Fail { delay, reason } => self.fail(item, *delay, Ending::Failed(reason.clone())),
        }
    }

    /// Notes that an item is not in work any more. It is then in no order until the caller puts it
    /// into one.
    pub(super) fn stop_work(&mut self, item: &Item) -> Result<(), S::Error> {
        self.head.in_work = self.head.in_work.saturating_sub(1);
        self.make_room(item.group.as_ref())
    }

    /// Ends a delivery that did not finish the item. The item is delivered again, or is dead if
    /// this was its last delivery.
    pub(super) fn fail(
        &mut self,
        mut item: Item,
        delay: Micros,
        ending: Ending,
    ) -> Result<Reply, S::Error> {
        let id = item.id;
        item.history.push(PastDelivery { attempt: item.attempt, at: self.now, ending });
        if item.attempt < item.most {
            self.put_back(item, delay)?;
            return Ok(Reply::Returned { id });
        }
        self.head.dead += 1;
        item.standing = Standing::Dead { at: self.now };
        self.state.put_item(&item)?;
        Ok(Reply::Died { id })
    }

    fn put_back(&mut self, item: Item, delay: Micros) -> Result<(), S::Error> {
        if delay == 0 {
            // The item has its old rank, so it stands where it stood before.
            return self.make_ready(item);
        }
        self.delay(item, self.now.saturating_add(delay).min(UNBOUNDED))
    }
}
