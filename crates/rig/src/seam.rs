//! A wrapper around a store. A suite that wants to change calls or news on their way implements
//! [`Between`], so no suite has to implement all of `Store`.

mod faults;
mod script;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc, time::Duration};

use seinpaal_proto::{Batch, Inbox, Name, Replies, Snapshot, queue, time::Micros};
use seinpaal_store::{
    Abilities, BoxFuture, Bundles, Diagnosis, Examination, GuardedWrite, News, NewsSender, OneStep,
    Presence, Reading, Store, StoreError, Together, Written,
};
use tokio::sync::mpsc;

pub use script::{Fault, Faults, SeamCall};

/// The answer of a store to one call.
pub type SeamResult<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// The piece between a client and its store. Each method gets the store behind it, and by default
/// passes the call on unchanged.
pub trait Between: fmt::Debug + Send + Sync + 'static {
    /// A batch about permits.
    fn call<'a>(&'a self, store: &'a dyn Store, batch: &'a Batch) -> SeamResult<'a, Replies> {
        store.call(batch)
    }

    /// A batch that the caller's own thread could execute. `None` declines, and
    /// [`call`](Self::call) follows.
    fn call_in_place(
        &self,
        store: &dyn Store,
        batch: &Batch,
    ) -> Option<Result<Replies, StoreError>> {
        store.call_in_place(batch)
    }

    /// Batches about several names, in one step. Only called if the store behind has such a step.
    fn call_together<'a>(
        &'a self,
        store: &'a dyn Store,
        batches: &'a [Batch],
    ) -> SeamResult<'a, Together> {
        in_one_step(store, batches)
    }

    /// A batch about a queue.
    fn call_queue<'a>(
        &'a self,
        store: &'a dyn Store,
        batch: &'a queue::Batch,
    ) -> SeamResult<'a, queue::Replies> {
        store.call_queue(batch)
    }

    /// A guarded write.
    fn guarded<'a>(&'a self, store: &'a dyn Store, write: &'a GuardedWrite) -> Option<Written<'a>> {
        store.guarded(write)
    }

    /// A list of names.
    fn list<'a>(
        &'a self,
        store: &'a dyn Store,
        prefix: &'a str,
    ) -> SeamResult<'a, Vec<(Name, Snapshot)>> {
        store.list(prefix)
    }

    /// A list of queues.
    fn list_queues<'a>(
        &'a self,
        store: &'a dyn Store,
        prefix: &'a str,
    ) -> SeamResult<'a, Vec<(Name, queue::Snapshot)>> {
        store.list_queues(prefix)
    }

    /// News that the store sends unasked to the client with this inbox. The client listens at
    /// `client`.
    fn tell(&self, _inbox: Inbox, client: &NewsSender, news: News) {
        let _ = client.send(news); // an error means that the client is gone
    }
}

/// Passes batches on to a store that can execute several names in one step.
///
/// # Panics
/// The store has no such step.
pub fn in_one_step<'a>(store: &'a dyn Store, batches: &'a [Batch]) -> SeamResult<'a, Together> {
    store.one_step().expect("this store has a step for several names").call_together(batches)
}

/// A store behind a [`Between`].
#[derive(Debug)]
pub struct Interposed {
    store: Arc<dyn Store>,
    between: Arc<dyn Between>,
}

impl Interposed {
    /// Puts `between` in front of `store`. News do not pass through the result: see
    /// [`news_through`].
    #[must_use]
    pub fn new(store: Arc<dyn Store>, between: Arc<dyn Between>) -> Arc<Self> {
        Arc::new(Self { store, between })
    }
}

/// Returns a sender for a store's news, from which `between` passes them on to `client`.
///
/// # Panics
/// Outside a tokio runtime.
#[must_use]
pub fn news_through(between: Arc<dyn Between>, inbox: Inbox, client: NewsSender) -> NewsSender {
    let (sender, mut from_store) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(news) = from_store.recv().await {
            between.tell(inbox, &client, news);
        }
    });
    sender
}

impl Store for Interposed {
    fn abilities(&self) -> Abilities {
        self.store.abilities()
    }

    fn first_reading(&self) -> Reading {
        self.store.first_reading()
    }

    fn longest_lease(&self) -> Option<Micros> {
        self.store.longest_lease()
    }

    fn presence(&self) -> Option<&dyn Presence> {
        self.store.presence()
    }

    fn longest_ttl(&self) -> Option<Duration> {
        self.store.longest_ttl()
    }

    fn reassure<'a>(&'a self, name: &'a Name, silence: Duration) -> BoxFuture<'a, ()> {
        self.store.reassure(name, silence)
    }

    fn call<'a>(&'a self, batch: &'a Batch) -> SeamResult<'a, Replies> {
        self.between.call(&*self.store, batch)
    }

    fn call_in_place(&self, batch: &Batch) -> Option<Result<Replies, StoreError>> {
        self.between.call_in_place(&*self.store, batch)
    }

    fn answers_in_place(&self) -> bool {
        self.store.answers_in_place()
    }

    fn guarded<'a>(&'a self, write: &'a GuardedWrite) -> Option<Written<'a>> {
        self.between.guarded(&*self.store, write)
    }

    fn one_step(&self) -> Option<&dyn OneStep> {
        self.store.one_step().is_some().then_some(self)
    }

    /// Each batch must pass [`Between::call`], so the wrapper has no bundles.
    fn bundles(&self) -> Option<&dyn Bundles> {
        None
    }

    fn call_queue<'a>(&'a self, batch: &'a queue::Batch) -> SeamResult<'a, queue::Replies> {
        self.between.call_queue(&*self.store, batch)
    }

    fn list_queues<'a>(&'a self, prefix: &'a str) -> SeamResult<'a, Vec<(Name, queue::Snapshot)>> {
        self.between.list_queues(&*self.store, prefix)
    }

    fn list<'a>(&'a self, prefix: &'a str) -> SeamResult<'a, Vec<(Name, Snapshot)>> {
        self.between.list(&*self.store, prefix)
    }

    fn diagnose(&self) -> SeamResult<'_, Diagnosis> {
        self.store.diagnose()
    }

    fn examine(&self, most: usize) -> SeamResult<'_, Examination> {
        self.store.examine(most)
    }
}

impl OneStep for Interposed {
    fn call_together<'a>(&'a self, batches: &'a [Batch]) -> SeamResult<'a, Together> {
        self.between.call_together(&*self.store, batches)
    }
}
