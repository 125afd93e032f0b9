//! An open queue: its totals, and its first items of each state, or those that a text finds.

use std::time::Duration;

use seinpaal::{
    InWork, ItemId, ItemState, ListedItem, ListedState, QueueError, QueueSnapshot, Seinpaal,
};
use seinpaal_words::matching::{CountedItems, Matching};

use super::StoreQuestion;

/// How many items of a state are listed.
const ITEMS: usize = 100;

/// A reading of the open queue.
#[derive(Clone, Debug)]
pub(in super::super) struct OpenQueue {
    pub(in super::super) seen: QueueSnapshot,
    /// The text that all listed items contain. Empty: all items are listed.
    pub(in super::super) matching: String,
    /// The items of each state that contain the text. Empty without a text.
    pub(in super::super) found: Vec<(ItemState, CountedItems)>,
    pub(in super::super) in_work: Vec<OpenWorkRow>,
    pub(in super::super) ready: Vec<ListedItem>,
    pub(in super::super) delayed: Vec<ListedItem>,
    pub(in super::super) dead: Vec<ListedItem>,
}

/// An item in work.
#[derive(Clone, Debug)]
pub(in super::super) struct OpenWorkRow {
    pub(in super::super) id: ItemId,
    pub(in super::super) attempt: u32,
    pub(in super::super) worked_for: Duration,
    /// The worker, as `PID@HOST`.
    pub(in super::super) worker: String,
}

impl OpenQueue {
    /// Reads the first items of each state. With a search text, reads all items.
    pub(in super::super) async fn read(
        seinpaal: &Seinpaal,
        look: &StoreQuestion,
        name: &str,
    ) -> Result<Self, QueueError> {
        let queue = seinpaal.queue(name);
        let seen = queue.snapshot().await?;
        let mut read = Self {
            in_work: seen.work.iter().map(OpenWorkRow::of).collect(),
            seen,
            matching: look.matching.clone(),
            found: Vec::new(),
            ready: Vec::new(),
            delayed: Vec::new(),
            dead: Vec::new(),
        };
        if !look.matching.is_empty() {
            return read.find(&queue).await.map(|()| read);
        }
        let first = async |state, total| match total {
            0 => Ok(Vec::new()),
            _ => queue.items(state, None, ITEMS as u32).await.map(|page| page.items),
        };
        read.ready = first(ItemState::Ready, read.seen.ready).await?;
        read.delayed = first(ItemState::Delayed, read.seen.delayed).await?;
        read.dead = first(ItemState::Dead, read.seen.dead).await?;
        Ok(read)
    }

    async fn find(&mut self, queue: &seinpaal::Queue) -> Result<(), QueueError> {
        let matching = self.meant(None);
        for state in ItemState::ALL {
            let (items, counted) = matching.find(queue, state, ITEMS).await?;
            self.found.push((state, counted));
            match state {
                ItemState::Ready => self.ready = items,
                ItemState::Delayed => self.delayed = items,
                ItemState::InWork => {
                    self.in_work = items.iter().filter_map(OpenWorkRow::listed).collect();
                }
                ItemState::Dead => self.dead = items,
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the number and the selection of all items of a state that the list would have with
    /// enough room.
    pub(in super::super) fn all(&self, state: ItemState) -> (u64, Matching) {
        let found = self.found.iter().find(|(of, _)| *of == state);
        let total = match state {
            ItemState::Ready => self.seen.ready,
            ItemState::Delayed => self.seen.delayed,
            ItemState::InWork => self.seen.in_work,
            _ => self.seen.dead,
        };
        match found {
            Some((_, counted)) => (counted.items(), self.meant(Some(counted.clone()))),
            None => (u64::from(total), self.meant(None)),
        }
    }

    fn meant(&self, counted: Option<CountedItems>) -> Matching {
        Matching { text: self.matching.clone(), with_payloads: true, counted }
    }
}

impl OpenWorkRow {
    fn of(item: &InWork) -> Self {
        let worker = format!("{}@{}", item.worker.pid, item.worker.host);
        Self { id: item.id, attempt: item.attempt, worked_for: item.worked_for, worker }
    }

    fn listed(item: &ListedItem) -> Option<Self> {
        let ListedState::InWork { worker, worked_for, .. } = &item.state else { return None };
        let worker = format!("{}@{}", worker.pid, worker.host);
        Some(Self { id: item.id, attempt: item.attempt, worked_for: *worked_for, worker })
    }
}
