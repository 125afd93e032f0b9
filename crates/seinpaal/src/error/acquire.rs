//! Why permits were not acquired.

use seinpaal_proto::{BadCount, BadName, Kind, SlotNames};
use thiserror::Error;

use super::{BadSetting, Ended};
use crate::store::StoreError;

/// Why permits were not acquired.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum AcquireError {
    /// Not a name.
    #[error(transparent)]
    Name(#[from] BadName),
    /// Not a limit, a number of permits or a priority.
    #[error(transparent)]
    Count(#[from] BadCount),
    /// A ttl, a label or a wish for slots that is not allowed.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// The permits are held by others. Only from `try_acquire`, and there it is `Ok(None)`.
    #[error("busy")]
    Busy,
    /// The name is paused. Only from `try_acquire`, and there it is `Ok(None)`.
    #[error("paused")]
    Paused,
    /// The timeout came first, and others held the permits as far as the store was heard from. A
    /// store that did not answer in that time is a [`Store`](Self::Store) error instead.
    #[error("timed out waiting")]
    TimedOut,
    /// The connection is [closed](crate::Seinpaal::close).
    #[error("the connection is closed")]
    Closed,
    /// One request for several names names this one twice.
    #[error("the request has this name twice: ask for more of its permits instead")]
    NamedTwice,
    /// As many wait already as `max_waiting` allows.
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
    /// wants [exactly](crate::Semaphore::limit_exactly) its own. Adopt the stored limit, set yours,
    /// or correct one of them.
    #[error("{}", other_limit(*stored, *stated, *is_pinned))]
    OtherLimit {
        /// The stored limit.
        stored: u32,
        /// The caller's.
        stated: u32,
        /// Whether an operator set the stored limit. If not, holders or waiters stated it.
        is_pinned: bool,
    },
    /// The request is for more permits than exist, so it would wait for ever.
    #[error(
        "{permits} permits were asked for and the limit is {limit}: ask for fewer, or raise the limit"
    )]
    TooMany {
        /// Asked for.
        permits: u32,
        /// The limit.
        limit: u32,
    },
    /// The request wishes for a slot by a name that no slot has.
    #[error("{}", no_such_slot(.missing, .there))]
    NoSuchSlot {
        /// The names in the wish that no slot has.
        missing: SlotNames,
        /// The names there are; none: the slots of this name have no names.
        there: SlotNames,
    },
    /// Somebody ended this request while it waited.
    #[error("the request is over: {0}")]
    Ended(Ended),
    /// There is no such ticket to attach to.
    #[error("this name has no such ticket: check the ticket, the name and the store")]
    Unknown,
    /// The store did not answer in time, or refuses: its [kind](StoreError::kind) says which. What
    /// it may have granted is given back in the background.
    #[error(transparent)]
    Store(StoreError),
}

fn other_limit(stored: u32, stated: u32, is_pinned: bool) -> String {
    if is_pinned {
        return format!(
            "an operator has set the limit to {stored}, and this request asks for exactly {stated}: unset that \
             limit, or let this request adopt it"
        );
    }
    format!(
        "other clients say that the limit is {stored}, and this request says {stated}: adopt their limit, set this one \
         for all, or wait until they have left"
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

/// The first names, and how many more there are, so that an error stays one line.
pub(super) fn named(names: &SlotNames) -> String {
    const MOST: usize = 20;
    let first: Vec<&str> = names.iter().take(MOST).collect();
    match (names.count() as usize).saturating_sub(MOST) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

impl AcquireError {
    /// Returns whether others were in the way, so that the same request may be granted later: a
    /// service answers "429 Too Many Requests".
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy | Self::Paused | Self::TimedOut | Self::TooManyWaiting)
    }

    /// Returns whether the store could not be asked, or this connection is closed, so that nobody
    /// knows whether others are in the way: a service answers "503 Service Unavailable".
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Store(error) => error.is_passing(),
            Self::Closed => true,
            _ => false,
        }
    }

    /// Returns whether others hold the permits, which is no error for a request that does not wait.
    pub(crate) fn is_contention(&self) -> bool {
        matches!(self, Self::Busy | Self::Paused)
    }
}
