//! Which link a connection has now, and what keeps the server from taking its client for gone when
//! it has none.

use crate::link::Link;
use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

pub(super) enum Status {
    Up(u64, Link),
    /// The link is silent, and a new one is being opened.
    Doubted(u64, Link),
    /// Nothing is sent. The last link stays open until there is another if all that is known
    /// against it is an answer that was late: as long as it is subscribed, the server does not pass
    /// its client over.
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

    /// Takes the link away, so that nothing is sent over it any more. Returns it if it is to close.
    /// The caller drops it once the status is unlocked, because the end of a link may need the
    /// status.
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
    /// anything. A link that is in doubt stays, because it is better than none.
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
    /// The server said that it is no good, or it is to the wrong server.
    Goes,
}

/// Why there is no link, and after how many failed attempts.
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
