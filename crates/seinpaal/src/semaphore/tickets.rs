//! Requests about a ticket, by any client that knows it.

use std::time::Duration;

use seinpaal_proto::{LeaseId, Renew, Reply, Request, Ticket, TicketReply, Whom, time};

use super::{Semaphore, misfit};
use crate::error::AdminError;

impl Semaphore {
    /// Ends a lease or a place in line, even of another client. The ticket's client hears so at
    /// once, or by its next renewal at the latest.
    ///
    /// # Cancel safety
    /// As [`set_limit`](Self::set_limit).
    ///
    /// # Errors
    /// [`AdminError::Unknown`] if the ticket neither holds nor waits here. Otherwise as
    /// [`set_limit`](Self::set_limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let gpus = seinpaal.semaphore("gpus");
    /// let permit = gpus.acquire().await?;
    /// gpus.evict(permit.ticket()).await?;
    /// println!("lost: {}", permit.lost().await);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn evict(&self, ticket: Ticket) -> Result<(), AdminError> {
        match self.ask(Request::Evict { ticket }, false).await? {
            Reply::Evicted { .. } => Ok(()),
            Reply::Unknown { .. } => Err(AdminError::Unknown(ticket)),
            _ => Err(misfit()),
        }
    }

    /// Extends the lease of a detached ticket to `ttl` (100 ms to 24 h) from now. With `None` it
    /// lasts for the ttl of the acquire from now, and never ends sooner than it would have. Returns
    /// how long the lease lasts: `None` means for as long as the process of its holder lives.
    ///
    /// # Cancel safety
    /// As [`set_limit`](Self::set_limit).
    ///
    /// # Errors
    /// [`AdminError::Unknown`] or [`AdminError::Ended`] if the ticket is not held. Otherwise as
    /// [`set_limit`](Self::set_limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// use std::time::Duration;
    ///
    /// let gpus = seinpaal.semaphore("gpus");
    /// let ticket = gpus.acquire().await?.detach().await?.ticket;
    /// gpus.renew_ticket(ticket, Duration::from_secs(60)).await?;
    /// gpus.release_ticket(ticket).await?;
    /// assert!(gpus.try_acquire().await?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn renew_ticket(
        &self,
        ticket: Ticket,
        ttl: impl Into<Option<Duration>>,
    ) -> Result<Option<Duration>, AdminError> {
        let ttl = ttl.into().map_or(Ok(0), |ttl| self.options.seinpaal.checked_ttl(ttl))?;
        let whom = Whom::Tickets(vec![ticket]);
        let renew = Renew { lease: LeaseId::from(ticket), ttl, margin: time::margin(ttl), whom };
        let reply = self.ask(Request::Renew(renew), true).await?;
        let Reply::Tickets { valid_for, tickets } = reply else { return Err(misfit()) };
        match tickets.first() {
            Some(TicketReply::Held { .. }) => Ok(valid_for.map(Duration::from_micros)),
            Some(TicketReply::Ended(cause)) => Err(AdminError::Ended((*cause).into())),
            _ => Err(AdminError::Unknown(ticket)),
        }
    }

    /// Gives back a ticket's permits, even if another client holds them. That holder loses them and
    /// hears so.
    ///
    /// # Cancel safety
    /// As [`set_limit`](Self::set_limit).
    ///
    /// # Errors
    /// [`AdminError::Unknown`] or [`AdminError::Ended`] if the ticket is not held, and then nothing
    /// changes. Otherwise as [`set_limit`](Self::set_limit).
    ///
    /// # Examples
    /// See [`renew_ticket`](Self::renew_ticket).
    pub async fn release_ticket(&self, ticket: Ticket) -> Result<(), AdminError> {
        match self.ask(Request::Release { ticket, slots: None }, true).await? {
            Reply::Released { .. } => Ok(()),
            Reply::Ended { cause, .. } => Err(AdminError::Ended(cause.into())),
            Reply::Unknown { .. } => Err(AdminError::Unknown(ticket)),
            _ => Err(misfit()),
        }
    }
}
