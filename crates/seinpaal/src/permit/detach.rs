//! A permit that outlives its guard, for another process to attach to.

use std::time::Duration;

use seinpaal_proto::{Fence, Slots, Ticket};
use tokio::sync::oneshot;

use super::{GrantPart, Permit};
use crate::{driver::DriverCommand, error::ReleaseError};

/// A permit that was detached.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Detached {
    /// The ticket. Any client that knows it can renew, release or attach.
    pub ticket: Ticket,
    /// The number of its grant.
    pub fence: Fence,
    /// The slots.
    pub slots: Slots,
    /// The limit when it was granted.
    pub limit: u32,
    /// How long the permit lasts if no client renews it or attaches to it. `None` means for ever.
    pub valid_for: Option<Duration>,
}

impl Permit {
    /// Leaves the permits held and gives up the guard. The lease lasts for its ttl once more, even
    /// if this process ends, and belongs to any client that knows the ticket. See
    /// [`Semaphore::attach`](crate::Semaphore::attach). If no client will attach soon, announce
    /// that with the request ([`to_detach`](crate::Acquire::to_detach)). Otherwise, once half of
    /// the ttl has passed, the holder is shown as one that may be dead.
    ///
    /// # Cancel safety
    /// Before the first poll, dropping the future releases the permit. After it the ticket may be
    /// detached, whether or not the future is polled again: then only a client that knows the
    /// [ticket](Self::ticket) can give the permits back before the ttl is over.
    ///
    /// # Errors
    /// [`ReleaseError::NotWhole`] for a permit that was split or merged, and the permit is
    /// released. [`ReleaseError::NotHeld`] if it had been lost. [`ReleaseError::Unknown`] if the
    /// store does not answer within 5 s, and the permit is released as soon as the store can be
    /// reached.
    ///
    /// # Examples
    /// See [`Semaphore::attach`](crate::Semaphore::attach).
    pub async fn detach(mut self) -> Result<Detached, ReleaseError> {
        if self.parts.len() != 1 || self.parts[0].slots != self.parts[0].grant.slots {
            return Err(ReleaseError::NotWhole);
        }
        // Without a part, the guard releases nothing when it is dropped below.
        let GrantPart { grant, slots } = self.parts.remove(0);
        let (reply, answer) = oneshot::channel();
        let (ticket, fence) = (grant.ticket, grant.fence);
        self.handle.send(DriverCommand::Detach { ticket, fence, reply });
        let gone = || Err(self.handle.gone_release());
        let valid_for = answer.await.unwrap_or_else(|_| gone())?.map(Duration::from_micros);
        Ok(Detached { ticket, fence: grant.fence, slots, limit: grant.limit, valid_for })
    }
}
