//! Lists the items behind a place in one of the orders.

use alloc::{collections::BTreeSet, vec::Vec};
use core::ops::Bound;

use super::MemoryQueue;
use crate::queue::{
    item::{Item, ItemId},
    listing::ItemPosition,
};

impl MemoryQueue {
    pub(super) fn behind(&self, after: &ItemPosition, rows: u32) -> Vec<Item> {
        match after {
            ItemPosition::Open(rank, id) => self.list(behind(&self.open, &(*rank, *id)), rows),
            ItemPosition::Grouped(None, ..) => {
                self.list(self.grouped.iter().map(|(_, _, id)| id), rows)
            }
            ItemPosition::Grouped(Some(group), rank, id) => {
                let place = (group.clone(), *rank, *id);
                let places = self.grouped.range((Bound::Excluded(place), Bound::Unbounded));
                self.list(places.map(|(_, _, id)| id), rows)
            }
            ItemPosition::Delayed(due, id) => self.list(behind(&self.delayed, &(*due, *id)), rows),
            ItemPosition::InWork(ends, id) => self.list(behind(&self.by_end, &(*ends, *id)), rows),
            ItemPosition::Dead(id) => {
                self.list(self.dead.range((Bound::Excluded(id), Bound::Unbounded)), rows)
            }
        }
    }

    fn list<'a>(&self, ids: impl Iterator<Item = &'a ItemId>, rows: u32) -> Vec<Item> {
        ids.filter_map(|id| self.items.get(id)).take(rows as usize).cloned().collect()
    }
}

fn behind<'a, K: Ord>(
    order: &'a BTreeSet<(K, ItemId)>,
    place: &(K, ItemId),
) -> impl Iterator<Item = &'a ItemId> {
    order.range((Bound::Excluded(place), Bound::Unbounded)).map(|(_, id)| id)
}
