//! Work that is done under a permit, from the request to the release.

use thiserror::Error;

use crate::{acquire::Acquire, error::AcquireError, permit::Permit, permit_state::Lost};

/// The reason why work under a permit was not done, or not finished.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// There was no permit, and the work was not begun.
    #[error(transparent)]
    Acquire(#[from] AcquireError),
    /// The permit was lost while the work went on. The work was dropped at its next `await`.
    #[error("the work was stopped, because its permit was lost: {0}")]
    Lost(#[from] Lost),
}

impl RunError {
    /// Returns what [`AcquireError::is_busy`] says. A permit that was lost is not busy.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Acquire(error) if error.is_busy())
    }

    /// Returns whether the store could not be asked, or was silent for so long that the permit was
    /// lost, or this connection is closed.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Acquire(error) => error.is_unavailable(),
            Self::Lost(lost) => matches!(lost, Lost::Silence | Lost::Closed),
        }
    }
}

impl Acquire {
    /// Waits for the permits, runs `work` while they are held, and gives them back.
    ///
    /// The permits go back in the background, so this does not wait for the store at its end. Use
    /// [`Permit::release`] to learn the result.
    ///
    /// # Cancel safety
    /// Dropping the future drops `work` and gives the permits back, or leaves the line.
    ///
    /// # Errors
    /// [`RunError::Acquire`] if there were no permits to be had. [`RunError::Lost`] if they were
    /// lost before `work` was done. An error that `work` itself returns is inside the `Ok`, like
    /// any other result.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// use std::time::Duration;
    ///
    /// # let seinpaal = seinpaal::Seinpaal::in_memory();
    /// let nightly = seinpaal.mutex("nightly");
    /// let request = nightly.lock().timeout(Duration::from_secs(10));
    /// let fence = request.run(async |permit| permit.fence()).await?;
    /// println!("done with fence {fence}");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn run<T>(self, work: impl AsyncFnOnce(&Permit) -> T) -> Result<T, RunError> {
        let permit = self.await?;
        Ok(permit.while_held(work(&permit)).await?)
    }
}
