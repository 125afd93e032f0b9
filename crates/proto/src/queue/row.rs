//! Rows: items and groups as people are shown them.

use alloc::{string::String, vec::Vec};

use super::item::{DeliveryHistory, Item, ItemId, Standing};
use crate::{
    count::Priority,
    id::{Fence, Inbox},
    name::Name,
    time::Micros,
};

/// An item in work, for people.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WorkRow {
    /// The item.
    pub id: ItemId,
    /// The fence of the delivery.
    pub fence: Fence,
    /// The number of the delivery, from 1.
    pub attempt: u32,
    /// The group.
    pub group: Option<Name>,
    /// The inbox of the worker.
    pub by: Inbox,
    /// The worker's description of itself.
    pub about: String,
    /// How long the worker has had the item.
    pub worked: Micros,
    /// How long its lease lasts without renewal; `None`: for as long as the worker's process lives.
    pub valid_for: Option<Micros>,
}

/// A group, for people.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GroupRow {
    /// The name of the group.
    pub group: Name,
    /// The number of its items in work.
    pub in_work: u32,
    /// The number of its ready items.
    pub ready: u32,
}

/// An item, for people.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ItemRow {
    /// The item.
    pub id: ItemId,
    /// The state of the item, with the facts that belong to it.
    pub state: RowState,
    /// The number of deliveries so far.
    pub attempt: u32,
    /// How many deliveries the item is allowed.
    pub most: u32,
    /// The priority.
    pub priority: Priority,
    /// The group.
    pub group: Option<Name>,
    /// The sender's description of itself and the item's labels, [encoded](crate::About::encode).
    pub about: String,
    /// When it was pushed, on the store's clock.
    pub pushed: Micros,
    /// How the latest deliveries ended.
    pub history: DeliveryHistory,
    /// The length of the payload.
    pub bytes: u32,
    /// The first [`ItemRow::PREVIEW`] bytes of the payload.
    pub payload: Vec<u8>,
}

/// The state of a listed item.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RowState {
    /// The item can be delivered, now or when its group has room.
    Ready,
    /// The item is not delivered before it is due.
    Delayed {
        /// The time at which it is due, on the store's clock.
        due: Micros,
    },
    /// A worker has the item.
    InWork {
        /// The fence of the delivery.
        fence: Fence,
        /// The inbox of the worker.
        by: Inbox,
        /// The worker's description of itself.
        about: String,
        /// How long the worker has had the item.
        worked: Micros,
        /// How long its lease lasts without renewal; `None`: for as long as the worker's process
        /// lives.
        valid_for: Option<Micros>,
    },
    /// The item has had all its deliveries.
    Dead {
        /// The time since which it is dead, on the store's clock.
        at: Micros,
    },
}

impl WorkRow {
    /// Makes the row of an item at this time on the store's clock; `None` if nobody works on it.
    /// The lease lasts for `valid_for`.
    #[must_use]
    pub fn of(item: Item, now: Micros, valid_for: Option<Micros>) -> Option<Self> {
        let Standing::InWork(work) = item.standing else { return None };
        Some(Self {
            id: item.id,
            fence: work.fence,
            attempt: item.attempt,
            group: item.group,
            by: work.by,
            about: work.about,
            worked: now.saturating_sub(work.since),
            valid_for,
        })
    }
}

impl ItemRow {
    /// The number of bytes that are shown of a payload.
    pub const PREVIEW: usize = 256;

    /// Makes the row of an item at this time on the store's clock. If somebody works on it, the
    /// lease lasts for `valid_for`. Of the payload the row has the beginning.
    #[must_use]
    pub fn of(item: Item, now: Micros, valid_for: Option<Micros>, mut payload: Vec<u8>) -> Self {
        payload.truncate(Self::PREVIEW);
        let state = match item.standing {
            Standing::Ready { .. } => RowState::Ready,
            Standing::Delayed { due } => RowState::Delayed { due },
            Standing::InWork(work) => RowState::InWork {
                fence: work.fence,
                by: work.by,
                about: work.about,
                worked: now.saturating_sub(work.since),
                valid_for,
            },
            Standing::Dead { at } => RowState::Dead { at },
        };
        Self {
            id: item.id,
            state,
            attempt: item.attempt,
            most: item.most,
            priority: item.priority,
            group: item.group,
            about: item.about,
            pushed: item.pushed,
            history: item.history,
            bytes: item.bytes,
            payload,
        }
    }
}
