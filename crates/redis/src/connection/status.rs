//! The link of a connection as it is now. While there is none, the last link may stay open, so that
//! the server does not take its client for gone.

use crate::link::Link;
use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

pub(super) enum Status {
    Up(u64, Link),
    /// The link is silent, and a new one is being opened.
    Doubted(u64, Link),
    /// Nothing is sent. If the last link was only late, it stays open until there is another: as
    /// long as it is subscribed, the server counts its client as present.
    Down(LinkOutage, Option<Link>),
}

impl Status {
    pub(super) fn link(&self) -> Option<(u64, &Link)> {
        match self {
            Self::Up(id, link) | Self::Doubted(id, link) => Some((*id, link)),
            Self::Down(..) => None,
        }
    }

    pub(super) fn is_link(&self, id: u64) -> bool {
        self.link().is_some_and(|(current, _)| current == id)
    }

    /// Takes the link away, so that nothing is sent over it any more. Returns the link if it is to
    /// close. The caller drops it after the status is unlocked, because the end of a link may need
    /// the status.
    #[must_use]
    pub(super) fn go_down(&mut self, outage: LinkOutage, last: Last) -> Option<Link> {
        let old = std::mem::replace(self, Self::Down(outage, None));
        let link = match old {
            Self::Up(_, link) | Self::Doubted(_, link) => Some(link),
            Self::Down(_, link) => link,
        };
        match (last, self) {
            (Last::Stays, Self::Down(_, last)) => {
                *last = link;
                None
            }
            _ => link,
        }
    }

    /// Takes note that another try to connect has failed, and returns whether that changes
    /// anything. A link that is in doubt stays, because a doubtful link is better than none.
    pub(super) fn has_failed(&mut self, failed: LinkOutage) -> bool {
        let Self::Down(outage, _) = self else { return false };
        *outage = failed;
        true
    }
}

/// The fate of the last link.
#[derive(Clone, Copy)]
pub(super) enum Last {
    /// The link stays, since it may only be late.
    Stays,
    /// The link goes: the server said that it cannot be used, or the link leads to the wrong
    /// server.
    Goes,
}

/// The reason why there is no link, and the number of failed attempts.
#[derive(Clone)]
pub(super) struct LinkOutage {
    pub(super) attempts: u64,
    pub(super) kind: StoreErrorKind,
    pub(super) message: String,
}

impl LinkOutage {
    pub(super) fn lost(shown: &str) -> Self {
        let message = format!("{shown} closed the connection: connecting again");
        Self { attempts: 0, kind: StoreErrorKind::Unreachable, message }
    }

    pub(super) fn error(&self) -> StoreError {
        StoreError::new(self.kind, Certainty::NotExecuted, self.message.clone())
    }
}
