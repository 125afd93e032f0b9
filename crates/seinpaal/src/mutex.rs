//! The mutex: a name that one at a time holds.

use seinpaal_proto::Kind;

use crate::{
    acquire::{Acquire, TryAcquire},
    permit::Permit,
    run::RunError,
    seinpaal::Seinpaal,
    semaphore::Semaphore,
};

/// One holder at a time, among all who use the same name on the same store, in the order of their
/// coming.
///
/// It is a [`Semaphore`] whose limit is 1 and stays 1; at a name that is in use as a semaphore or a
/// readers-writer lock, locking fails with [`OtherKind`](crate::AcquireError::OtherKind) or, where
/// a limit was set on purpose, says so. What is held is a [`Permit`](crate::Permit): it ends when
/// it is dropped or lost, and a holder that is paused may find out late, so give its fence to what
/// the mutex protects. It is not reentrant: who locks twice waits for itself.
///
/// ```
/// # futures_executor::block_on(async {
/// let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
/// let nightly = seinpaal.mutex("nightly");
/// let permit = nightly.lock().await?;
/// assert!(nightly.try_lock().await?.is_none());
/// permit.release().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Mutex(Semaphore);

impl Mutex {
    pub(crate) fn new(seinpaal: Seinpaal, name: &str) -> Self {
        Self(Semaphore::new(seinpaal, Kind::Mutex, name))
    }

    /// Waits in line for the mutex. Await what is returned; it takes a timeout, a ttl, a priority
    /// and labels.
    pub fn lock(&self) -> Acquire {
        self.0.acquire()
    }

    /// Waits for the mutex, runs `work` while it is held, and gives it back. See [`Acquire::run`],
    /// which takes a timeout and the like.
    ///
    /// # Cancel safety
    /// As [`Acquire::run`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let nightly = seinpaal.mutex("nightly");
    /// let done = nightly.run(async |_permit| "written").await?;
    /// assert_eq!(done, "written");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn run<T>(&self, work: impl AsyncFnOnce(&Permit) -> T) -> Result<T, RunError> {
        self.lock().run(work).await
    }

    /// Takes the mutex if nobody holds it and nobody waits for it. Await what is returned.
    pub fn try_lock(&self) -> TryAcquire {
        self.0.try_acquire()
    }

    /// Returns it as the semaphore that it is, to inspect, pause, resume, evict or attach.
    pub fn as_semaphore(&self) -> &Semaphore {
        &self.0
    }
}
