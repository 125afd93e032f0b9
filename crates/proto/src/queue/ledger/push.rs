//! Putting items into the queue.

use super::{Ledger, order::rank};
use crate::{
    ledger::Contacts,
    queue::{
        item::{DeliveryHistory, Item, ItemId, Standing},
        reply::Reply,
        request::{Due, Push},
        state::{Dedupped, State},
    },
    time::{Micros, UNBOUNDED},
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Puts an item into the queue, unless its key is remembered.
    pub(super) fn push(&mut self, push: &Push) -> Result<Reply, S::Error> {
        if let Some(dedup) = &push.dedup
            && let Some(known) = self.state.key(&dedup.key)?
            && self.is_remembered(&known)
        {
            return Ok(Reply::Duplicate { id: known.id });
        }
        let item = self.new_item(push);
        let id = item.id;
        self.remember_key(push, id)?;
        self.state.put_payload(id, &push.payload)?;
        match self.due(push.due) {
            Some(due) => self.delay(item, due)?,
            None => self.make_ready(item)?,
        }
        Ok(Reply::Pushed { id })
    }

    fn new_item(&mut self, push: &Push) -> Item {
        let id = self.next_number();
        let mut item = Item {
            id: ItemId(id),
            priority: push.priority,
            group: push.group.clone(),
            most: push.most,
            bytes: push.payload.len() as u32,
            key: push.dedup.as_ref().map(|dedup| dedup.key.clone()),
            about: push.about.clone(),
            pushed: self.now,
            rank: 0,
            attempt: 0,
            history: DeliveryHistory::default(),
            // It is in no order yet. The caller puts it into one.
            standing: Standing::Ready { open: false },
        };
        item.rank = rank(id, &item);
        item
    }

    /// Returns when an item enters the order; `None`: at once.
    fn due(&self, due: Due) -> Option<Micros> {
        let at = match due {
            Due::Now => return None,
            Due::In(delay) => self.now.saturating_add(delay),
            Due::At(at) => at,
        };
        (at > self.now).then_some(at.min(UNBOUNDED))
    }

    fn is_remembered(&self, known: &Dedupped) -> bool {
        known.until > self.now
    }

    fn remember_key(&mut self, push: &Push, id: ItemId) -> Result<(), S::Error> {
        let Some(dedup) = push.dedup.as_ref().filter(|dedup| dedup.window > 0) else {
            return Ok(());
        };
        // A key whose time is over stays until some call forgets it. The head counts it already.
        let is_new = self.state.key(&dedup.key)?.is_none();
        self.head.keys += u32::from(is_new);
        let until = self.now.saturating_add(dedup.window).min(UNBOUNDED);
        self.state.put_key(&Dedupped { key: dedup.key.clone(), id, until })
    }

    /// Forgets the key of an item that was cancelled, so that the item may be pushed again.
    pub(super) fn forget_key_of(&mut self, item: &Item) -> Result<(), S::Error> {
        let Some(key) = &item.key else { return Ok(()) };
        if self.state.key(key)?.is_some_and(|known| known.id == item.id) {
            self.head.keys = self.head.keys.saturating_sub(1);
            self.state.remove_key(key)?;
        }
        Ok(())
    }
}
