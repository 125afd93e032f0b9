//! The embedded store as a [`Store`] of the seam.

use std::{os::fd::BorrowedFd, process, time::Duration};

use seinpaal_proto::{Batch, Name, Replies, Snapshot, queue, time::Micros};
use seinpaal_store::{
    Abilities, BoxFuture, Bundles, ChildRecord, Diagnosis, Examination, GuardedWrite, OneStep,
    Presence, Reading, Store, StoreError, Together, Written,
};

use super::{
    EmbeddedStore, TARGET, facts,
    worker::{StoreJob, in_place},
};

impl Store for EmbeddedStore {
    fn abilities(&self) -> Abilities {
        Abilities::shared("embedded", true)
    }

    fn first_reading(&self) -> Reading {
        self.first_reading
    }

    fn presence(&self) -> Option<&dyn Presence> {
        Some(self)
    }

    fn longest_lease(&self) -> Option<Micros> {
        None
    }

    fn longest_ttl(&self) -> Option<Duration> {
        None
    }

    fn reassure<'a>(&'a self, _name: &'a Name, _silence: Duration) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn call<'a>(&'a self, batch: &'a Batch) -> BoxFuture<'a, Result<Replies, StoreError>> {
        Box::pin(self.ask(|answer| StoreJob::Call { batch: batch.clone(), answer }))
    }

    fn call_in_place(&self, batch: &Batch) -> Option<Result<Replies, StoreError>> {
        let room = self.room.as_ref().filter(|_| self.process == process::id());
        in_place::call(room?, batch, || {
            if let Err(error) = self.start() {
                tracing::warn!(target: TARGET, %error, "the store has no thread");
            }
        })
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

    fn list<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, Snapshot)>, StoreError>> {
        Box::pin(self.ask(|answer| StoreJob::List { prefix: prefix.to_owned(), answer }))
    }

    fn diagnose(&self) -> BoxFuture<'_, Result<Diagnosis, StoreError>> {
        let place = self.place.display().to_string();
        let advice = facts::advice(&self.place).into_iter().map(|advice| advice.at(&place));
        let diagnosis = Diagnosis {
            facts: facts::of(&self.place),
            advice: advice.collect(),
            ..Diagnosis::default()
        };
        Box::pin(async { Ok(diagnosis) })
    }

    fn examine(&self, most: usize) -> BoxFuture<'_, Result<Examination, StoreError>> {
        Box::pin(self.ask(move |answer| StoreJob::Examine { most, answer }))
    }

    fn call_queue<'a>(
        &'a self,
        batch: &'a queue::Batch,
    ) -> BoxFuture<'a, Result<queue::Replies, StoreError>> {
        Box::pin(self.ask(|answer| StoreJob::CallQueue { batch: batch.clone(), answer }))
    }

    fn list_queues<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, queue::Snapshot)>, StoreError>> {
        Box::pin(self.ask(|answer| StoreJob::ListQueues { prefix: prefix.to_owned(), answer }))
    }
}

impl Presence for EmbeddedStore {
    fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        self.presence_fds()
    }

    fn fork_descriptors(&self) -> [BorrowedFd<'_>; 3] {
        self.fork_fds()
    }

    fn record_child(&self, pid: u32) -> Result<(), StoreError> {
        self.presence_child(pid)
    }

    fn child_record(&self) -> Result<Option<ChildRecord>, StoreError> {
        self.signs.presence.child_record()
    }

    fn forget_child(&self) -> Result<(), StoreError> {
        self.signs.presence.forget_child()
    }
}

impl OneStep for EmbeddedStore {
    fn call_together<'a>(
        &'a self,
        batches: &'a [Batch],
    ) -> BoxFuture<'a, Result<Together, StoreError>> {
        Box::pin(self.ask(|answer| StoreJob::Together { batches: batches.to_vec(), answer }))
    }
}
