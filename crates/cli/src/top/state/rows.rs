//! The rows of the open name or queue, and the target of an action at the cursor.

use seinpaal::{ItemId, ItemState, Name, Snapshot, Ticket};

use super::{
    super::{
        deed::ManyItems,
        prompt::{CursorTarget, QueueTarget, TicketRow},
        watch::ListTab,
    },
    TopState,
};
use crate::output::{ticket::short, why::origin};

/// A row of the open name or queue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum OpenRow {
    Ticket(Ticket),
    Item(ItemState, ItemId),
}

impl TopState {
    /// Returns the rows of the open name or queue. Holders come before waiters. Items in work come
    /// before ready and delayed items, and dead letters are last.
    pub(super) fn rows(&self) -> Vec<OpenRow> {
        if let Some(seen) = &self.seen {
            let holders = seen.holders.iter().map(|row| OpenRow::Ticket(row.ticket));
            return holders
                .chain(seen.waiters.iter().map(|row| OpenRow::Ticket(row.ticket)))
                .collect();
        }
        let Some(queue) = &self.queue else { return Vec::new() };
        let in_work = queue.in_work.iter().map(|row| OpenRow::Item(ItemState::InWork, row.id));
        let listed = queue.ready.iter().chain(&queue.delayed).chain(&queue.dead);
        in_work.chain(listed.map(|row| OpenRow::Item(row.state.state(), row.id))).collect()
    }

    /// Returns the place of the cursor among these rows. It begins at the first waiter, about which
    /// the screen says most.
    pub(in super::super) fn row(&self) -> usize {
        let rows = self.rows();
        let chosen = rows.iter().position(|row| Some(*row) == self.chosen_row);
        let first_waiter = self.seen.as_ref().map_or(0, |seen| seen.holders.len());
        chosen.unwrap_or_else(|| first_waiter.min(rows.len().saturating_sub(1)))
    }

    /// Keeps the cursor at its place if the chosen row is gone. It is then on the row that is there
    /// now.
    pub(super) fn stay_at(&mut self, at: usize) {
        let rows = self.rows();
        if self.chosen_row.is_some_and(|chosen| !rows.contains(&chosen)) {
            self.chosen_row = rows.get(at).or_else(|| rows.last()).copied();
        }
    }

    pub(super) fn target(&self) -> Option<CursorTarget> {
        let name = match &self.look.open {
            Some(open) => open.clone(),
            None => (*self.listed().get(self.cursor())?).clone(),
        };
        let row = self.look.open.as_ref().and_then(|_| self.rows().get(self.row()).copied());
        Some(match self.look.tab {
            ListTab::Names => {
                let seen = self.seen_of(&name);
                let is_paused = seen.is_some_and(|seen| seen.paused.is_some());
                let kind = seen.and_then(|seen| seen.kind);
                let row = row.and_then(|row| self.shown(row));
                CursorTarget::Name { name, is_paused, kind, row }
            }
            ListTab::Queues => {
                let seen = self.queues.iter().find(|seen| seen.name == name);
                let is_paused = seen.is_some_and(|seen| seen.paused.is_some());
                let row = row.and_then(|row| self.item(row));
                CursorTarget::Queue { name, is_paused, row }
            }
        })
    }

    /// Returns the item of a row, and all items in its state.
    fn item(&self, row: OpenRow) -> Option<QueueTarget> {
        let (OpenRow::Item(state, id), Some(queue)) = (row, &self.queue) else { return None };
        let (items, matching) = queue.all(state);
        Some(QueueTarget { id, state, all: ManyItems { items, matching } })
    }

    fn seen_of(&self, name: &Name) -> Option<&Snapshot> {
        let open = self.seen.as_deref().filter(|seen| seen.name == *name);
        open.or_else(|| self.names.iter().find(|seen| seen.name == *name))
    }

    /// Returns the ticket of a row, and its short form.
    fn shown(&self, row: OpenRow) -> Option<TicketRow> {
        let (OpenRow::Ticket(ticket), Some(seen)) = (row, &self.seen) else { return None };
        let holders = seen.holders.iter().map(|row| (row.ticket, &row.about));
        let waiters = seen.waiters.iter().map(|row| (row.ticket, &row.about));
        let (_, about) = holders.chain(waiters).find(|(other, _)| *other == ticket)?;
        let shown = format!("{} ({})", short(seen, ticket), origin(about));
        Some(TicketRow { ticket, shown })
    }
}
