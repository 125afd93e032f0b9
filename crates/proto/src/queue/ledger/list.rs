//! Listing: one page of the items of a state.

use alloc::vec::Vec;

use super::{Ledger, MOST_PAYLOAD};
use crate::{
    ledger::Contacts,
    queue::{
        item::Item, listing::ItemPosition, reply::Reply, request::Batch, row::ItemRow, state::State,
    },
};

/// A page while it is filled.
struct Page {
    rows: Vec<ItemRow>,
    /// The last item that was looked at.
    at: ItemPosition,
    /// How many more items this call looks at.
    left: u32,
    /// How many more bytes of payload this call reads. Stores read a payload whole to show its
    /// beginning.
    room: usize,
}

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Lists a page of items. It looks at no more items and reads no more payload than one call
    /// may, however many rows were asked for. So a page can have fewer rows than asked for, and
    /// another page behind it.
    pub(super) fn list(&mut self, after: &ItemPosition, rows: u32) -> Result<Reply, S::Error> {
        let left = rows.clamp(1, Batch::MOST_ROWS);
        let mut page = Page { rows: Vec::new(), at: after.clone(), left, room: MOST_PAYLOAD };
        loop {
            let wanted = page.left;
            let items = self.state.items_after(&page.at, wanted)?;
            let is_last = (items.len() as u64) < u64::from(wanted);
            for item in items {
                if !self.add_row(&mut page, item)? {
                    return Ok(page.reply(true));
                }
            }
            match page.at {
                _ if !is_last => return Ok(page.reply(true)),
                ItemPosition::Grouped(..) => page.at = ItemPosition::before_open(),
                _ => return Ok(page.reply(false)),
            }
        }
    }

    /// Adds an item to the page. Returns whether there was room for it.
    fn add_row(&mut self, page: &mut Page, item: Item) -> Result<bool, S::Error> {
        let is_grouped = matches!(page.at, ItemPosition::Grouped(..));
        let at = ItemPosition::of(&item, is_grouped);
        // The first item of a group stands in the order of all, too. It was listed with its group.
        let is_elsewhere = matches!(at, ItemPosition::Open(..)) && item.group.is_some();
        if !is_elsewhere {
            let bytes = item.bytes as usize;
            if bytes > page.room && !page.rows.is_empty() {
                return Ok(false);
            }
            page.room = page.room.saturating_sub(bytes);
            page.rows.push(self.item_row(item)?);
        }
        page.at = at;
        page.left -= 1;
        Ok(true)
    }

    fn item_row(&mut self, item: Item) -> Result<ItemRow, S::Error> {
        let payload = self.state.payload(item.id)?;
        let valid_for = self.valid_for(&item);
        Ok(ItemRow::of(item, self.now, valid_for, payload))
    }
}

impl Page {
    fn reply(self, has_more: bool) -> Reply {
        Reply::Items { rows: self.rows, next: has_more.then_some(self.at) }
    }
}
