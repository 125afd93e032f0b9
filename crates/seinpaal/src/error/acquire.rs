//! The reasons why permits were not acquired.

use seinpaal_proto::{BadCount, BadName, Kind, SlotNames};
use thiserror::Error;

use super::{BadSetting, Ended};
use crate::store::StoreError;

/// The reason why permits were not acquired.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum AcquireError {
    /// The text is not a name.
    #[error(transparent)]
    Name(#[from] BadName),
    /// The number is not a limit, a number of permits or a priority.
    #[error(transparent)]
    Count(#[from] BadCount),
    /// A ttl, a label or a wish for slots that is not allowed.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// Other clients hold the permits. This comes only from `try_acquire`, which turns it into
    /// `Ok(None)`.
    #[error("busy")]
    Busy,
    /// The timeout came, and the name is paused: nobody gets a permit before it is resumed.
    /// `try_acquire` turns this into `Ok(None)`.
    #[error("{}", paused(.reason))]
    Paused {
        /// The reason that the operator has given. It may be empty.
        reason: String,
    },
    /// The timeout came first, and others held the permits as far as the store was heard from. If
    /// the store did not answer in that time, the error is [`Store`](Self::Store) instead.
    #[error("timed out waiting")]
    TimedOut,
    /// The connection is [closed](crate::Seinpaal::close).
    #[error("the connection is closed")]
    Closed,
    /// A request for several names has this name twice.
    #[error("the request has this name twice: ask for more of its permits instead")]
    NamedTwice,
    /// As many requests wait already as `max_waiting` allows.
    #[error("as many requests wait already as max_waiting allows: try again later, or allow more")]
    TooManyWaiting,
    /// The name is in use as another kind of lock. Use another name for one of them.
    #[error("the name is a {stored} here, not a {stated}: use another name for one of them")]
    OtherKind {
        /// The stored kind.
        stored: Kind,
        /// The kind that the caller states.
        stated: Kind,
    },
    /// Another limit is stored. Holders or waiters stated it, or an operator set it and the caller
    /// asks for [exactly](crate::Semaphore::limit_exactly) another one. Adopt the stored limit, set
    /// yours, or correct one of them.
    #[error("{}", other_limit(*stored, *stated, *is_pinned))]
    OtherLimit {
        /// The stored limit.
        stored: u32,
        /// The caller's limit.
        stated: u32,
        /// Whether an operator set the stored limit. If not, holders or waiters stated it.
        is_pinned: bool,
    },
    /// The request is for more permits than exist, so it would wait for ever.
    #[error(
        "{permits} permits were asked for and the limit is {limit}: ask for fewer, or raise the limit"
    )]
    TooMany {
        /// The permits that were asked for.
        permits: u32,
        /// The limit.
        limit: u32,
    },
    /// The request wishes for a slot by a name that no slot has.
    #[error("{}", no_such_slot(.missing, .there))]
    NoSuchSlot {
        /// The names in the wish that no slot has.
        missing: SlotNames,
        /// The names that the slots have. It is empty if the slots of this name have no names.
        there: SlotNames,
    },
    /// The ledger or another client ended this request while it waited.
    #[error("the request is over: {0}")]
    Ended(Ended),
    /// There is no such ticket to attach to.
    #[error("this name has no such ticket: check the ticket, the name and the store")]
    Unknown,
    /// The store did not answer in time, or refused: its [kind](StoreError::kind) says which.
    /// Permits that it may have granted are given back in the background.
    #[error(transparent)]
    Store(StoreError),
}

fn paused(reason: &str) -> String {
    match reason {
        "" => "the name is paused".to_owned(),
        reason => format!("the name is paused: {reason}"),
    }
}

fn other_limit(stored: u32, stated: u32, is_pinned: bool) -> String {
    if is_pinned {
        return format!(
            "an operator has set the limit to {stored}, and this request asks for exactly {stated}: unset that \
             limit, or use `Semaphore::limit` instead of `limit_exactly`"
        );
    }
    format!(
        "other clients say that the limit is {stored}, and this request says {stated}: \
         `on_mismatch(OnMismatch::Adopt)` uses their limit, and `OnMismatch::Set` sets this one for all"
    )
}

fn no_such_slot(missing: &SlotNames, there: &SlotNames) -> String {
    let missing = named(missing);
    if there.is_empty() {
        return format!(
            "no slot is called {missing}, because the slots here have no names: give them names, or wish for none"
        );
    }
    format!("no slot is called {missing}: there are {}", named(there))
}

/// The first names, and the number of the others, so that an error stays one line.
pub(super) fn named(names: &SlotNames) -> String {
    const MOST: usize = 20;
    let first: Vec<&str> = names.iter().take(MOST).collect();
    match (names.count() as usize).saturating_sub(MOST) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

impl AcquireError {
    /// Returns whether other clients were in the way, so that the same request may be granted
    /// later. A service answers "429 Too Many Requests" then.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy | Self::Paused { .. } | Self::TimedOut | Self::TooManyWaiting)
    }

    /// Returns whether the store could not be asked, or this connection is closed, so that it is
    /// unknown whether other clients are in the way. A service answers "503 Service Unavailable"
    /// then.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Store(error) => error.is_passing(),
            Self::Closed => true,
            _ => false,
        }
    }

    /// Returns whether other clients hold the permits, which is no error for a request that does
    /// not wait.
    pub(crate) fn is_contention(&self) -> bool {
        matches!(self, Self::Busy | Self::Paused { .. })
    }
}
