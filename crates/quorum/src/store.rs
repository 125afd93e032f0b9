//! A quorum as a store.

use std::time::Duration;

use seinpaal_proto::{Batch, Name, Replies, Snapshot, queue, time::Micros};
use seinpaal_store::{
    Abilities, BoxFuture, Bundles, Certainty, Diagnosis, Examination, GuardedWrite, OneStep,
    Presence, Reading, Store, StoreError, StoreErrorKind, Written, no_queues,
};

use super::QuorumStore;

impl Store for QuorumStore {
    fn abilities(&self) -> Abilities {
        Abilities::shared("redis+quorum", false)
    }

    fn first_reading(&self) -> Reading {
        self.first_reading
    }

    fn longest_ttl(&self) -> Option<Duration> {
        let guard = self.quorum.guard;
        (guard > 0).then(|| Duration::from_micros(guard / 5 * 4))
    }

    fn longest_lease(&self) -> Option<Micros> {
        None
    }

    fn presence(&self) -> Option<&dyn Presence> {
        None
    }

    fn reassure<'a>(&'a self, _name: &'a Name, _silence: Duration) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn call<'a>(&'a self, batch: &'a Batch) -> BoxFuture<'a, Result<Replies, StoreError>> {
        Box::pin(async move {
            refuse_too_much(batch)?;
            self.quorum.execute(batch).await
        })
    }

    fn call_in_place(&self, _batch: &Batch) -> Option<Result<Replies, StoreError>> {
        None
    }

    fn answers_in_place(&self) -> bool {
        false
    }

    fn guarded<'a>(&'a self, _write: &'a GuardedWrite) -> Option<Written<'a>> {
        None
    }

    fn one_step(&self) -> Option<&dyn OneStep> {
        None
    }

    fn bundles(&self) -> Option<&dyn Bundles> {
        None
    }

    fn call_queue<'a>(
        &'a self,
        _batch: &'a queue::Batch,
    ) -> BoxFuture<'a, Result<queue::Replies, StoreError>> {
        Box::pin(async { Err(no_queues("redis+quorum")) })
    }

    fn list_queues<'a>(
        &'a self,
        _prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, queue::Snapshot)>, StoreError>> {
        Box::pin(async { Err(no_queues("redis+quorum")) })
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, Snapshot)>, StoreError>> {
        Box::pin(self.snapshots(prefix))
    }

    fn diagnose(&self) -> BoxFuture<'_, Result<Diagnosis, StoreError>> {
        Box::pin(async { Ok(self.quorum.diagnose().await) })
    }

    fn examine(&self, most: usize) -> BoxFuture<'_, Result<Examination, StoreError>> {
        Box::pin(self.quorum.examine_ledgers(most))
    }
}

fn refuse_too_much(batch: &Batch) -> Result<(), StoreError> {
    if batch.requests.len() <= Batch::MOST {
        return Ok(());
    }
    let message = format!("a batch has at most {} requests: please report this", Batch::MOST);
    Err(StoreError::new(StoreErrorKind::Internal, Certainty::NotExecuted, message))
}
