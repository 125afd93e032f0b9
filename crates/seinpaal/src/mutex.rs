//! The mutex: a name with one holder at a time.

use seinpaal_proto::Kind;

use crate::{
    acquire::{Acquire, TryAcquire},
    permit::Permit,
    run::RunError,
    seinpaal::Seinpaal,
    semaphore::Semaphore,
};

/// One holder at a time, among all clients that use the same name on the same store, in the order
/// in which they ask.
///
/// A mutex is a [`Semaphore`] whose limit is 1 and stays 1. If the name is in use as a semaphore or
/// a readers-writer lock, or if an operator has set a limit for it, locking fails with
/// [`OtherKind`](crate::AcquireError::OtherKind). The lock is a [`Permit`](crate::Permit), which
/// ends when it is dropped or lost. A holder that is paused may find out late that its permit is
/// lost, so give its fence to the resource that the mutex protects. The mutex is not reentrant: a
/// task that locks it twice waits for itself.
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

    /// Waits in line for the mutex. Await the returned request, which takes a timeout, a ttl, a
    /// priority and labels.
    pub fn lock(&self) -> Acquire {
        self.0.acquire()
    }

    /// Waits for the mutex, runs `work` while it is held, and gives it back. See [`Acquire::run`],
    /// which also takes a timeout and other options.
    ///
    /// # Cancel safety
    /// As [`Acquire::run`].
    ///
    /// # Errors
    /// As [`Acquire::run`].
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

    /// Takes the mutex if no other client holds it or waits for it. Await the returned request.
    pub fn try_lock(&self) -> TryAcquire {
        self.0.try_acquire()
    }

    /// Returns the semaphore of this mutex, to inspect, pause, resume, evict or attach.
    pub fn as_semaphore(&self) -> &Semaphore {
        &self.0
    }
}
