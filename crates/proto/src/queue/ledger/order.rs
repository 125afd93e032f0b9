//! The order of service: the ready items, and the order of all, from which items are delivered.
//!
//! An item without a group is in the order of all. Of the items of a group, only the first is in
//! it, and only while the group has room. So the first item there is the next to deliver, however
//! many items of full groups came before it.

use alloc::string::{String, ToString};

use super::{AGING, Ledger};
use crate::{
    ledger::Contacts,
    name::Name,
    queue::{
        item::{Item, ItemId, Standing},
        state::{Group, State},
    },
    time::Micros,
};

/// Returns the rank of an item that entered the order at `at`.
pub(super) fn rank(at: Micros, item: &Item) -> i64 {
    at as i64 - i64::from(item.priority.get()) * AGING as i64
}

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Puts an item that is in no order into the order of service, at its rank.
    pub(super) fn make_ready(&mut self, mut item: Item) -> Result<(), S::Error> {
        self.head.ready += 1;
        let Some(group) = item.group.clone() else {
            item.standing = Standing::Ready { open: true };
            self.head.open += 1;
            return self.state.put_item(&item);
        };
        item.standing = Standing::Ready { open: false };
        // The item is written before `open_first`, which asks the store for the first item of the
        // group.
        self.state.put_item(&item)?;
        let mut counts = self.state.group(&group)?;
        counts.ready += 1;
        // An item that comes back may stand before the first of its group, which then makes way.
        if let Some(front) = counts.front
            && let Some(front) = self.state.item(front)?
            && item.place() < front.place()
        {
            self.shut(front, &mut counts)?;
        }
        self.open_first(&group, &mut counts)?;
        self.state.put_group(&group, &counts)
    }

    /// Takes an item out of the order of service, in which it stood as `item` says. The next item
    /// of its group takes its place.
    pub(super) fn leave_ready(&mut self, item: &Item, into_work: bool) -> Result<(), S::Error> {
        self.head.ready = self.head.ready.saturating_sub(1);
        if item.standing == (Standing::Ready { open: true }) {
            self.head.open = self.head.open.saturating_sub(1);
        }
        let Some(group) = &item.group else { return Ok(()) };
        let mut counts = self.state.group(group)?;
        counts.ready = counts.ready.saturating_sub(1);
        counts.in_work += u32::from(into_work);
        if counts.front == Some(item.id) {
            counts.front = None;
        }
        self.open_first(group, &mut counts)?;
        self.state.put_group(group, &counts)
    }

    /// Notes that an item of this group is not in work any more.
    pub(super) fn make_room(&mut self, group: Option<&Name>) -> Result<(), S::Error> {
        let Some(group) = group else { return Ok(()) };
        let mut counts = self.state.group(group)?;
        counts.in_work = counts.in_work.saturating_sub(1);
        self.open_first(group, &mut counts)?;
        self.state.put_group(group, &counts)
    }

    /// Puts the first item of a group into the order of all, if the group has room and no item
    /// there.
    fn open_first(&mut self, group: &Name, counts: &mut Group) -> Result<(), S::Error> {
        if counts.front.is_some() || counts.ready == 0 || !self.has_room(counts) {
            return Ok(());
        }
        let Some(mut first) = self.state.first_of_group(group)? else { return Ok(()) };
        first.standing = Standing::Ready { open: true };
        self.state.put_item(&first)?;
        counts.front = Some(first.id);
        self.head.open += 1;
        Ok(())
    }

    fn shut(&mut self, mut front: Item, counts: &mut Group) -> Result<(), S::Error> {
        front.standing = Standing::Ready { open: false };
        counts.front = None;
        self.head.open = self.head.open.saturating_sub(1);
        self.state.put_item(&front)
    }

    fn has_room(&self, counts: &Group) -> bool {
        self.head.group_limit.is_none_or(|limit| counts.in_work < limit)
    }

    /// Returns the next item to deliver. It passes over the items of groups that have been full
    /// since the limit was lowered.
    pub(super) fn next_open(&mut self) -> Result<Option<Item>, S::Error> {
        while let Some(item) = self.state.first_open()? {
            let Some(group) = item.group.clone() else { return Ok(Some(item)) };
            let mut counts = self.state.group(&group)?;
            if self.has_room(&counts) {
                return Ok(Some(item));
            }
            if !self.has_work() {
                break;
            }
            self.shut(item, &mut counts)?;
            self.state.put_group(&group, &counts)?;
        }
        Ok(None)
    }

    /// Lets in the groups that were full and have room now, after the limit of groups was changed.
    pub(super) fn reopen(&mut self) -> Result<(), S::Error> {
        while let Some(after) = self.head.reopen.take() {
            // The head keeps the last group that was looked at. A call that runs out of work lets
            // the next one go on behind it.
            let Some((group, mut counts)) = self.state.full_group_after(&after)? else { break };
            if !self.has_work() {
                self.head.reopen = Some(after);
                break;
            }
            self.open_first(&group, &mut counts)?;
            self.state.put_group(&group, &counts)?;
            self.head.reopen = Some(group.as_str().to_string());
        }
        Ok(())
    }

    pub(super) fn reopen_all(&mut self) -> Result<(), S::Error> {
        self.head.reopen = Some(String::new());
        self.reopen()
    }

    /// Puts items that fell due into the order, at the time when they were due.
    pub(super) fn take_due(&mut self) -> Result<(), S::Error> {
        while let Some(mut item) = self.first_delayed()? {
            let Standing::Delayed { due } = item.standing else { break };
            if due > self.now || !self.has_work() {
                break;
            }
            self.head.delayed = self.head.delayed.saturating_sub(1);
            item.rank = rank(due, &item);
            self.make_ready(item)?;
        }
        Ok(())
    }

    /// Puts an item that is in no order aside until it is due.
    pub(super) fn delay(&mut self, mut item: Item, due: Micros) -> Result<(), S::Error> {
        self.head.delayed += 1;
        item.standing = Standing::Delayed { due };
        self.state.put_item(&item)
    }

    /// Removes an item by its number, which is ready or delayed.
    pub(super) fn remove_waiting(&mut self, item: &Item) -> Result<(), S::Error> {
        // The item is removed before its group is asked for the next one, which must not be this
        // one.
        self.remove(item)?;
        match item.standing {
            Standing::Ready { .. } => self.leave_ready(item, false)?,
            _ => self.head.delayed = self.head.delayed.saturating_sub(1),
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, item: &Item) -> Result<(), S::Error> {
        self.state.remove_item(item.id)
    }

    pub(super) fn item_if(
        &mut self,
        id: ItemId,
        fits: impl FnOnce(&Standing) -> bool,
    ) -> Result<Option<Item>, S::Error> {
        Ok(self.state.item(id)?.filter(|item| fits(&item.standing)))
    }
}
