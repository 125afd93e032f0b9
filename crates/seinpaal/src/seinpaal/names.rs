//! Semaphores, mutexes, locks and queues of a connection by name, and lists of them.

use seinpaal_proto::Kind;

use super::Seinpaal;
use crate::{
    acquire::{Acquire, TogetherPart, TryAcquire},
    all::{AcquireAll, TryAcquireAll},
    inspect::Snapshot,
    mutex::Mutex,
    queue::{Queue, QueueSnapshot},
    rwlock::RwLock,
    semaphore::Semaphore,
    store::StoreError,
};

impl Seinpaal {
    /// Returns the semaphore with this name. The store makes it when it is first acquired. If the
    /// name is bad, the first request that is awaited reports that.
    pub fn semaphore(&self, name: &str) -> Semaphore {
        Semaphore::new(self.clone(), Kind::Semaphore, name)
    }

    /// Returns the mutex with this name: one holder at a time.
    pub fn mutex(&self, name: &str) -> Mutex {
        Mutex::new(self.clone(), name)
    }

    /// Returns the readers-writer lock with this name: many readers or one writer.
    pub fn rwlock(&self, name: &str) -> RwLock {
        RwLock::new(self.clone(), name)
    }

    /// Returns the queue with this name. The store makes it when it is first used or configured.
    /// Queues have names of their own: a semaphore and a queue of the same name are independent.
    pub fn queue(&self, name: &str) -> Queue {
        Queue::new(self.clone(), name)
    }

    /// Lists the queues whose names start with `prefix` and that have items, workers or settings,
    /// in order of name. The snapshots list neither items in work nor groups, but their totals are
    /// complete.
    ///
    /// # Cancel safety
    /// Yes. The call only reads.
    ///
    /// # Errors
    /// [`StoreError`] if the store does not answer, or keeps no queues.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// seinpaal.queue("mails").push("to: ann").await?;
    /// for queue in seinpaal.queues("mail").await? {
    ///     println!("{}: {} ready", queue.name, queue.ready);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn queues(&self, prefix: &str) -> Result<Vec<QueueSnapshot>, StoreError> {
        let prefix = prefix.to_owned();
        let listing = self
            .handle
            .with_store(move |store| Box::pin(async move { store.list_queues(&prefix).await }));
        let listed = listing.await??;
        Ok(listed.into_iter().map(|(name, seen)| QueueSnapshot::new(name, seen)).collect())
    }

    /// Asks for permits of several names, all or none. Await the returned request. Callers never
    /// wait for each other for ever, in whatever order they give the names; see [`AcquireAll`].
    ///
    /// # Panics
    /// If a request was made by another connection.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let (gpus, disk) = (seinpaal.semaphore("gpus").limit(4), seinpaal.mutex("disk"));
    /// let both = seinpaal.acquire_all([gpus.acquire().permits(2), disk.lock()]).await?;
    /// assert_eq!(both.permits()[0].slots().to_string(), "0-1");
    /// both.release().await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn acquire_all(&self, requests: impl IntoIterator<Item = Acquire>) -> AcquireAll {
        AcquireAll::new(self.clone(), self.all_ours(requests))
    }

    /// Asks for permits of several names if all can be had now. Await the returned request.
    ///
    /// # Panics
    /// If a request was made by another connection.
    pub fn try_acquire_all(&self, requests: impl IntoIterator<Item = TryAcquire>) -> TryAcquireAll {
        TryAcquireAll::new(self.clone(), self.all_ours(requests))
    }

    fn all_ours<R: TogetherPart>(&self, requests: impl IntoIterator<Item = R>) -> Vec<R> {
        let requests: Vec<_> = requests.into_iter().collect();
        let are_ours = requests.iter().all(|request| request.is_of(self));
        assert!(are_ours, "requests of different connections cannot be made as one");
        requests
    }

    /// Lists the names that start with `prefix` and are in use or configured, in order of name. The
    /// snapshots list no holders and at most 64 waiters, but their totals are complete.
    ///
    /// # Cancel safety
    /// Yes. The call only reads.
    ///
    /// # Errors
    /// [`StoreError`] if the store does not answer.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let _permit = seinpaal.semaphore("gpus").acquire().await?;
    /// for name in seinpaal.list("g").await? {
    ///     println!("{}: {} of {} held", name.name, name.permits_held, name.limit);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn list(&self, prefix: &str) -> Result<Vec<Snapshot>, StoreError> {
        let prefix = prefix.to_owned();
        let listing =
            self.handle.with_store(move |store| Box::pin(async move { store.list(&prefix).await }));
        let listed = listing.await??;
        Ok(listed.into_iter().map(|(name, snapshot)| Snapshot::new(&name, snapshot)).collect())
    }
}
