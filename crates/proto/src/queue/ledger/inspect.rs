//! Reading everything about a queue.

use super::Ledger;
use crate::{
    ledger::Contacts,
    queue::{
        item::{Item, Standing},
        listing::{ItemPosition, ItemState},
        reply::{Reply, Snapshot},
        row::{GroupRow, WorkRow},
        state::State,
    },
    time::Micros,
};

use alloc::vec::Vec;

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    pub(super) fn inspect(&mut self, rows: u32) -> Result<Reply, S::Error> {
        let oldest = self.state.first_open()?.map(|item| self.now.saturating_sub(item.pushed));
        let next_due = self.first_delayed()?.and_then(|item| match item.standing {
            Standing::Delayed { due } => Some(due.saturating_sub(self.now)),
            _ => None,
        });
        let (work, groups) = (self.work_rows(rows)?, self.group_rows(rows)?);
        let head = &self.head;
        Ok(Reply::Snapshot(Snapshot {
            limit: head.limit,
            group_limit: head.group_limit,
            paused: head.paused.clone(),
            ready: head.ready,
            delayed: head.delayed,
            in_work: head.in_work,
            dead: head.dead,
            idle: head.idle + head.called,
            oldest,
            next_due,
            work,
            groups,
        }))
    }

    fn work_rows(&mut self, rows: u32) -> Result<Vec<WorkRow>, S::Error> {
        let first = ItemPosition::before(ItemState::InWork);
        let mut found = Vec::new();
        for item in self.state.items_after(&first, rows)? {
            let valid_for = self.valid_for(&item);
            found.extend(WorkRow::of(item, self.now, valid_for));
        }
        Ok(found)
    }

    /// How long the lease of an item in work lasts; `None` for as long as the worker's process
    /// lives.
    pub(super) fn valid_for(&mut self, item: &Item) -> Option<Micros> {
        let work = item.work()?;
        let left = work.ends.saturating_sub(self.head.clock);
        (!self.is_vouched_for(work.by)).then_some(left)
    }

    fn group_rows(&mut self, rows: u32) -> Result<Vec<GroupRow>, S::Error> {
        let row = |(group, counts): (_, crate::queue::state::Group)| GroupRow {
            group,
            in_work: counts.in_work,
            ready: counts.ready,
        };
        Ok(self.state.groups(rows)?.into_iter().map(row).collect())
    }
}
