//! The state of a permit: held, in danger or lost.

use std::{future::Future, time::Duration};

use futures_util::future::{Either, select};
use tokio::sync::watch;

use super::Permit;
use crate::permit_state::{Lost, PermitState};

impl Permit {
    /// Returns whether the permits are held at this moment. The clock decides, and not the last
    /// note of a task, so the answer is never late.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.parts.iter().all(|part| part.grant.is_held())
    }

    /// Returns how long the permits are certain to be held if the store is not heard from again.
    /// This is zero if they are lost. `None` means for as long as this process lives.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.parts.iter().filter_map(|part| part.grant.remaining()).min()
    }

    /// Returns the state of the permits.
    #[must_use]
    pub fn state(&self) -> PermitState {
        if !self.is_held() && !matches!(self.noted(), PermitState::Lost(_)) {
            return PermitState::Lost(Lost::Silence);
        }
        self.noted()
    }

    /// Waits until [`state`](Self::state) or [`remaining`](Self::remaining) changes, which also
    /// happens at each renewal.
    ///
    /// # Cancel safety
    /// Yes. A change between two calls may be missed, but [`state`](Self::state) is never missed.
    ///
    /// # Examples
    /// See [`lost`](Self::lost), which waits in the same way.
    pub async fn changed(&self) {
        let mut watches = self.watches();
        let changes = watches.iter_mut().map(|watch| Box::pin(watch.changed()));
        drop(futures_util::future::select_all(changes).await);
    }

    /// Waits until the permits are in danger or lost.
    ///
    /// # Cancel safety
    /// Yes.
    ///
    /// # Examples
    /// See [`lost`](Self::lost), which waits in the same way.
    pub async fn danger(&self) {
        self.until(|state| state != PermitState::Held).await;
    }

    /// Waits until the permits are lost, and returns the cause. A program that was stopped may get
    /// this answer late, but [`is_held`](Self::is_held) is never late.
    ///
    /// # Cancel safety
    /// Yes.
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
    pub async fn lost(&self) -> Lost {
        match self.until(|state| matches!(state, PermitState::Lost(_))).await {
            PermitState::Lost(lost) => lost,
            _ => Lost::Silence,
        }
    }

    /// Runs `work` for as long as the permits are held. Drops `work` when they are lost.
    ///
    /// # Cancel safety
    /// Dropping this future drops `work` where it waits. The permits stay held.
    ///
    /// # Errors
    /// [`Lost`] if the permits were lost before `work` was done.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let permit = seinpaal.semaphore("report").acquire().await?;
    /// match permit.while_held(async { "written" }).await {
    ///     Ok(done) => println!("{done}"),
    ///     Err(lost) => println!("stopped: {lost}"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn while_held<T>(&self, work: impl Future<Output = T>) -> Result<T, Lost> {
        let (work, lost) = (std::pin::pin!(work), std::pin::pin!(self.lost()));
        match select(lost, work).await {
            Either::Left((lost, _)) => Err(lost),
            Either::Right((done, _)) => Ok(done),
        }
    }

    pub(crate) fn watches(&self) -> Vec<watch::Receiver<PermitState>> {
        self.parts.iter().map(|part| part.grant.watch()).collect()
    }

    /// The worst state that the driver has noted of any part.
    fn noted(&self) -> PermitState {
        let states = self.parts.iter().map(|part| part.grant.noted());
        states.max_by_key(PermitState::severity).unwrap_or(PermitState::Held)
    }

    async fn until(&self, wanted: impl Fn(PermitState) -> bool) -> PermitState {
        loop {
            // The watches are made before the state is read, so that no change between the two is
            // missed.
            let mut watches = self.watches();
            let state = self.state();
            if wanted(state) {
                return state;
            }
            let changes = watches.iter_mut().map(|watch| Box::pin(watch.changed()));
            drop(futures_util::future::select_all(changes).await);
        }
    }
}
