//! The answers of a queue, and its news.

use alloc::{string::String, vec::Vec};

use super::{
    item::{Delivery, ItemId},
    listing::{ItemPosition, ItemState},
    row::{GroupRow, ItemRow, WorkRow},
};
use crate::{count::Priority, id::Inbox, name::Name, time::Micros};

/// The answers to one [`Batch`](super::Batch).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Replies {
    /// The store's clock when it executed the batch.
    pub now: Micros,
    /// One answer a request, in order.
    pub replies: Vec<Reply>,
    /// Whether work is left over. If so, the sender sends an empty batch soon.
    pub backlog: bool,
    /// Set when the sender is the first idle worker: it looks again after this long at the latest.
    pub look_in: Option<Micros>,
}

/// One answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reply {
    /// The item is in the queue.
    Pushed {
        /// The number of the item.
        id: ItemId,
    },
    /// An item with that key was pushed not long ago. Nothing was written.
    Duplicate {
        /// The number of that item.
        id: ItemId,
    },
    /// The items to work on, possibly none.
    Popped {
        /// The items.
        items: Vec<Popped>,
        /// How long their leases are valid from now; `None`: for as long as the worker's process
        /// lives.
        valid_for: Option<Micros>,
        /// How many items are ready, delayed or in work, these among them.
        left: u64,
    },
    /// The deliveries in `lost` are over, and all others of the request go on.
    Renewed {
        /// As in `Popped`.
        valid_for: Option<Micros>,
        /// The deliveries that are over.
        lost: Vec<Delivery>,
    },
    /// The item is done and gone.
    Acknowledged {
        /// The item.
        id: ItemId,
    },
    /// The item is in the queue again.
    Returned {
        /// The item.
        id: ItemId,
    },
    /// This was the item's last delivery, so the item is a dead letter now.
    Died {
        /// The item.
        id: ItemId,
    },
    /// The delivery was over already: its lease ran out, or the item was cancelled. Nothing was
    /// written.
    Lost {
        /// The item.
        id: ItemId,
    },
    /// The sender wants no more items.
    Left,
    /// The item is gone, and a worker that had it in hand was told.
    Cancelled {
        /// The item.
        id: ItemId,
        /// The state in which the item was.
        was: ItemState,
    },
    /// No item has this number, or its state is not one that the request is for. Nothing was
    /// written.
    Unknown {
        /// The number.
        id: ItemId,
    },
    /// The dead letter is an item again.
    Replayed {
        /// The item.
        id: ItemId,
    },
    /// The dead letter is forgotten.
    Dropped {
        /// The item.
        id: ItemId,
    },
    /// Items were removed.
    Purged {
        /// How many were removed.
        removed: u32,
        /// Whether there are more: ask again.
        more: bool,
    },
    /// The limits now in force.
    Configured {
        /// The limit of the queue.
        limit: Option<u32>,
        /// The limit of each group.
        group_limit: Option<u32>,
    },
    /// The state of the queue.
    Snapshot(Snapshot),
    /// A page of items of one state.
    Items {
        /// The items in their order. There may be fewer than were looked at, because some belong
        /// into another list.
        rows: Vec<ItemRow>,
        /// The place at which the next page begins; `None` after the last page.
        next: Option<ItemPosition>,
    },
    /// The batch arrived after its deadline, or after a later one of its session. Nothing was
    /// written.
    Late,
}

/// An item to work on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Popped {
    /// The number of the item, and the fence of this delivery.
    pub delivery: Delivery,
    /// The number of this delivery, from 1.
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
    /// The payload, which says what the worker is to do.
    pub payload: Vec<u8>,
}

/// A queue at one moment.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Snapshot {
    /// How many items may be in work at once.
    pub limit: Option<u32>,
    /// How many items of one group may be in work at once.
    pub group_limit: Option<u32>,
    /// The reason of the pause, if the queue is paused.
    pub paused: Option<String>,
    /// Items that can be delivered, those of full groups among them.
    pub ready: u32,
    /// Items that are not due yet.
    pub delayed: u32,
    /// Items in work.
    pub in_work: u32,
    /// Dead letters.
    pub dead: u32,
    /// Idle workers: sessions that want more items.
    pub idle: u32,
    /// How long ago the next item was pushed.
    pub oldest: Option<Micros>,
    /// In how long the next delayed item is due.
    pub next_due: Option<Micros>,
    /// The items in work, by the ends of their leases, at most as many as were asked for.
    pub work: Vec<WorkRow>,
    /// The groups that have items ready or in work, by name; at most as many as were asked for.
    pub groups: Vec<GroupRow>,
}

impl Snapshot {
    /// Returns whether the snapshot has anything that people would want to see in a list.
    #[must_use]
    pub fn is_worth_listing(&self) -> bool {
        let rows = [self.ready, self.delayed, self.in_work, self.dead, self.idle];
        rows.iter().any(|rows| *rows > 0)
            || self.limit.is_some()
            || self.group_limit.is_some()
            || self.paused.is_some()
    }
}

/// A hint to one session. It may be lost, late or repeated; the ledger is the truth.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Wakeup {
    /// The session that the hint is for.
    pub inbox: Inbox,
    /// The queue that it is about.
    pub name: Name,
    /// The event.
    pub what: What,
}

/// The event that a wakeup tells.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum What {
    /// There are items to pop, or there is nothing left to wait for.
    Called,
    /// The session is the first in line, and looks after this time.
    Watch {
        /// The time in microseconds.
        look_in: Micros,
    },
    /// A delivery of the session is over.
    Lost(Delivery),
}
