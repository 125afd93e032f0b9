//! The memory store, for tests and for limits among the tasks of one program. It lives in one
//! process and ends with it.

mod hub;

use std::{sync::Arc, time::Duration};

use seinpaal_proto::{Batch, Inbox, Name, Replies, Snapshot, queue, time::Micros};

pub use self::hub::MemoryHub;
use super::{
    Abilities, BoxFuture, Bundles, Diagnosis, Examination, GuardedWrite, NewsSender, OneStep,
    Presence, Reading, Store, StoreError, Together, Written,
};

/// One client of a [`MemoryHub`]. Dropping it stands for the death of a client: its leases and its
/// places in line end at once.
#[derive(Debug)]
pub struct MemoryStore {
    hub: Arc<MemoryHub>,
    inbox: Inbox,
}

impl MemoryStore {
    /// Opens `hub` for the client with this inbox, which must not be open there already. The
    /// client's news go to `news`.
    #[must_use]
    pub fn open(hub: &Arc<MemoryHub>, inbox: Inbox, news: NewsSender) -> Arc<Self> {
        hub.register(inbox, news);
        Arc::new(Self { hub: Arc::clone(hub), inbox })
    }

    async fn answer<T>(&self, call: impl FnOnce(&MemoryHub) -> T) -> T {
        self.hub.until_heard().await;
        call(&self.hub)
    }
}

impl Store for MemoryStore {
    fn abilities(&self) -> Abilities {
        Abilities { scheme: "memory", notices_death: true, is_shared: false }
    }

    fn first_reading(&self) -> Reading {
        self.hub.reading()
    }

    fn longest_lease(&self) -> Option<Micros> {
        None
    }

    fn presence(&self) -> Option<&dyn Presence> {
        None
    }

    fn longest_ttl(&self) -> Option<Duration> {
        None
    }

    fn reassure<'a>(&'a self, _name: &'a Name, _silence: Duration) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn call<'a>(&'a self, batch: &'a Batch) -> BoxFuture<'a, Result<Replies, StoreError>> {
        Box::pin(self.answer(move |hub| hub.call(batch)))
    }

    fn call_in_place(&self, batch: &Batch) -> Option<Result<Replies, StoreError>> {
        (!self.hub.is_silent()).then(|| self.hub.call(batch))
    }

    fn answers_in_place(&self) -> bool {
        true
    }

    fn guarded<'a>(&'a self, _write: &'a GuardedWrite) -> Option<Written<'a>> {
        None
    }

    fn one_step(&self) -> Option<&dyn OneStep> {
        Some(self)
    }

    fn bundles(&self) -> Option<&dyn Bundles> {
        None
    }

    fn call_queue<'a>(
        &'a self,
        batch: &'a queue::Batch,
    ) -> BoxFuture<'a, Result<queue::Replies, StoreError>> {
        Box::pin(self.answer(move |hub| hub.call_queue(batch)))
    }

    fn list_queues<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, queue::Snapshot)>, StoreError>> {
        Box::pin(self.answer(move |hub| hub.list_queues(prefix)))
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, Snapshot)>, StoreError>> {
        Box::pin(self.answer(move |hub| hub.list(prefix)))
    }

    fn diagnose(&self) -> BoxFuture<'_, Result<Diagnosis, StoreError>> {
        Box::pin(async { Ok(Diagnosis::default()) })
    }

    fn examine(&self, most: usize) -> BoxFuture<'_, Result<Examination, StoreError>> {
        Box::pin(self.answer(move |hub| hub.examine(most)))
    }
}

impl OneStep for MemoryStore {
    fn call_together<'a>(
        &'a self,
        batches: &'a [Batch],
    ) -> BoxFuture<'a, Result<Together, StoreError>> {
        Box::pin(self.answer(move |hub| hub.call_together(batches)))
    }
}

impl Drop for MemoryStore {
    fn drop(&mut self) {
        self.hub.bury(self.inbox);
    }
}

#[cfg(test)]
mod tests;
