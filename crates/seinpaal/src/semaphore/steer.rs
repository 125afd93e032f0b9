//! The settings of a name by an operator: its limit, the names of its slots, a pause.

use seinpaal_proto::{Configure, Limit, Reply, Request, SlotNames};

use super::{Semaphore, misfit};
use crate::error::{AdminError, BadSetting};

/// The longest reason for a pause, in bytes.
const MAX_REASON_BYTES: usize = 512;

impl Semaphore {
    /// Sets the limit, 0 to 1 000 000 000, as an operator: it is in force whatever callers state,
    /// and stays until it is [unset](Self::unset_limit), even if nobody uses the name. If more
    /// permits are held than the new limit allows, no holder is ended, and nobody new gets in until
    /// enough of them have gone. 0 admits nobody.
    ///
    /// # Cancel safety
    /// Dropping the future does not take the request back: what it asks for may be done or not.
    ///
    /// # Errors
    /// [`AdminError::FixedLimit`] for a mutex or a readers-writer lock; [`AdminError`] for bad
    /// input, or for a store that does not answer within 5 s (then the change may have been made).
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
    /// space. A permit then [says](crate::Permit::slot_name) what its slot is called, and a request
    /// can [wish](crate::Acquire::slot) for one. While anybody holds or waits, names can only be
    /// added at the end. Setting or unsetting the limit removes the names.
    ///
    /// # Cancel safety
    /// As [`set_limit`](Self::set_limit).
    ///
    /// # Errors
    /// [`AdminError::SlotsInUse`] while somebody goes by other names; [`AdminError::Store`] on a
    /// quorum, which keeps no names; as [`set_limit`](Self::set_limit).
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
    /// have stated is in force, or else 1, and waiters that fit are let in.
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

    /// Admits again, and serves those who wait.
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
