//! The settings of a name by an operator: its limit, the names of its slots, a pause.

use seinpaal_proto::{Configure, Limit, Reply, Request, SlotNames};

use super::{Semaphore, misfit};
use crate::error::{AdminError, BadSetting};

/// The longest reason for a pause, in bytes.
const MAX_REASON_BYTES: usize = 512;

impl Semaphore {
    /// Sets the limit, 0 to 1 000 000 000, as an operator. It is in force whatever callers state,
    /// and stays until it is [unset](Self::unset_limit), even if no client uses the name. If more
    /// permits are held than the new limit allows, no holder is ended, and no waiter is admitted
    /// until enough of them have gone. A limit of 0 admits nobody.
    ///
    /// # Cancel safety
    /// Dropping the future does not take the request back: it may or may not be executed.
    ///
    /// # Errors
    /// [`AdminError::FixedLimit`] for a mutex or a readers-writer lock. Otherwise [`AdminError`]
    /// for bad input, or for a store that does not answer within 5 s. In the last case the change
    /// may have been made.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let gpus = seinpaal.semaphore("gpus");
    /// gpus.set_limit(2).await?;
    /// assert_eq!(gpus.stored_limit().await?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn set_limit(&self, limit: u32) -> Result<(), AdminError> {
        self.configure(Configure::Limit(Limit::new(limit)?)).await
    }

    /// Gives the slots names, from slot 0 up, and sets the limit to the number of names as
    /// [`set_limit`](Self::set_limit) does. There are 1 to 1000 names, all different, of 1 to 64
    /// bytes. They have no commas and no control characters, and neither begin nor end with a
    /// space. A permit then [has](crate::Permit::slot_name) the name of its slot, and a request can
    /// [wish](crate::Acquire::slot) for a slot by its name. While there are holders or waiters,
    /// names can only be added at the end. Setting or unsetting the limit removes the names.
    ///
    /// # Cancel safety
    /// As [`set_limit`](Self::set_limit).
    ///
    /// # Errors
    /// [`AdminError::SlotsInUse`] while holders or waiters use other names. [`AdminError::Store`]
    /// on a quorum, which keeps no names. Otherwise as [`set_limit`](Self::set_limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let boards = seinpaal.semaphore("boards");
    /// boards.name_slots(["GPU-0", "GPU-1", "board-b"]).await?;
    /// assert_eq!(boards.stored_limit().await?, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn name_slots<N: Into<String>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<(), AdminError> {
        let names = SlotNames::new(names).map_err(BadSetting::from)?;
        self.configure(Configure::Slots(names)).await
    }

    /// Removes a limit that was [set](Self::set_limit). At once the limit that holders and waiters
    /// have stated is in force, or else 1, and waiters that fit are admitted.
    ///
    /// # Cancel safety
    /// As [`set_limit`](Self::set_limit).
    ///
    /// # Errors
    /// As [`set_limit`](Self::set_limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let gpus = seinpaal.semaphore("gpus");
    /// gpus.set_limit(2).await?;
    /// gpus.unset_limit().await?;
    /// assert_eq!(gpus.stored_limit().await?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn unset_limit(&self) -> Result<(), AdminError> {
        self.configure(Configure::Unpin).await
    }

    /// Admits nobody until [`resume`](Self::resume). Holders keep their permits. People who look at
    /// the name see `reason`: at most 512 bytes, without control characters.
    ///
    /// # Cancel safety
    /// As [`set_limit`](Self::set_limit).
    ///
    /// # Errors
    /// As [`set_limit`](Self::set_limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let gpus = seinpaal.semaphore("gpus");
    /// gpus.pause("driver update").await?;
    /// assert!(gpus.try_acquire().await?.is_none());
    /// gpus.resume().await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn pause(&self, reason: &str) -> Result<(), AdminError> {
        if reason.len() > MAX_REASON_BYTES || reason.chars().any(char::is_control) {
            return Err(BadSetting::Reason.into());
        }
        self.configure(Configure::Pause(reason.to_owned())).await
    }

    /// Admits holders again after a [`pause`](Self::pause), and serves the waiters.
    ///
    /// # Cancel safety
    /// As [`set_limit`](Self::set_limit).
    ///
    /// # Errors
    /// As [`set_limit`](Self::set_limit).
    ///
    /// # Examples
    /// See [`pause`](Self::pause).
    pub async fn resume(&self) -> Result<(), AdminError> {
        self.configure(Configure::Resume).await
    }

    async fn configure(&self, change: Configure) -> Result<(), AdminError> {
        match self.ask(Request::Configure(change), false).await? {
            Reply::Configured { .. } => Ok(()),
            Reply::OtherKind { stored, .. } => Err(AdminError::FixedLimit(stored)),
            Reply::SlotsInUse { names } => Err(AdminError::SlotsInUse { names }),
            _ => Err(misfit()),
        }
    }
}
