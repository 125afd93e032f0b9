//! The acts of operators: limits, pauses, cancelling, dead letters.

use super::{Ledger, order::rank};
use crate::{
    ledger::Contacts,
    queue::{
        item::{Delivery, Item, ItemId, Standing},
        listing::{ItemPosition, ItemState},
        reply::{Reply, What},
        request::{Configure, Purge},
        state::State,
    },
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Changes a setting. A lower limit ends no delivery, and admits none until the number in work
    /// fits.
    pub(super) fn configure(&mut self, change: &Configure) -> Result<Reply, S::Error> {
        match change {
            Configure::Limit(limit) => self.head.limit = limit.map(|limit| limit.get()),
            Configure::GroupLimit(limit) => {
                self.head.group_limit = limit.map(|limit| limit.get());
                // Groups that were full may have room now.
                self.reopen_all()?;
            }
            Configure::Pause(reason) => self.head.paused = Some(reason.clone()),
            Configure::Resume => self.head.paused = None,
        }
        let (limit, group_limit) = (self.head.limit, self.head.group_limit);
        Ok(Reply::Configured { limit, group_limit })
    }

    /// Removes an item that is not dead. Its worker is told, if it has one.
    pub(super) fn cancel(&mut self, id: ItemId, spares_work: bool) -> Result<Reply, S::Error> {
        let can_be_cancelled = |it: &Standing| match it {
            Standing::Dead { .. } => false,
            Standing::InWork(_) => !spares_work,
            _ => true,
        };
        let Some(item) = self.item_if(id, can_be_cancelled)? else {
            return Ok(Reply::Unknown { id });
        };
        self.forget_key_of(&item)?;
        match &item.standing {
            Standing::InWork(work) => {
                self.wake(work.by, What::Lost(Delivery { id, fence: work.fence }));
                self.stop_work(&item)?;
                self.remove(&item)?;
            }
            _ => self.remove_waiting(&item)?,
        }
        Ok(Reply::Cancelled { id, was: item.standing.state() })
    }

    /// Puts a dead letter at the end of the line, with all its deliveries before it. Its history
    /// keeps its former deliveries.
    pub(super) fn replay(&mut self, id: ItemId) -> Result<Reply, S::Error> {
        let Some(mut item) = self.dead_letter(id)? else { return Ok(Reply::Unknown { id }) };
        self.head.dead = self.head.dead.saturating_sub(1);
        item.attempt = 0;
        item.rank = rank(self.next_number(), &item);
        self.make_ready(item)?;
        Ok(Reply::Replayed { id })
    }

    pub(super) fn drop_dead(&mut self, id: ItemId) -> Result<Reply, S::Error> {
        let Some(item) = self.dead_letter(id)? else { return Ok(Reply::Unknown { id }) };
        self.head.dead = self.head.dead.saturating_sub(1);
        self.remove(&item)?;
        Ok(Reply::Dropped { id })
    }

    fn dead_letter(&mut self, id: ItemId) -> Result<Option<Item>, S::Error> {
        self.item_if(id, |it| matches!(it, Standing::Dead { .. }))
    }

    /// Removes as many items as the work of this call allows.
    pub(super) fn purge(&mut self, what: Purge) -> Result<Reply, S::Error> {
        let (mut removed, backlog) = (0, self.backlog);
        while let Some(item) = self.next_to_purge(what)? {
            if !self.has_work() {
                // The client that purges asks again, so no other client has to.
                self.backlog = backlog;
                return Ok(Reply::Purged { removed, more: true });
            }
            if what == Purge::Dead {
                self.head.dead = self.head.dead.saturating_sub(1);
                self.remove(&item)?;
            } else {
                self.forget_key_of(&item)?;
                self.remove_waiting(&item)?;
            }
            removed += 1;
        }
        Ok(Reply::Purged { removed, more: false })
    }

    fn next_to_purge(&mut self, what: Purge) -> Result<Option<Item>, S::Error> {
        if what == Purge::Dead {
            return Ok({
                let first = ItemPosition::before(ItemState::Dead);
                self.state.items_after(&first, 1)?.pop()
            });
        }
        if let Some(item) = self.state.first_open()? {
            return Ok(Some(item));
        }
        // Nothing is open, so every ready item that is left is in a group without a front.
        if let Some((group, _)) = self.state.full_group_after("")? {
            return self.state.first_of_group(&group);
        }
        self.first_delayed()
    }
}
