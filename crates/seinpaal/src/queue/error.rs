//! Errors of queues, one type for each operation.

use seinpaal_proto::{
    BadCount, BadName,
    queue::{ItemId, MAX_PAYLOAD_BYTES},
};
use thiserror::Error;

use crate::{
    driver::{self, NotDone},
    error::{BadSetting, from_store_error, of_parent},
    store::StoreError,
};

/// Why a push failed, or may have failed.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum PushError {
    /// Not a name of a queue, a group or a deduplication key.
    #[error(transparent)]
    Name(#[from] BadName),
    /// Not a priority.
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
    /// The store was silent for too long: the item may be in the queue or not. Push it with a
    /// deduplication key, and pushing it again is safe.
    #[error("the item may have been pushed or not: {0}")]
    Unknown(#[source] StoreError),
    /// The connection is [closed](crate::Seinpaal::close): nothing was pushed.
    #[error("the connection is closed")]
    Closed,
    /// The store does not answer, or refuses: the item is not in the queue.
    #[error(transparent)]
    Store(StoreError),
}

/// Why a pop returned no items.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum PopError {
    /// Not a name.
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
    /// The store does not answer, or refuses. What it may have delivered is delivered again when
    /// the lease ends.
    #[error(transparent)]
    Store(StoreError),
}

/// Why a delivery was not ended.
#[derive(Clone, Copy, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum FinishError {
    /// The delivery was over before: its lease ran out, or the item was cancelled. Other workers
    /// may have worked on the item meanwhile.
    #[error("the delivery was over before: its lease ran out, or the item was cancelled")]
    Lost,
    /// The store was silent for too long. The connection tells it again, but the item may be
    /// delivered once more.
    #[error("the store did not answer: the delivery may have been ended or not")]
    Unknown,
    /// The connection is [closed](crate::Seinpaal::close), which gives back what was in hand: the
    /// delivery may have been ended or not.
    #[error("the connection is closed: the delivery may have been ended or not")]
    Closed,
    /// The connection is another process's, which this one was forked from. The delivery is that
    /// process's, and goes on.
    #[error("{}", of_parent(*.process))]
    Forked {
        /// The process that has connected.
        process: u32,
    },
}

/// Why a worker stopped by itself.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum WorkError {
    /// Not a name.
    #[error(transparent)]
    Name(#[from] BadName),
    /// A ttl or a number outside its range.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// The connection is [closed](crate::Seinpaal::close), which gives back what was in hand.
    #[error("the connection is closed")]
    Closed,
    /// The store refuses for good. One that is only silent is waited for.
    #[error(transparent)]
    Store(StoreError),
}

/// Why something could not be read or changed.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum QueueError {
    /// Not a name.
    #[error(transparent)]
    Name(#[from] BadName),
    /// Not a limit.
    #[error(transparent)]
    Count(#[from] BadCount),
    /// A reason outside its range.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// There is no such item, or no such dead letter.
    #[error("there is no such item here: {0}")]
    NoSuchItem(ItemId),
    /// The store was silent for too long, so the request may have been executed or not.
    #[error("nobody can say whether the store has done it: {0}")]
    Unknown(#[source] StoreError),
    /// The connection is [closed](crate::Seinpaal::close): nothing was done.
    #[error("the connection is closed")]
    Closed,
    /// The store does not answer, or refuses: nothing was done.
    #[error(transparent)]
    Store(StoreError),
}

/// Why a payload is not the JSON that was expected. It says so in words.
#[cfg(feature = "serde")]
#[derive(Clone, Debug, Error)]
#[error("{why}")]
#[non_exhaustive]
pub struct BadJson {
    /// The line of the payload at which reading ended, from 1; 0 if there is none.
    pub line: usize,
    /// The column there, from 1; 0 if there is none.
    pub column: usize,
    why: String,
}

/// The type of `serde_json` stays out of the public API, so that its next version breaks nobody.
#[cfg(feature = "serde")]
impl BadJson {
    pub(super) fn new(error: &serde_json::Error) -> Self {
        Self { line: error.line(), column: error.column(), why: error.to_string() }
    }
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
