//! The readers-writer lock: a name with many readers or one writer.

use seinpaal_proto::{Kind, MOST_READERS};

use crate::{
    acquire::{Acquire, TryAcquire},
    seinpaal::Seinpaal,
    semaphore::Semaphore,
};

/// Many readers or one writer, among all clients that use the same name on the same store.
///
/// Readers and writers stand in one line. A writer waits for the readers before it, and readers
/// that come after it wait for the writer, so neither starves. The lock is a weighted [`Semaphore`]
/// of which a reader takes one permit and a writer all 1 000 000. If the name is in use as a
/// semaphore or a mutex, or if an operator has set a limit for it, requests fail with
/// [`OtherKind`](crate::AcquireError::OtherKind). A writer becomes a reader with
/// [`Permit::downgrade`](crate::Permit::downgrade).
///
/// A writer that is paused may find out late that its lease has ended and others read or write. So
/// give its fence to the resource that the lock protects.
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

    /// Waits in line to read. Await the returned request, which takes a timeout, a ttl, a priority
    /// and labels.
    pub fn read(&self) -> Acquire {
        self.0.acquire()
    }

    /// Waits in line to write, until every holder and waiter that came before has left. Await the
    /// returned request.
    pub fn write(&self) -> Acquire {
        self.0.acquire().permits(MOST_READERS)
    }

    /// Takes the lock for reading if no client writes or waits. Await the returned request.
    pub fn try_read(&self) -> TryAcquire {
        self.0.try_acquire()
    }

    /// Takes the lock for writing if no client reads or writes. Await the returned request.
    pub fn try_write(&self) -> TryAcquire {
        self.0.try_acquire().permits(MOST_READERS)
    }

    /// Returns the semaphore of this lock, to inspect, pause, resume, evict or attach.
    pub fn as_semaphore(&self) -> &Semaphore {
        &self.0
    }
}
