//! The memory store's harness, with something between its stores and the cases.

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use seinpaal::{
    Advice, Fact,
    store::{
        Abilities, BoxFuture, GuardedWrite, NewsSender, OneStep, Reading, SendsInPlace, SignOfLife,
        Store, StoreError, Written,
    },
};
use seinpaal_conformance::{Ability, Harness, MemoryHarness};
use seinpaal_proto::{Batch, Contact, Inbox, Name, Replies, Snapshot, queue, time::Micros};
use tokio::sync::mpsc;

use super::spoil::{Mistake, Spoiler};

/// Makes stores with one mistake, all alike.
#[derive(Debug)]
pub(crate) struct SpoilingHarness {
    memory: MemoryHarness,
    spoiler: Arc<Spoiler>,
}

impl SpoilingHarness {
    pub(crate) fn new(mistake: Mistake) -> Self {
        Self { memory: MemoryHarness::new(), spoiler: Arc::new(Spoiler::new(mistake)) }
    }
}

impl Harness for SpoilingHarness {
    fn open(&self, inbox: Inbox, news: NewsSender) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async move {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            let (inner, spoiler) = (self.memory.open(inbox, sender).await, self.spoiler.clone());
            spoiler.listen(inbox, news);
            tokio::spawn(async move {
                while let Some(news) = receiver.recv().await {
                    spoiler.tell(inbox, news);
                }
            });
            let spoiler = Arc::clone(&self.spoiler);
            Arc::new(SpoilingStore { inner, spoiler }) as Arc<dyn Store>
        })
    }

    fn vanish(&self, _inbox: Inbox, store: Arc<dyn Store>) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.spoiler.bury(store) })
    }

    fn clock(&self) -> &AtomicU64 {
        self.memory.clock()
    }

    fn contact(&self) -> Contact {
        self.memory.contact()
    }

    fn lacks(&self, ability: Ability) -> Option<&'static str> {
        self.memory.lacks(ability)
    }
}

/// A store whose queues are spoilt.
#[derive(Debug)]
struct SpoilingStore {
    inner: Arc<dyn Store>,
    spoiler: Arc<Spoiler>,
}

impl Store for SpoilingStore {
    fn abilities(&self) -> Abilities {
        self.inner.abilities()
    }

    fn first_reading(&self) -> Reading {
        self.inner.first_reading()
    }

    fn longest_lease(&self) -> Option<Micros> {
        self.inner.longest_lease()
    }

    fn sign_of_life(&self) -> Option<&dyn SignOfLife> {
        self.inner.sign_of_life()
    }

    fn longest_ttl(&self) -> Option<Duration> {
        self.inner.longest_ttl()
    }

    fn advice(&self) -> Vec<Advice> {
        self.inner.advice()
    }

    fn facts(&self) -> Vec<Fact> {
        self.inner.facts()
    }

    fn reassure<'a>(&'a self, name: &'a Name, silence: Duration) -> BoxFuture<'a, ()> {
        self.inner.reassure(name, silence)
    }

    fn call<'a>(&'a self, batch: &'a Batch) -> BoxFuture<'a, Result<Replies, StoreError>> {
        self.inner.call(batch)
    }

    fn call_in_place(&self, batch: &Batch) -> Option<Result<Replies, StoreError>> {
        self.inner.call_in_place(batch)
    }

    fn answers_in_place(&self) -> bool {
        self.inner.answers_in_place()
    }

    fn sends_in_place(&self) -> Option<&dyn SendsInPlace> {
        self.inner.sends_in_place()
    }

    fn guarded<'a>(&'a self, write: &'a GuardedWrite) -> Option<Written<'a>> {
        self.inner.guarded(write)
    }

    fn one_step(&self) -> Option<&dyn OneStep> {
        self.inner.one_step()
    }

    fn call_queue<'a>(
        &'a self,
        batch: &'a queue::Batch,
    ) -> BoxFuture<'a, Result<queue::Replies, StoreError>> {
        Box::pin(self.spoiler.call(&*self.inner, batch))
    }

    fn list_queues<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, queue::Snapshot)>, StoreError>> {
        Box::pin(async move { Ok(self.spoiler.list(self.inner.list_queues(prefix).await?)) })
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, Snapshot)>, StoreError>> {
        self.inner.list(prefix)
    }
}
