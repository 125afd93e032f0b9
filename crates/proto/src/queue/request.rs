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

/// Requests of one session about one queue, executed in order in one atomic step, and once, however
/// often they arrive.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Batch {
    /// Which queue.
    pub name: Name,
    /// The sender of the batch, and where it listens. A session has one batch of a queue under way
    /// at a time.
    pub session: Inbox,
    /// Grows with every batch of the session, and stays the same when one is sent again. 0: nothing
    /// in it would do harm if it were done twice.
    pub number: u64,
    /// Refuse the batch if the store's clock is past this. The same whenever it is sent again.
    pub not_after: Micros,
    /// The highest number (of an item or a fence) that the sender has seen at this queue, or 0: a
    /// store that lost its memory will not repeat one.
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
    pub const MOST_ROWS: u32 = 1_000;
}

/// One request.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Request {
    /// Put an item into the queue. Answers `Pushed` or `Duplicate`.
    Push(Push),
    /// Take items to work on, and say how many more are wanted as soon as there are any. Answers
    /// `Popped`.
    Pop(Pop),
    /// Extend the leases of deliveries, which are the sender's from then on. Answers `Renewed`.
    Renew(Renew),
    /// Say how a delivery ended. Answers `Acknowledged`, `Returned`, `Died` or `Lost`.
    Finish {
        /// Which delivery.
        delivery: Delivery,
        /// How.
        how: How,
    },
    /// Want no more items. Answers `Left`.
    Leave,
    /// Take an item out of the queue, unless it is dead. Answers `Cancelled` or `Unknown`.
    Cancel {
        /// Which.
        id: ItemId,
        /// Whether it stays if somebody works on it.
        spares_work: bool,
    },
    /// Make a dead letter an item again, with all its deliveries before it. Answers `Replayed` or
    /// `Unknown`.
    Replay {
        /// Which.
        id: ItemId,
    },
    /// Forget a dead letter. Answers `Dropped` or `Unknown`.
    Drop {
        /// Which.
        id: ItemId,
    },
    /// Take many out at once, as many as one call does. Answers `Purged`.
    Purge(Purge),
    /// Change what is stored with the queue. Answers `Configured`.
    Configure(Configure),
    /// Read about the queue. Answers `Snapshot`.
    Inspect {
        /// The most rows of a kind to list.
        rows: u32,
    },
    /// Read items of one state. Answers `Items`.
    List {
        /// Only what stands behind this place in its order.
        after: ItemPosition,
        /// How many are looked at, at most; 1 to [`Batch::MOST_ROWS`].
        rows: u32,
    },
}

/// A new item.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Push {
    /// At most [`MAX_PAYLOAD_BYTES`](super::MAX_PAYLOAD_BYTES).
    pub payload: Vec<u8>,
    /// Higher first; one step outweighs a minute of waiting.
    pub priority: Priority,
    /// When it may be delivered first.
    pub due: Due,
    /// The group whose share of the queue it counts for.
    pub group: Option<Name>,
    /// Refuse it if an item with that key was pushed not long ago.
    pub dedup: Option<Dedup>,
    /// How many deliveries it is allowed, 1 to [`MAX_DELIVERIES`](super::MAX_DELIVERIES).
    pub most: u32,
    /// [`About::encode`](crate::About::encode)d, for people to read.
    pub about: String,
}

/// When an item may be delivered.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Due {
    /// At once.
    #[default]
    Now,
    /// After this long.
    In(Micros),
    /// At this instant of the store's clock, in microseconds since 1970.
    At(Micros),
}

/// A key under which items count as the same.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Dedup {
    /// The key.
    pub key: Name,
    /// How long it is remembered from the push, up to [`MAX_WINDOW`].
    pub window: Micros,
}

/// A worker's want for items.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Pop {
    /// How many at most, 1 to [`Batch::MOST_ITEMS`].
    pub items: u32,
    /// How long the leases last without renewal.
    pub ttl: Micros,
    /// By how much the ledger's clock may jump in one operation without hurting this worker, as in
    /// [`Acquire::margin`](crate::Acquire::margin).
    pub margin: Micros,
    /// Call me when there are more.
    pub wait: bool,
    /// Call me, too, when nothing is left to wait for.
    pub drains: bool,
    /// [`About::encode`](crate::About::encode)d, for people to read.
    pub about: String,
}

/// A renewal of deliveries.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Renew {
    /// Their leases' length from now on.
    pub ttl: Micros,
    /// As in [`Pop::margin`].
    pub margin: Micros,
    /// Which, at most [`Batch::MOST_DELIVERIES`].
    pub deliveries: Vec<Delivery>,
}

/// How a delivery ends.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum How {
    /// The item is done.
    Acknowledge,
    /// The item is for somebody else, after this long; it does not count as a delivery. With 0 it
    /// goes back to where it stood in the order.
    GiveBack {
        /// How long.
        delay: Micros,
    },
    /// The work failed. The item is delivered again after this long if a delivery is left, and is a
    /// dead letter otherwise.
    Fail {
        /// How long.
        delay: Micros,
        /// Why.
        reason: FailureReason,
    },
}

/// The items that are taken out.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Purge {
    /// Ready and delayed items.
    Waiting,
    /// The dead letters.
    Dead,
}

/// A change of what is stored with a queue.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Configure {
    /// How many items may be in work at once; `None`: any number.
    Limit(Option<Limit>),
    /// How many of one group; `None`: any number.
    GroupLimit(Option<Limit>),
    /// Deliver nothing until resumed; who works, works. The reason is for people to read.
    Pause(String),
    /// Deliver again.
    Resume,
}

impl Request {
    /// Returns whether it only reads.
    #[must_use]
    pub fn reads(&self) -> bool {
        matches!(self, Self::Inspect { .. } | Self::List { .. })
    }
}
