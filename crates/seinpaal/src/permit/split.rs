//! Splitting a permit into several, and merging permits.

use std::sync::Arc;

use seinpaal_proto::{Kind, MOST_READERS};

use super::{GrantPart, Permit};
use crate::error::ReleaseError;

impl Permit {
    /// Splits off `permits` of the permits, the lowest slots first, as a permit of their own.
    ///
    /// Returns `None` and changes nothing unless 0 < `permits` < [`permits`](Self::permits).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mut permit = seinpaal.semaphore("pool").limit(5).acquire().permits(5).await?;
    /// let two = permit.split(2).expect("two of five");
    /// assert_eq!((two.permits(), permit.permits()), (2, 3));
    /// permit.merge(two);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn split(&mut self, permits: u32) -> Option<Self> {
        if permits == 0 || permits >= self.permits() {
            return None;
        }
        let mut lowest = self.slots().split_lowest(permits);
        let mut parts = Vec::new();
        for part in &mut self.parts {
            let slots = part.slots.take(&lowest);
            // Two grants can have the same slot, if one was lost and the other came after it. The
            // slot is split off once.
            lowest.take(&slots);
            if !slots.is_empty() {
                parts.push(GrantPart { grant: Arc::clone(&part.grant), slots });
            }
        }
        self.parts.retain(|part| !part.slots.is_empty());
        Some(Self { handle: Arc::clone(&self.handle), parts })
    }

    /// Merges another permit into this one.
    ///
    /// # Panics
    /// If `other` has another name or connection.
    pub fn merge(&mut self, mut other: Self) {
        let same = Arc::ptr_eq(&self.handle, &other.handle) && self.name() == other.name();
        assert!(same, "permits of different names or connections cannot be merged");
        for theirs in std::mem::take(&mut other.parts) {
            let ours = self.parts.iter_mut().find(|part| Arc::ptr_eq(&part.grant, &theirs.grant));
            match ours {
                Some(ours) => ours.slots.extend(&theirs.slots),
                None => self.parts.push(theirs),
            }
        }
    }

    /// Turns a writer into a reader, without a moment in which another writer could get in. The
    /// readers that wait behind it are admitted, and the permit keeps its ticket and fence. See
    /// [`RwLock`](crate::RwLock).
    ///
    /// A reader cannot become a writer again: two readers that both waited for that would wait for
    /// ever.
    ///
    /// # Cancel safety
    /// Dropping the future, at any point, gives back everything, the reader's permit included.
    ///
    /// # Errors
    /// [`ReleaseError::NotAWriter`] if this is not the whole permit of a writer of an
    /// [`RwLock`](crate::RwLock), and the permit is released.
    /// [`ReleaseError::NotHeld`] if the permit had been lost. [`ReleaseError::Unknown`] if the
    /// store does not answer within 5 s, and everything is given back in the background.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let settings = seinpaal.rwlock("settings");
    /// let writer = settings.write().await?;
    /// let reader = writer.downgrade().await?;
    /// assert!(settings.try_read().await?.is_some());
    /// # drop(reader);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn downgrade(mut self) -> Result<Self, ReleaseError> {
        // A plain semaphore can have as many permits as a writer has.
        if self.latest().kind != Kind::RwLock || self.permits() != MOST_READERS {
            return Err(ReleaseError::NotAWriter);
        }
        // The reader is split off before the release, so that the lease never ends: the ledger sees
        // a ticket that gives back all but one of its permits.
        let reader = self.split(1).ok_or(ReleaseError::NotAWriter)?;
        self.release().await?;
        Ok(reader)
    }
}
