//! Errors, one type for each operation. That others hold the permits is an answer and not an error.

mod acquire;

use std::time::Duration;

use seinpaal_proto::{
    BadAsk, BadCount, BadName, BadSlotNames, Cause, Kind, MAX_ABOUT_BYTES, SlotNames, Ticket,
    queue::MAX_DELIVERIES,
};
use thiserror::Error;

pub use self::acquire::AcquireError;
use self::acquire::named;
use crate::store::{
    StoreError,
    url::{BadStoreUrl, RestartGuard},
};

/// Why a store could not be opened.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The URL is not one.
    #[error(transparent)]
    Url(#[from] BadStoreUrl),
    /// A setting is outside its range.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// The store did not open.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why permits could not be given back.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum ReleaseError {
    /// The permits were lost before: others may have held them meanwhile.
    #[error("the permits had been lost before they were given back")]
    NotHeld,
    /// The store did not answer in time. The connection repeats the release in the background for
    /// as long as that can matter.
    #[error(
        "the store did not answer: the permits may have been given back or not, and are free {}",
        free_after(*.at_most)
    )]
    Unknown {
        /// They are free after this long at the latest, counted from this answer; `None`: when this
        /// process ends.
        at_most: Option<Duration>,
    },
    /// The connection is [closed](crate::Seinpaal::close), which gives back everything.
    #[error("the connection is closed, which gives back everything that it held")]
    Closed,
    /// The permit was split or merged, so its ticket is not all its own.
    #[error(
        "a permit that was split or merged cannot be detached: only a whole ticket can change hands"
    )]
    NotWhole,
    /// The permit is not a writer's, so there is nothing to downgrade.
    #[error("only a writer's permit, whole, can be downgraded: this one was released")]
    NotAWriter,
}

/// How a ticket came to its end.
#[derive(Clone, Copy, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum Ended {
    /// The ticket was released.
    #[error("it was released")]
    Released,
    /// The ticket was cancelled.
    #[error("it was cancelled")]
    Cancelled,
    /// Its lease ran out.
    #[error("its lease ran out")]
    Expired,
    /// Somebody evicted it.
    #[error("somebody evicted it")]
    Evicted,
    /// The limit was lowered below what the ticket asked for.
    #[error("the limit was lowered below what it asked for")]
    TooMany,
    /// The ticket changed hands: another client attached to it.
    #[error("another client attached to it")]
    Attached,
}

impl From<Cause> for Ended {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Released => Self::Released,
            Cause::Cancelled => Self::Cancelled,
            Cause::Evicted => Self::Evicted,
            Cause::TooMany => Self::TooMany,
            Cause::Attached => Self::Attached,
            _ => Self::Expired,
        }
    }
}

/// A setting outside its range.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum BadSetting {
    /// A ttl that is too short or too long.
    #[error("a ttl is 100ms to 24h, not {0:?}")]
    Ttl(Duration),
    /// A ttl that the restart guard of this connection is too short for.
    #[error(
        "a ttl of {ttl:?} outlasts the restart guard: set restart-guard={}s or longer, for all clients",
        RestartGuard::for_ttl(*.ttl).as_secs_f64()
    )]
    OutlastsGuard {
        /// The ttl.
        ttl: Duration,
        /// The longest that will do.
        longest: Duration,
    },
    /// A restart guard shorter than 125 ms or longer than 30 h.
    #[error("a restart guard is 125ms to 30h, not {0:?}")]
    Guard(Duration),
    /// A restart guard for a store that has none.
    #[error("this store has no restart guard: leave it out")]
    NoGuard,
    /// A label with an empty key, `=` in the key, or control characters.
    #[error("a label is KEY=VALUE without control characters, the key not empty: {0:?}")]
    Label(String),
    /// These texts cannot be the names of slots.
    #[error(transparent)]
    SlotNames(#[from] BadSlotNames),
    /// More slots are wished for than permits are asked for.
    #[error(
        "{slots} slots are wished for and {permits} permits asked for: ask for as many permits"
    )]
    Wishes {
        /// The slots.
        slots: u32,
        /// The permits.
        permits: u32,
    },
    /// Labels and client name together are too long.
    #[error("labels and client name have at most {MAX_ABOUT_BYTES} bytes together, not {0}")]
    AboutTooLong(usize),
    /// A pause reason that is too long or has control characters.
    #[error("a reason has at most 512 bytes and no control characters")]
    Reason,
    /// The name of the person who asks, or the reason, cannot be told to a holder.
    #[error(transparent)]
    Ask(BadAsk),
    /// No deliveries, or too many.
    #[error("an item has 1 to {MAX_DELIVERIES} deliveries, not {0}")]
    Deliveries(u32),
    /// A deduplication window that is too long.
    #[error("a key is remembered for a week at most, not for {0:?}")]
    Window(Duration),
    /// No items, or too many at once.
    #[error("1 to 64 items can be had at once, not {0}: ask again for more")]
    Items(u32),
    /// A worker that works on nothing.
    #[error("a worker works on 1 item at least")]
    Concurrency,
    /// No replicas, or a store that has none.
    #[error(
        "replicated is 1 or more, and only for Redis stores with replicas, not {0} for this one"
    )]
    Replicated(u32),
}

/// Why something could not be read or changed.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum AdminError {
    /// Not a name.
    #[error(transparent)]
    Name(#[from] BadName),
    /// Not a limit.
    #[error(transparent)]
    Count(#[from] BadCount),
    /// A ttl, a reason, an ask or names of slots that are not allowed.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// The name is a mutex or a readers-writer lock, whose limit is fixed.
    #[error("the limit of a {0} cannot be changed")]
    FixedLimit(Kind),
    /// The slots have names that holders and waiters go by. While there are any, names can only be
    /// added at the end.
    #[error(
        "holders and waiters go by the names of the slots ({}): add names at the end, or wait until nobody \
         holds or waits; `pause` lets nobody new in until then",
        named(.names)
    )]
    SlotsInUse {
        /// The names.
        names: SlotNames,
    },
    /// There is no such ticket at this name.
    #[error("there is no such ticket here: {0}")]
    Unknown(Ticket),
    /// The ticket waits, so there is nothing that it could hand over.
    #[error("the ticket waits and holds nothing: {0}")]
    Waits(Ticket),
    /// The ticket is over.
    #[error("the ticket is over: {0}")]
    Ended(Ended),
    /// The connection is [closed](crate::Seinpaal::close). What was asked when it was closed may
    /// have been done.
    #[error("the connection is closed")]
    Closed,
    /// The store did not answer in time, or refuses. A change may have been made if the error's
    /// [certainty](StoreError::certainty) is `Unknown`.
    #[error(transparent)]
    Store(StoreError),
}

/// A closed connection has a variant of its own in errors that have one for trouble with the store.
macro_rules! from_store_error {
    ($($error:ty),*) => {$(
        impl From<crate::store::StoreError> for $error {
            fn from(error: crate::store::StoreError) -> Self {
                match error.kind() {
                    crate::store::StoreErrorKind::Closed => Self::Closed,
                    _ => Self::Store(error),
                }
            }
        }
    )*};
}
pub(crate) use from_store_error;

from_store_error!(AcquireError, AdminError);

fn free_after(at_most: Option<Duration>) -> String {
    match at_most {
        Some(at_most) => format!("in at most {at_most:?}"),
        None => "when this process ends".to_owned(),
    }
}
