//! Why a request was not served, or not to its end.

use std::{error::Error, fmt, time::Duration};

use seinpaal::{AcquireError, Lost};

/// Why a request was not served, or not to its end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The request got no permit, so nothing has been done.
    Acquire {
        /// The name of the permit.
        name: String,
        /// The reason.
        error: AcquireError,
        /// The time after which the client should try again.
        retry_after: Duration,
    },
    /// The permit was lost, and the work of the request was dropped half-way.
    Lost {
        /// The name of the permit.
        name: String,
        /// The way in which the permit was lost.
        lost: Lost,
        /// The time after which the client should try again.
        retry_after: Duration,
    },
}

impl Refusal {
    /// Returns whether others had all permits for as long as the request waited, or too many
    /// waited.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Acquire { error, .. } if error.is_busy())
    }

    /// Returns whether the store did not answer, or the connection to it is closed.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Acquire { error, .. } if error.is_unavailable())
    }

    /// Returns the name of the permit that the request did not get, or lost.
    #[must_use]
    pub fn name(&self) -> &str {
        let (Self::Acquire { name, .. } | Self::Lost { name, .. }) = self;
        name
    }

    /// Returns the time after which the client should try again, as
    /// [`LimitLayer::retry_after`](crate::LimitLayer::retry_after) sets it.
    #[must_use]
    pub fn retry_after(&self) -> Duration {
        let (Self::Acquire { retry_after, .. } | Self::Lost { retry_after, .. }) = self;
        *retry_after
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Acquire { name, error, .. } => write!(f, "no permit of {name:?}: {error}"),
            Self::Lost { name, lost, .. } => {
                write!(f, "stopped, because the permit of {name:?} was lost: {lost}")
            }
        }
    }
}

impl Error for Refusal {}
