//! The events of a history of one queue.

use seinpaal_proto::{
    Inbox,
    queue::{Configure, FailureReason, ItemPosition, ItemState, Pop, Purge, Push},
};

/// An event.
#[derive(Clone, Debug)]
pub enum Event {
    /// Somebody subscribes to this inbox.
    Listen(Inbox),
    /// Nobody listens at this inbox any more.
    Hush(Inbox),
    /// The clock moves by this many microseconds, and a batch arrives.
    Call { step: i64, session: Inbox, turn: Turn, seen: Seen, sketches: Vec<Sketch> },
}

/// Which batch of its session it is.
#[derive(Clone, Copy, Debug)]
pub enum Turn {
    /// The next, with a deadline so far from the clock.
    Next(i64),
    /// The last one, sent again.
    Again,
    /// One that the last has overtaken.
    Overtaken,
    /// One that bears being done twice.
    Unnumbered,
}

/// The number that the sender claims to have seen.
#[derive(Clone, Copy, Debug)]
pub enum Seen {
    None,
    /// At this distance from the clock.
    Near(i64),
    /// More than can be believed.
    Absurd,
}

/// A request. Its subject is found among the earlier answers.
#[derive(Clone, Debug)]
pub enum Sketch {
    /// `At` is relative to the clock.
    Push(Push),
    Pop(Pop),
    /// Of the latest deliveries.
    Renew {
        ttl: u64,
        margin: u64,
        deliveries: Vec<usize>,
    },
    Acknowledge(usize),
    GiveBack(usize, u64),
    Fail(usize, u64, FailureReason),
    Leave,
    /// Whether it spares what is in work.
    Cancel(usize, bool),
    Replay(usize),
    Drop(usize),
    Purge(Purge),
    Configure(Configure),
    Inspect {
        rows: u32,
    },
    List {
        after: ListPlace,
        rows: u32,
    },
}

/// A place in a list of items.
#[derive(Clone, Debug)]
pub enum ListPlace {
    /// Before all items of a state.
    Before(ItemState),
    /// Behind one of the latest items, wherever it stands.
    Behind(usize),
    At(ItemPosition),
}
