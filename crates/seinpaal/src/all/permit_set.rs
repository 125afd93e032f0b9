//! Permits of several names, held together.

use std::{future::Future, pin::pin, time::Duration};

use futures_util::future::{Either, select, select_all};

use crate::{
    error::ReleaseError,
    permit::Permit,
    permit_state::{Lost, PermitState},
};

/// Permits of several names that are held together. If one of them is lost, all of them count as
/// lost.
///
/// Dropping the set gives all of them back. See [`Permit`] for what happens when the holder dies or
/// the store is unreachable.
#[derive(Debug)]
#[must_use = "permits that are dropped go back at once"]
pub struct PermitSet {
    permits: Vec<Permit>,
}

impl PermitSet {
    pub(super) fn new(mut granted: Vec<(usize, Permit)>) -> Self {
        granted.sort_by_key(|(place, _)| *place);
        Self { permits: granted.into_iter().map(|(_, permit)| permit).collect() }
    }

    /// Returns the permits in the order in which they were asked for.
    pub fn permits(&self) -> &[Permit] {
        &self.permits
    }

    /// Returns the permits, each on its own from now on.
    #[must_use]
    pub fn into_permits(self) -> Vec<Permit> {
        self.permits
    }

    /// Returns whether all permits are held at this moment.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.permits.iter().all(Permit::is_held)
    }

    /// Returns how long all permits are certain to be held if the store is not heard from again.
    /// `None` means for as long as this process lives.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.permits.iter().filter_map(Permit::remaining).min()
    }

    /// Returns the state of the permit in the worst state.
    #[must_use]
    pub fn state(&self) -> PermitState {
        self.worst().map_or(PermitState::Held, Permit::state)
    }

    /// Returns the permit in the worst state. If several permits have that state, returns the
    /// first.
    #[must_use]
    pub fn worst(&self) -> Option<&Permit> {
        // Of several maxima `max_by_key` takes the last, which is the first in reversed order.
        self.permits.iter().rev().max_by_key(|permit| permit.state().severity())
    }

    /// Waits until [`state`](Self::state) or [`remaining`](Self::remaining) changes, which also
    /// happens at each renewal.
    ///
    /// # Cancel safety
    /// Yes. A change between two calls may be missed, but the state is not.
    ///
    /// # Examples
    /// See [`Permit::lost`].
    pub async fn changed(&self) {
        let mut watches: Vec<_> = self.permits.iter().flat_map(Permit::watches).collect();
        // A set of no permits never changes, and `select_all` panics on an empty list.
        if watches.is_empty() {
            return std::future::pending().await;
        }
        drop(select_all(watches.iter_mut().map(|watch| Box::pin(watch.changed()))).await);
    }

    /// Waits until one permit is lost, and returns the cause.
    ///
    /// # Cancel safety
    /// Yes.
    ///
    /// # Examples
    /// See [`Permit::lost`].
    pub async fn lost(&self) -> Lost {
        if self.permits.is_empty() {
            return std::future::pending().await;
        }
        select_all(self.permits.iter().map(|permit| Box::pin(permit.lost()))).await.0
    }

    /// Runs `work` for as long as all permits are held. Drops `work` when one is lost.
    ///
    /// # Cancel safety
    /// Dropping this future drops `work` where it waits. The permits stay held.
    ///
    /// # Errors
    /// [`Lost`] if a permit was lost before `work` was done.
    ///
    /// # Examples
    /// See [`Permit::while_held`].
    pub async fn while_held<T>(&self, work: impl Future<Output = T>) -> Result<T, Lost> {
        match select(pin!(self.lost()), pin!(work)).await {
            Either::Left((lost, _)) => Err(lost),
            Either::Right((done, _)) => Ok(done),
        }
    }

    /// Gives all permits back, and waits until the store has confirmed that.
    ///
    /// # Cancel safety
    /// Once this has been polled all permits go back, whether or not it is polled again.
    ///
    /// # Errors
    /// The first error of any permit, as of [`Permit::release`]: [`ReleaseError::NotHeld`] if one
    /// had been lost, [`ReleaseError::Unknown`] if the store did not answer within 5 s. The other
    /// permits are given back all the same.
    ///
    /// # Examples
    /// See [`Seinpaal::acquire_all`](crate::Seinpaal::acquire_all).
    pub async fn release(self) -> Result<(), ReleaseError> {
        let releases = self.permits.into_iter().map(Permit::release);
        futures_util::future::join_all(releases).await.into_iter().collect()
    }
}

impl From<Permit> for PermitSet {
    fn from(permit: Permit) -> Self {
        Self { permits: vec![permit] }
    }
}
