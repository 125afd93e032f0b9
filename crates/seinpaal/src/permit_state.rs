//! The state of a permit: held, in danger, or lost.

use seinpaal_proto::session::Loss;
use thiserror::Error;

use crate::error::Ended;

/// The state of a permit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PermitState {
    /// Held.
    Held,
    /// Still held, but the lease was not renewed and ends soon: stop in an orderly way.
    Danger,
    /// Not held any more.
    Lost(Lost),
}

/// The cause of a permit's loss.
#[derive(Clone, Copy, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum Lost {
    /// The store ended the permit.
    #[error("{0}")]
    Ended(Ended),
    /// The store does not know the permit any more, because it lost its memory.
    #[error("the store has forgotten it")]
    Forgotten,
    /// The store ended the delivery of an item.
    #[error("its lease ran out, or it was cancelled")]
    Withdrawn,
    /// The store did not answer before the lease could have ended.
    #[error("the store did not answer in time")]
    Silence,
    /// This program closed the connection.
    #[error("the connection was closed")]
    Closed,
}

impl PermitState {
    pub(crate) fn severity(&self) -> u8 {
        match self {
            Self::Held => 0,
            Self::Danger => 1,
            Self::Lost(_) => 2,
        }
    }
}

impl From<Loss> for Lost {
    fn from(loss: Loss) -> Self {
        match loss {
            Loss::Ended(cause) => Self::Ended(cause.into()),
            Loss::Forgotten => Self::Forgotten,
            Loss::Silence => Self::Silence,
        }
    }
}
