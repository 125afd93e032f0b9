//! The readers-writer lock: a name that many read or one writes.

use seinpaal_proto::{Kind, MOST_READERS};

use crate::{
    acquire::{Acquire, TryAcquire},
    seinpaal::Seinpaal,
    semaphore::Semaphore,
};

/// Many readers or one writer, among all who use the same name on the same store.
///
/// Readers and writers stand in one line: a writer waits for the readers before it, and readers
/// that come after it wait for the writer, so neither starves. It is a weighted [`Semaphore`] of
/// which a reader takes one permit and a writer all 1 000 000; at a name that is in use as a
/// semaphore or a mutex it fails with [`OtherKind`](crate::AcquireError::OtherKind). A writer
/// becomes a reader with [`Permit::downgrade`](crate::Permit::downgrade).
///
/// A writer that is paused may find out late that its lease is over and others read or write: give
/// its fence to what the lock protects.
///
/// ```
/// # futures_executor::block_on(async {
/// let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
/// let catalogue = seinpaal.rwlock("catalogue");
///
/// let (one, two) = (catalogue.read().await?, catalogue.read().await?);
/// assert!(catalogue.try_write().await?.is_none());
/// drop((one, two));
///
/// let writer = catalogue.write().await?;
/// assert!(catalogue.try_read().await?.is_none());
/// let reader = writer.downgrade().await?;
/// assert!(catalogue.try_read().await?.is_some());
/// # drop(reader);
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct RwLock(Semaphore);

impl RwLock {
    pub(crate) fn new(seinpaal: Seinpaal, name: &str) -> Self {
        Self(Semaphore::new(seinpaal, Kind::RwLock, name))
    }

    /// Waits in line to read. Await what is returned; it takes a timeout, a ttl, a priority and
    /// labels.
    pub fn read(&self) -> Acquire {
        self.0.acquire()
    }

    /// Waits in line to write: until everybody who came before has left.
    pub fn write(&self) -> Acquire {
        self.0.acquire().permits(MOST_READERS)
    }

    /// Takes the lock for reading if nobody writes and nobody waits for it. Await what is returned.
    pub fn try_read(&self) -> TryAcquire {
        self.0.try_acquire()
    }

    /// Takes the lock for writing if nobody reads or writes. Await what is returned.
    pub fn try_write(&self) -> TryAcquire {
        self.0.try_acquire().permits(MOST_READERS)
    }

    /// Returns it as the semaphore that it is, to inspect, pause, resume, evict or attach.
    pub fn as_semaphore(&self) -> &Semaphore {
        &self.0
    }
}
