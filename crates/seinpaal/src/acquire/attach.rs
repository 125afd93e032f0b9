//! A request for a ticket that another client holds or has detached.

use std::time::Duration;

use seinpaal_proto::Ticket;

use super::{
    AcquireOptions, PROMPT,
    pending::{Begun, PendingAcquire, begin, begun},
    prompt,
};
use crate::{
    driver::WaitCallbacks,
    error::AcquireError,
    permit::Permit,
    request::{Described, request},
};

/// A request to become the holder of a ticket that another client holds or has detached.
///
/// # Cancel safety
/// Dropping the future gives the permits back if the ticket has changed hands by then. Otherwise
/// the ticket stays with its holder.
///
/// # Errors
/// [`AcquireError::Unknown`] if there is no such ticket, [`AcquireError::Ended`] if the ticket has
/// ended, [`AcquireError::Store`] if the store does not answer within the [timeout](Self::timeout).
/// In that case it is unknown whether the ticket changed hands. If it did, its permits are given
/// back.
#[must_use = "a request does nothing before it is awaited"]
pub struct Attach(Described<Attached, Result<Permit, AcquireError>>);

#[derive(Debug)]
struct Attached {
    options: AcquireOptions,
    timeout: Duration,
    ticket: Ticket,
}

impl Attach {
    pub(crate) fn new(options: AcquireOptions, ticket: Ticket) -> Self {
        Self(Described::new(Attached { options, timeout: PROMPT, ticket }))
    }

    prompt!();

    /// Sets how long the lease lasts without renewal from now on, 100 ms to 24 h. Default: the
    /// connection's ttl.
    pub fn ttl(self, ttl: Duration) -> Self {
        Self(self.0.with(|it| it.options.ttl = Some(ttl)))
    }
}

impl Attached {
    fn run(self) -> Begun {
        begun(self.begin())
    }

    fn begin(self) -> Result<PendingAcquire, AcquireError> {
        let handle = &self.options.seinpaal.handle;
        let mut wanted = self.options.wanted()?;
        wanted.attach = Some(self.ticket);
        wanted.deadline = Some(handle.clock().after(self.timeout));
        Ok(begin(handle, wanted, WaitCallbacks::default()))
    }
}

request!(Attach => Result<Permit, AcquireError>);
