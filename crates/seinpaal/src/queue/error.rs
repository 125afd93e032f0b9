//! Errors of queues, one type for each operation.

use seinpaal_proto::{
    BadCount, BadName,
    queue::{ItemId, MAX_PAYLOAD_BYTES},
};
use thiserror::Error;

use crate::{
    driver::{self, NotDone},
    error::{BadSetting, availability, from_store_error, of_parent},
    store::StoreError,
};

/// The reason why a push failed, or may have failed.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum PushError {
    /// The text is not a name of a queue, a group or a deduplication key.
    #[error(transparent)]
    Name(#[from] BadName),
    /// The number is not a priority.
    #[error(transparent)]
    Count(#[from] BadCount),
    /// A label, a window or a number of deliveries outside its range.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// The payload is too long.
    #[error(
        "a payload has at most {MAX_PAYLOAD_BYTES} bytes, not {0}: store it elsewhere and push a reference to it"
    )]
    TooLarge(usize),
    /// The value cannot be serialised.
    #[cfg(feature = "serde")]
    #[error("the value cannot be written as JSON: {0}")]
    Json(String),
    /// The store was silent for too long, so the item may or may not be in the queue. With a
    /// deduplication key it is safe to push the item again.
    #[error("the item may have been pushed or not: {0}")]
    Unknown(#[source] StoreError),
    /// The connection is [closed](crate::Seinpaal::close), and nothing was pushed.
    #[error("the connection is closed")]
    Closed,
    /// The store does not answer, or refuses, and the item is not in the queue.
    #[error(transparent)]
    Store(StoreError),
}

/// The reason why a pop returned no items.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum PopError {
    /// The text is not a name.
    #[error(transparent)]
    Name(#[from] BadName),
    /// A ttl or a number of items outside its range.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// The timeout came first, and no item was ready as far as the store was heard from. If the
    /// store did not answer in that time, the error is [`Store`](Self::Store) instead.
    #[error("timed out waiting")]
    TimedOut,
    /// The connection is [closed](crate::Seinpaal::close).
    #[error("the connection is closed")]
    Closed,
    /// The store does not answer, or refuses. Items that it may have delivered are delivered again
    /// when the lease ends.
    #[error(transparent)]
    Store(StoreError),
}

/// The reason why a delivery was not ended.
#[derive(Clone, Copy, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum FinishError {
    /// The delivery had ended before, because its lease ran out or the item was cancelled. Other
    /// workers may have worked on the item meanwhile.
    #[error("the delivery was over before: its lease ran out, or the item was cancelled")]
    Lost,
    /// The store was silent for too long. The connection repeats the request, but the item may be
    /// delivered once more.
    #[error("the store did not answer: the delivery may have been ended or not")]
    Unknown,
    /// The connection is [closed](crate::Seinpaal::close), which gives back the items in hand, so
    /// the delivery may or may not have been ended.
    #[error("the connection is closed: the delivery may have been ended or not")]
    Closed,
    /// This process was forked from the one that has connected. The delivery belongs to that
    /// process, and goes on.
    #[error("{}", of_parent(*.process))]
    Forked {
        /// The process that has connected.
        process: u32,
    },
}

/// The reason why a worker stopped by itself.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum WorkError {
    /// The text is not a name.
    #[error(transparent)]
    Name(#[from] BadName),
    /// A ttl or a number outside its range.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// The connection is [closed](crate::Seinpaal::close), which gives back the items in hand.
    #[error("the connection is closed")]
    Closed,
    /// The store refuses for good. A store that is only silent is waited for.
    #[error(transparent)]
    Store(StoreError),
}

/// The reason why a queue could not be read or changed.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum QueueError {
    /// The text is not a name.
    #[error(transparent)]
    Name(#[from] BadName),
    /// The number is not a limit.
    #[error(transparent)]
    Count(#[from] BadCount),
    /// A reason outside its range.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// There is no such item, or no such dead letter.
    #[error("there is no such item here: {0}")]
    NoSuchItem(ItemId),
    /// The store was silent for too long, so the request may or may not have been executed.
    #[error("the store may or may not have done it: {0}")]
    Unknown(#[source] StoreError),
    /// The connection is [closed](crate::Seinpaal::close), and nothing was done.
    #[error("the connection is closed")]
    Closed,
    /// The store does not answer, or refuses, and nothing was done.
    #[error(transparent)]
    Store(StoreError),
}

/// The reason why a payload is not the expected JSON. Its text says so in words.
#[cfg(feature = "serde")]
#[derive(Clone, Debug, Error)]
#[error("{why}")]
#[non_exhaustive]
pub struct BadJson {
    /// The line of the payload at which reading ended, from 1, or 0 if there is none.
    pub line: usize,
    /// The column there, from 1, or 0 if there is none.
    pub column: usize,
    why: String,
}

/// The type of `serde_json` stays out of the public API, so that its next version breaks no user of
/// this crate.
#[cfg(feature = "serde")]
impl BadJson {
    pub(super) fn new(error: &serde_json::Error) -> Self {
        Self { line: error.line(), column: error.column(), why: error.to_string() }
    }
}

availability! {
    PushError { Self::Store(error) => error.is_passing(), Self::Unknown(_) | Self::Closed => true };
    PopError { Self::Store(error) => error.is_passing(), Self::Closed => true };
    FinishError { Self::Unknown | Self::Closed => true };
    WorkError { Self::Store(error) => error.is_passing(), Self::Closed => true };
    QueueError { Self::Store(error) => error.is_passing(), Self::Unknown(_) | Self::Closed => true };
}

from_store_error!(PushError, PopError, WorkError, QueueError);

impl From<NotDone> for PushError {
    fn from(not_done: NotDone) -> Self {
        match not_done {
            NotDone::Refused(error) => error.into(),
            NotDone::Unknown(error) => Self::Unknown(error),
        }
    }
}

impl From<NotDone> for QueueError {
    fn from(not_done: NotDone) -> Self {
        match not_done {
            NotDone::Refused(error) => error.into(),
            NotDone::Unknown(error) => Self::Unknown(error),
        }
    }
}

impl QueueError {
    pub(super) fn misfit() -> Self {
        Self::Store(driver::misfit())
    }
}
