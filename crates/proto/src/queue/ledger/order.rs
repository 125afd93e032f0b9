//! The order of service: the ready items, and those of them that are in the order of all.
//!
//! An item without a group is in it. Of the items of a group it is the first one, while the group
//! has room. So the first there is the next to deliver, however many items of full groups came
//! before it.

use alloc::string::{String, ToString};

use super::{AGING, Ledger};
use crate::{
    ledger::Contacts,
    name::Name,
    planted::{Mistake, planted},
    queue::{
        item::{Item, ItemId, Standing},
        state::{Group, State},
    },
    time::Micros,
};

/// Where an item stands that entered the order at `at`.
pub(super) fn rank(at: Micros, item: &Item) -> i64 {
    at as i64 - i64::from(item.priority.get()) * AGING as i64
}

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Puts an item that is in no order into that of its rank.
    pub(super) fn make_ready(&mut self, mut item: Item) -> Result<(), S::Error> {
        self.head.ready += 1;
        let Some(group) = item.group.clone() else {
            item.standing = Standing::Ready { open: true };
            self.head.open += 1;
            return self.state.put_item(&item);
        };
        item.standing = Standing::Ready { open: false };
        // Before `open_first`, which asks the store for the first item of the group.
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

    /// An item was taken out of the order, in which it stood like this. Its group's next one takes
    /// its place.
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

    /// An item of this group is not in work any more.
    pub(super) fn make_room(&mut self, group: Option<&Name>) -> Result<(), S::Error> {
        let Some(group) = group else { return Ok(()) };
        let mut counts = self.state.group(group)?;
        counts.in_work = counts.in_work.saturating_sub(1);
        self.open_first(group, &mut counts)?;
        self.state.put_group(group, &counts)
    }

    /// Puts the first item of a group into the order of all, if the group has room and none there.
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
        let more = u32::from(planted(Mistake::QueueGroupOneMore));
        self.head.group_limit.is_none_or(|limit| counts.in_work < limit + more)
    }

    /// The next item to deliver. Fronts of groups that are full since the limit was lowered are
    /// passed.
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

    /// After the limit of groups was changed: those that were full and have room now come in again.
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

    /// Items that fell due enter the order where they were due.
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

    /// An item by number that is ready or delayed leaves the queue.
    pub(super) fn remove_waiting(&mut self, item: &Item) -> Result<(), S::Error> {
        // Before its group is asked for the next item, which must not be this one.
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
