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
    /// Work is left over: send an empty batch soon.
    pub backlog: bool,
    /// Set when the sender is the first idle worker: look again after this long at the latest.
    pub look_in: Option<Micros>,
}

/// One answer.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// The item is in the queue.
    Pushed {
        /// The number.
        id: ItemId,
    },
    /// An item with that key was pushed not long ago. Nothing was written.
    Duplicate {
        /// The number.
        id: ItemId,
    },
    /// The items to work on, possibly none.
    Popped {
        /// The items.
        items: Vec<Popped>,
        /// How long their leases are valid from now; `None`: for as long as the worker's process
        /// lives.
        valid_for: Option<Micros>,
        /// How many are ready, delayed or in work, these among them.
        left: u64,
    },
    /// These deliveries are over, and all others of the request go on.
    Renewed {
        /// As in `Popped`.
        valid_for: Option<Micros>,
        /// The deliveries that are over.
        lost: Vec<Delivery>,
    },
    /// The item is done and gone.
    Acknowledged {
        /// Which.
        id: ItemId,
    },
    /// The item is in the queue again.
    Returned {
        /// Which.
        id: ItemId,
    },
    /// This was the item's last delivery, so the item is a dead letter now.
    Died {
        /// Which.
        id: ItemId,
    },
    /// The delivery was over already: its lease ran out, or the item was cancelled. Nothing was
    /// written.
    Lost {
        /// Which.
        id: ItemId,
    },
    /// The sender wants no more items.
    Left,
    /// The item is gone, and a worker that had it in hand was told.
    Cancelled {
        /// Which.
        id: ItemId,
        /// What the item was.
        was: ItemState,
    },
    /// No item has this number, or it is in a state that the request is not for. Nothing was
    /// written.
    Unknown {
        /// Which.
        id: ItemId,
    },
    /// The dead letter is an item again.
    Replayed {
        /// Which.
        id: ItemId,
    },
    /// The dead letter is forgotten.
    Dropped {
        /// Which.
        id: ItemId,
    },
    /// So many items were taken out.
    Purged {
        /// How many.
        removed: u32,
        /// There are more: ask again.
        more: bool,
    },
    /// The limits now in force.
    Configured {
        /// Of the queue.
        limit: Option<u32>,
        /// Of each group.
        group_limit: Option<u32>,
    },
    /// About the queue.
    Snapshot(Snapshot),
    /// A page of items of one state.
    Items {
        /// In their order. Some that were looked at may stand elsewhere.
        rows: Vec<ItemRow>,
        /// Where the next page begins; `None` after the last.
        next: Option<ItemPosition>,
    },
    /// The batch arrived after its deadline, or after a later one of its session. Nothing was
    /// written.
    Late,
}

/// An item to work on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Popped {
    /// The number, and that of this delivery.
    pub delivery: Delivery,
    /// Which delivery this is, from 1.
    pub attempt: u32,
    /// How many it is allowed.
    pub most: u32,
    /// The priority.
    pub priority: Priority,
    /// The group.
    pub group: Option<Name>,
    /// What its maker said of itself, and its labels.
    pub about: String,
    /// When it was pushed, on the store's clock.
    pub pushed: Micros,
    /// What is to be done.
    pub payload: Vec<u8>,
}

/// A queue at one moment.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Snapshot {
    /// How many items may be in work at once.
    pub limit: Option<u32>,
    /// How many of one group.
    pub group_limit: Option<u32>,
    /// Why it is paused, if it is.
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
    /// How long ago the item was pushed that is next.
    pub oldest: Option<Micros>,
    /// In how long the next delayed item is due.
    pub next_due: Option<Micros>,
    /// The items in work, by the ends of their leases, at most as many as were asked for.
    pub work: Vec<WorkRow>,
    /// Groups that have items ready or in work, by name; only as many as asked for.
    pub groups: Vec<GroupRow>,
}

impl Snapshot {
    /// Returns whether there is anything in it that people would want to see in a list.
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
    /// To whom.
    pub inbox: Inbox,
    /// About which queue.
    pub name: Name,
    /// The event.
    pub what: What,
}

/// The event that a wakeup tells.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum What {
    /// There is something to pop, or nothing left to wait for.
    Called,
    /// You are the first in line: look after this long.
    Watch {
        /// In microseconds.
        look_in: Micros,
    },
    /// A delivery of yours is over.
    Lost(Delivery),
}
