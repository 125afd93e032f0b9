//! Reads the rows of a list, and counts the items of it that match.

use seinpaal::{ItemCursor, ItemState, ListedItem, Queue, QueueError};
use seinpaal_words::matching::Matching;

use crate::view::item_query::ItemQuery;

/// How many rows a page lists.
const ROWS: usize = 50;
/// How many items one call of a search looks at: few enough that other clients do not wait long for
/// the store.
const STEP: u32 = 250;

/// The items of a state that were found.
pub(in super::super) struct FoundItems {
    pub(super) state: ItemState,
    pub(super) shown: Vec<ListedItem>,
    /// How many items match, counted from the first row.
    pub(super) matching: u64,
    /// The place from which the rows go on.
    pub(super) next: Option<ItemCursor>,
    /// Whether the first row is the first of the list.
    pub(super) is_first: bool,
}

impl FoundItems {
    pub(in super::super) fn none(state: ItemState) -> Self {
        Self { state, shown: Vec::new(), matching: 0, next: None, is_first: true }
    }

    pub(in super::super) fn state(&self) -> ItemState {
        self.state
    }

    /// Reads the first rows, or those behind the place of the query. A search looks at all items.
    pub(in super::super) async fn read(
        queue: &Queue,
        state: ItemState,
        query: &ItemQuery,
        matching: &Matching,
    ) -> Result<Self, QueueError> {
        let mut after = query.after.clone().filter(|after| after.state() == state);
        let mut found = Self { is_first: after.is_none(), ..Self::none(state) };
        if matching.text.is_empty() {
            found.fill(queue, after, matching).await?;
            return Ok(found);
        }
        let mut is_full = false;
        loop {
            let page = queue.items(state, after.as_ref(), STEP).await?;
            let meant: Vec<_> = page.items.into_iter().filter(|item| matching.has(item)).collect();
            found.matching += meant.len() as u64;
            if !is_full && found.shown.len() + meant.len() < ROWS {
                found.shown.extend(meant);
            } else if !is_full && !meant.is_empty() {
                // There is no room for all of these items. This part of the list is read again in
                // shorter steps, so that `next` stands close behind the last row that is shown.
                is_full = true;
                found.fill(queue, after, matching).await?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(found);
            }
        }
    }

    /// Takes rows from this place on until there are enough, and notes the place from which they go
    /// on. If a call returns no items, as can happen behind very many groups, the next step is
    /// longer, and there may be a few rows too many.
    async fn fill(
        &mut self,
        queue: &Queue,
        mut after: Option<ItemCursor>,
        matching: &Matching,
    ) -> Result<(), QueueError> {
        let mut rows = ROWS as u32;
        loop {
            let page = queue.items(self.state, after.as_ref(), rows).await?;
            rows = if page.items.is_empty() { STEP } else { ROWS as u32 };
            self.shown.extend(page.items.into_iter().filter(|item| matching.has(item)));
            self.next.clone_from(&page.next);
            after = page.next;
            if after.is_none() || self.shown.len() >= ROWS {
                return Ok(());
            }
        }
    }
}
