//! The requests of clients of a queue.

use alloc::{string::String, vec::Vec};

use super::{
    item::{Delivery, FailureReason, ItemId},
    listing::ItemPosition,
};
use crate::{
    count::{Limit, Priority},
    id::Inbox,
    name::Name,
    time::Micros,
};

/// The longest time for which a deduplication key is remembered: a week.
pub const MAX_WINDOW: Micros = 7 * 24 * 3600 * crate::time::SECOND;

/// Requests of one session about one queue. They are executed in order in one atomic step, and only
/// once, however often they arrive.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Batch {
    /// The queue.
    pub name: Name,
    /// The sender of the batch, and where it listens. A session has one batch of a queue under way
    /// at a time.
    pub session: Inbox,
    /// A number that grows with every batch of the session, and stays the same when the batch is
    /// sent again. 0: the batch does no harm if it is executed twice.
    pub number: u64,
    /// The deadline: the store refuses the batch if its clock is past this. A batch that is sent
    /// again keeps its deadline.
    pub not_after: Micros,
    /// The highest number (of an item or a fence) that the sender has seen at this queue, or 0.
    /// From it, a store that lost its memory learns which numbers it must not give again.
    pub seen: u64,
    /// The requests, at most [`Batch::MOST`]; none at all means "do what is due".
    pub requests: Vec<Request>,
}

impl Batch {
    /// The most requests in one batch.
    pub const MOST: usize = 64;
    /// The most items that one [`Pop`] can ask for.
    pub const MOST_ITEMS: u32 = 64;
    /// The most deliveries in one [`Renew`].
    pub const MOST_DELIVERIES: usize = 500;
    /// The most items that one [`List`](Request::List) looks at.
    pub const MOST_ROWS: u32 = 500;
}

/// One request.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Request {
    /// Put an item into the queue. Answers `Pushed` or `Duplicate`.
    Push(Push),
    /// Take items to work on, and say how many more are wanted as soon as there are any. Answers
    /// `Popped`.
    Pop(Pop),
    /// Extend the leases of deliveries, and make the sender their owner. Answers `Renewed`.
    Renew(Renew),
    /// Report how a delivery ended. Answers `Acknowledged`, `Returned`, `Died` or `Lost`.
    Finish {
        /// The delivery.
        delivery: Delivery,
        /// The way in which it ended.
        how: How,
    },
    /// Ask for no more items. Answers `Left`.
    Leave,
    /// Take an item out of the queue, unless it is dead. Answers `Cancelled` or `Unknown`.
    Cancel {
        /// The item.
        id: ItemId,
        /// Whether the item stays if a worker has it.
        spares_work: bool,
    },
    /// Make a dead letter an item again, with all its deliveries before it. Answers `Replayed` or
    /// `Unknown`.
    Replay {
        /// The dead letter.
        id: ItemId,
    },
    /// Forget a dead letter. Answers `Dropped` or `Unknown`.
    Drop {
        /// The dead letter.
        id: ItemId,
    },
    /// Remove many items, as many as one call can. Answers `Purged`.
    Purge(Purge),
    /// Change the settings stored with the queue. Answers `Configured`.
    Configure(Configure),
    /// Read the state of the queue. Answers `Snapshot`.
    Inspect {
        /// The most rows of a kind to list.
        rows: u32,
    },
    /// Read items of one state. Answers `Items`.
    List {
        /// The place behind which the list begins, in the order of the state.
        after: ItemPosition,
        /// How many items to look at, at most; 1 to [`Batch::MOST_ROWS`].
        rows: u32,
    },
}

/// A new item.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Push {
    /// The payload, at most [`MAX_PAYLOAD_BYTES`](super::MAX_PAYLOAD_BYTES) long.
    pub payload: Vec<u8>,
    /// The priority, higher first. One step is worth a minute of waiting.
    pub priority: Priority,
    /// When the item may be delivered first.
    pub due: Due,
    /// The group of the item, which may have a limit of its own.
    pub group: Option<Name>,
    /// The key by which to refuse the item if another one with that key was pushed not long ago.
    pub dedup: Option<Dedup>,
    /// How many deliveries the item is allowed, 1 to [`MAX_DELIVERIES`](super::MAX_DELIVERIES).
    pub most: u32,
    /// The sender's description of itself and the item's labels, [encoded](crate::About::encode),
    /// for people to read.
    pub about: String,
}

/// When an item may be delivered.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Due {
    /// At once.
    #[default]
    Now,
    /// After this time.
    In(Micros),
    /// At this instant of the store's clock, in microseconds since 1970.
    At(Micros),
}

/// A key under which items count as the same.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Dedup {
    /// The key.
    pub key: Name,
    /// How long the key is remembered from the push, up to [`MAX_WINDOW`].
    pub window: Micros,
}

/// A worker's want for items.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Pop {
    /// The most items to deliver, 1 to [`Batch::MOST_ITEMS`].
    pub items: u32,
    /// How long the leases last without renewal.
    pub ttl: Micros,
    /// By how much the ledger's clock may jump in one operation without hurting this worker, as in
    /// [`Acquire::margin`](crate::Acquire::margin).
    pub margin: Micros,
    /// Whether to call the worker when there are more items.
    pub wait: bool,
    /// Whether to call the worker, too, when there is nothing left to wait for.
    pub drains: bool,
    /// The worker's description of itself, [encoded](crate::About::encode), for people to read.
    pub about: String,
}

/// A renewal of deliveries.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Renew {
    /// Their leases' length from now on.
    pub ttl: Micros,
    /// As in [`Pop::margin`].
    pub margin: Micros,
    /// The deliveries, at most [`Batch::MOST_DELIVERIES`].
    pub deliveries: Vec<Delivery>,
}

/// How a delivery ends.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum How {
    /// The item is done.
    Acknowledge,
    /// The item is for another worker, after `delay`. The delivery does not count. With a delay of
    /// 0 the item goes back to where it stood in the order.
    GiveBack {
        /// How long the item is not delivered.
        delay: Micros,
    },
    /// The work failed. If the item has a delivery left, it is delivered again after `delay`.
    /// Otherwise it is a dead letter.
    Fail {
        /// How long the item is not delivered.
        delay: Micros,
        /// The reason of the failure.
        reason: FailureReason,
    },
}

/// The items that a purge removes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Purge {
    /// Ready and delayed items.
    Waiting,
    /// The dead letters.
    Dead,
}

/// A change of the settings stored with a queue.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Configure {
    /// How many items may be in work at once; `None`: any number.
    Limit(Option<Limit>),
    /// How many items of one group may be in work at once; `None`: any number.
    GroupLimit(Option<Limit>),
    /// Deliver nothing until resumed. Work under way goes on. The reason is for people to read.
    Pause(String),
    /// Deliver again.
    Resume,
}

impl Request {
    /// Returns whether the request only reads.
    #[must_use]
    pub fn reads(&self) -> bool {
        matches!(self, Self::Inspect { .. } | Self::List { .. })
    }
}
