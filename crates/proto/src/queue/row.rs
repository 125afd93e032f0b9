//! Rows: what people are shown of an item or of a group.

use alloc::{string::String, vec::Vec};

use super::item::{DeliveryHistory, ItemId};
use crate::{
    count::Priority,
    id::{Fence, Inbox},
    name::Name,
    time::Micros,
};

/// An item in work, for people.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WorkRow {
    /// Which.
    pub id: ItemId,
    /// Which delivery.
    pub fence: Fence,
    /// Which delivery, from 1.
    pub attempt: u32,
    /// The group.
    pub group: Option<Name>,
    /// The inbox of the worker.
    pub by: Inbox,
    /// The worker's description of itself.
    pub about: String,
    /// For how long.
    pub worked: Micros,
    /// How long its lease lasts without renewal; `None`: for as long as the worker's process lives.
    pub valid_for: Option<Micros>,
}

/// A group, for people.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GroupRow {
    /// The key.
    pub group: Name,
    /// Items of it in work.
    pub in_work: u32,
    /// Items of it that are ready.
    pub ready: u32,
}

/// An item, for people.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ItemRow {
    /// Which.
    pub id: ItemId,
    /// Its state, and what is known of it in that state.
    pub state: RowState,
    /// Deliveries so far.
    pub attempt: u32,
    /// How many deliveries it is allowed.
    pub most: u32,
    /// The priority.
    pub priority: Priority,
    /// The group.
    pub group: Option<Name>,
    /// What its maker said of itself, and its labels.
    pub about: String,
    /// When it was pushed, on the store's clock.
    pub pushed: Micros,
    /// How its latest deliveries ended.
    pub history: DeliveryHistory,
    /// How long its payload is.
    pub bytes: u32,
    /// The first [`ItemRow::PREVIEW`] bytes of it.
    pub payload: Vec<u8>,
}

/// The state of a listed item.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RowState {
    /// It can be delivered, now or when its group has room.
    Ready,
    /// Not before this, on the store's clock.
    Delayed {
        /// When.
        due: Micros,
    },
    /// Somebody works on it.
    InWork {
        /// Which delivery.
        fence: Fence,
        /// The inbox of the worker.
        by: Inbox,
        /// The worker's description of itself.
        about: String,
        /// For how long.
        worked: Micros,
        /// How long its lease lasts without renewal; `None`: for as long as the worker's process
        /// lives.
        valid_for: Option<Micros>,
    },
    /// It has had all its deliveries.
    Dead {
        /// Since when, on the store's clock.
        at: Micros,
    },
}

impl ItemRow {
    /// How much of a payload is shown.
    pub const PREVIEW: usize = 256;
}
