//! The orders in which items are kept, and what stands behind a place in one.

use alloc::{collections::BTreeSet, vec::Vec};
use core::ops::Bound;

use super::MemoryQueue;
use crate::queue::{
    item::{Item, ItemId},
    listing::ItemPosition,
};

/// A place in an order, which ends with the number of its item.
trait Numbered {
    fn number(&self) -> ItemId;
}

impl Numbered for ItemId {
    fn number(&self) -> ItemId {
        *self
    }
}

impl<K> Numbered for (K, ItemId) {
    fn number(&self) -> ItemId {
        self.1
    }
}

impl<K, L> Numbered for (K, L, ItemId) {
    fn number(&self) -> ItemId {
        self.2
    }
}

impl MemoryQueue {
    pub(super) fn behind(&self, after: &ItemPosition, rows: u32) -> Vec<Item> {
        match after {
            ItemPosition::Open(rank, id) => self.page(&self.open, &(*rank, *id), rows),
            ItemPosition::Grouped(None, ..) => self.listed(self.grouped.iter(), rows),
            ItemPosition::Grouped(Some(group), rank, id) => {
                self.page(&self.grouped, &(group.clone(), *rank, *id), rows)
            }
            ItemPosition::Delayed(due, id) => self.page(&self.delayed, &(*due, *id), rows),
            ItemPosition::InWork(ends, id) => self.page(&self.by_end, &(*ends, *id), rows),
            ItemPosition::Dead(id) => self.page(&self.dead, id, rows),
        }
    }

    fn page<P: Ord + Numbered>(&self, order: &BTreeSet<P>, after: &P, rows: u32) -> Vec<Item> {
        self.listed(order.range((Bound::Excluded(after), Bound::Unbounded)), rows)
    }

    fn listed<'a, P: Numbered + 'a>(
        &self,
        places: impl Iterator<Item = &'a P>,
        rows: u32,
    ) -> Vec<Item> {
        let items = places.filter_map(|place| self.items.get(&place.number()));
        items.take(rows as usize).cloned().collect()
    }
}
