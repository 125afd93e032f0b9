//! Errors, one type for each operation. A busy name is an answer and not an error.

mod acquire;

use std::time::Duration;

use seinpaal_proto::{
    BadCount, BadName, BadSlotNames, Cause, Kind, MAX_ABOUT_BYTES, SlotNames, Ticket,
    queue::MAX_DELIVERIES,
};
use thiserror::Error;

pub use self::acquire::AcquireError;
use self::acquire::named;
use crate::store::{
    StoreError,
    url::{BadStoreUrl, RestartGuard},
};

/// The reason why a store could not be opened.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The text is not the URL of a store.
    #[error(transparent)]
    Url(#[from] BadStoreUrl),
    /// A setting is outside its range.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// The store did not open.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The reason why permits could not be given back.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum ReleaseError {
    /// The permits were lost before, so other clients may have held them meanwhile.
    #[error("the permits had been lost before they were given back")]
    NotHeld,
    /// The store did not answer in time. The connection repeats the release in the background until
    /// the lease must have ended anyway.
    #[error(
        "the store did not answer: the permits may have been given back or not, and are free {}",
        free_after(*.at_most)
    )]
    Unknown {
        /// The time after which the permits are free at the latest, counted from this answer.
        /// `None` means when this process ends.
        at_most: Option<Duration>,
    },
    /// The connection is [closed](crate::Seinpaal::close), which gives everything back.
    #[error("the connection is closed, which gives back everything that it held")]
    Closed,
    /// This process was forked from the one that has connected. The permits belong to that process,
    /// and only it can give them back.
    #[error("{}", of_parent(*.process))]
    Forked {
        /// The process that has connected.
        process: u32,
    },
    /// The permit was split or merged, so it is not the whole of one ticket.
    #[error(
        "a permit that was split or merged cannot be detached: only a whole ticket can change hands"
    )]
    NotWhole,
    /// The permit is not the whole permit of a writer, so there is nothing to downgrade.
    #[error("only a writer's permit, whole, can be downgraded: this one was released")]
    NotAWriter,
}

/// How a ticket ended.
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
    /// An operator or another client evicted it.
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
            Cause::Expired => Self::Expired,
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
    /// The restart guard of this connection is too short for this ttl.
    #[error(
        "a ttl of {ttl:?} outlasts the restart guard: set restart-guard={}s or longer, for all clients",
        RestartGuard::for_ttl(*.ttl).as_secs_f64()
    )]
    OutlastsGuard {
        /// The ttl.
        ttl: Duration,
        /// The longest ttl that the guard allows.
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
    /// No deliveries, or too many.
    #[error("an item has 1 to {MAX_DELIVERIES} deliveries, not {0}")]
    Deliveries(u32),
    /// A deduplication window that is too long.
    #[error("a key is remembered for a week at most, not for {0:?}")]
    Window(Duration),
    /// No items, or too many at once.
    #[error("1 to 64 items can be had at once, not {0}: ask again for more")]
    Items(u32),
    /// A worker with a concurrency of 0.
    #[error("a worker works on 1 item at least")]
    Concurrency,
    /// A replica count of 0, or a store without replicas.
    #[error(
        "replicated is 1 or more, and only for Redis stores with replicas, not {0} for this one"
    )]
    Replicated(u32),
}

/// The reason why a name could not be read or changed.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum AdminError {
    /// The text is not a name.
    #[error(transparent)]
    Name(#[from] BadName),
    /// The number is not a limit.
    #[error(transparent)]
    Count(#[from] BadCount),
    /// A ttl, a reason or names of slots that are not allowed.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// The name is a mutex or a readers-writer lock, whose limit is fixed.
    #[error("the limit of a {0} cannot be changed")]
    FixedLimit(Kind),
    /// Holders and waiters use the names of the slots. While there are any, names can only be added
    /// at the end.
    #[error(
        "holders and waiters use the names of the slots ({}): add names at the end, or wait until there are \
         none of them; `pause` admits no new ones until then",
        named(.names)
    )]
    SlotsInUse {
        /// The names.
        names: SlotNames,
    },
    /// There is no such ticket at this name.
    #[error("there is no such ticket here: {0}")]
    Unknown(Ticket),
    /// The ticket has ended.
    #[error("the ticket is over: {0}")]
    Ended(Ended),
    /// The connection is [closed](crate::Seinpaal::close). A request that was under way at that
    /// moment may have been executed.
    #[error("the connection is closed")]
    Closed,
    /// The store did not answer in time, or refused. A change may have been made if the error's
    /// [certainty](StoreError::certainty) is `Unknown`.
    #[error(transparent)]
    Store(StoreError),
}

/// Makes a closed connection a variant of its own in errors that also have one for trouble with the
/// store.
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

/// Says of an error whose store does not answer what [`AcquireError`] says of it.
macro_rules! availability {
    ($($error:ident { $($unavailable:pat => $is_unavailable:expr),* $(,)? } $(busy ($busy:pat))?;)*) => {$(
        impl $error {
            /// Returns whether other clients were in the way, so that the same request may succeed
            /// later. A service answers "429 Too Many Requests" then.
            #[must_use]
            pub fn is_busy(&self) -> bool {
                match self {
                    $($busy => true,)?
                    _ => false,
                }
            }

            /// Returns whether the store could not be asked or did not answer, or this connection is
            /// closed. A service answers "503 Service Unavailable" then.
            #[must_use]
            pub fn is_unavailable(&self) -> bool {
                match self {
                    $($unavailable => $is_unavailable,)*
                    _ => false,
                }
            }
        }
    )*};
}
pub(crate) use availability;

availability! {
    ConnectError { Self::Store(error) => error.is_passing() };
    ReleaseError { Self::Unknown { .. } | Self::Closed => true };
    AdminError { Self::Store(error) => error.is_passing(), Self::Closed => true }
        busy (Self::SlotsInUse { .. });
}

/// The error text for a request of a forked child.
pub(crate) fn of_parent(process: u32) -> String {
    format!(
        "this connection belongs to process {process}, which this one was forked from: connect again here"
    )
}

fn free_after(at_most: Option<Duration>) -> String {
    match at_most {
        Some(at_most) => format!("in at most {at_most:?}"),
        None => "when this process ends".to_owned(),
    }
}
