//! The ZooKeeper store. Every client keeps a copy of each name that it uses, and executes the
//! ledger itself on that copy.
//!
//! ```text
//!   Batch ──▶ call: follow the name's znode, execute, one transaction ──▶ ensemble ──▶ Replies
//!                                                      │ inboxes written to, sessions that end
//!              News ◀── keeper ◀───────────────────────┘
//! ```
//!
//! docs/internals/stores/zookeeper.md says what an ensemble stores, which client watches which, and
//! what the store promises.

#![forbid(unsafe_code)]

mod call;
mod core;
mod ensemble;
mod error;
mod header;
mod link;
mod list;
#[doc(hidden)] // used by fuzz/
pub mod paths;
mod recorder;
#[doc(hidden)] // used by fuzz/
pub mod replica;
mod session_task;
mod stretch;
#[cfg(test)]
mod tests;
mod time;
mod transaction;
mod watches;
#[doc(hidden)] // used by fuzz/
pub mod write;

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use seinpaal_proto::{Batch, Inbox, Name, Replies, Snapshot, queue, time::Micros};
use tokio::{sync::mpsc, task::AbortHandle};

use self::{
    core::Core, link::SessionLink, link::SessionOptions, paths::Paths, session_task::SessionTask,
};
use seinpaal_store::{
    Abilities, BoxFuture, Bundles, Diagnosis, Examination, Fact, GuardedWrite, NewsSender, OneStep,
    Presence, Reading, Store, StoreError, Written, boottime, no_queues, url::ZookeeperUrl,
};

/// The target under which events are logged. It is the path by which users of the crate `seinpaal`
/// know this store.
const TARGET: &str = "seinpaal::store::zookeeper";

/// The number of sessions of this process that have expired. A test of the conformance crate reads
/// it.
#[doc(hidden)]
pub static SESSIONS_LOST: AtomicU64 = AtomicU64::new(0);

/// Permits kept by a ZooKeeper ensemble.
#[derive(Debug)]
pub struct ZookeeperStore {
    core: Arc<Core>,
    task: AbortHandle,
    longest_lease: Micros,
    first_reading: Reading,
}

impl ZookeeperStore {
    /// Opens a session with the ensemble of a `zookeeper://` URL. Must be called inside a tokio
    /// runtime, which keeps the session from then on.
    ///
    /// # Errors
    /// [`Misconfigured`] if the ensemble cannot be used, [`Forbidden`] if the login is refused,
    /// [`Unreachable`] if no server of a quorum answers within `connect-timeout`. No error repeats
    /// the password.
    ///
    /// [`Misconfigured`]: seinpaal_store::StoreErrorKind::Misconfigured
    /// [`Forbidden`]: seinpaal_store::StoreErrorKind::Forbidden
    /// [`Unreachable`]: seinpaal_store::StoreErrorKind::Unreachable
    pub async fn open(
        url: ZookeeperUrl,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_with(url, inbox, news, None).await
    }

    /// Opens a session as [`open`](Self::open) does. For tests: `now`, if it is given, takes the
    /// place of the leader's clock, in microseconds.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    #[doc(hidden)]
    pub async fn open_with(
        url: ZookeeperUrl,
        inbox: Inbox,
        news: NewsSender,
        now: Option<Arc<AtomicU64>>,
    ) -> Result<Arc<Self>, StoreError> {
        let paths = Paths::new(&url.root);
        let options = Arc::new(SessionOptions { url, paths, inbox });
        let link = SessionLink::open(&options).await?;
        let longest_lease = link.longest_lease();
        let (gone, deaths) = mpsc::unbounded_channel();
        let core = Arc::new(Core::new(options, news, gone, now));
        // The instant is taken before the clock is asked, since a reading has to be younger than
        // it.
        let asked_at = boottime::now();
        let (task, shows) = SessionTask::new(Arc::clone(&core), link, deaths).await?;
        let first_reading = Reading { shows, asked_at };
        let task = tokio::spawn(task.serve()).abort_handle();
        Ok(Arc::new(Self { core, task, longest_lease, first_reading }))
    }
}

impl Store for ZookeeperStore {
    fn abilities(&self) -> Abilities {
        Abilities::shared("zookeeper", true)
    }

    fn first_reading(&self) -> Reading {
        self.first_reading
    }

    fn longest_lease(&self) -> Option<Micros> {
        Some(self.longest_lease)
    }

    fn longest_ttl(&self) -> Option<Duration> {
        None
    }

    fn presence(&self) -> Option<&dyn Presence> {
        None
    }

    fn reassure<'a>(&'a self, _name: &'a Name, _silence: Duration) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn call<'a>(&'a self, batch: &'a Batch) -> BoxFuture<'a, Result<Replies, StoreError>> {
        Box::pin(self.core.call(batch))
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
        Box::pin(async { Err(no_queues("zookeeper")) })
    }

    fn list_queues<'a>(
        &'a self,
        _prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, queue::Snapshot)>, StoreError>> {
        Box::pin(async { Err(no_queues("zookeeper")) })
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, Snapshot)>, StoreError>> {
        Box::pin(self.core.list(prefix))
    }

    fn diagnose(&self) -> BoxFuture<'_, Result<Diagnosis, StoreError>> {
        Box::pin(async {
            let look = self.core.look_at_ensemble().await?;
            let seconds = Duration::from_micros(self.longest_lease).as_secs_f64();
            let session = format!("half of it is {seconds:.1}s, and no lease lasts longer");
            let mut facts = look.facts();
            facts.push(Fact::new("session", session));
            Ok(Diagnosis { facts, advice: look.advice(), ..Diagnosis::default() })
        })
    }

    fn examine(&self, most: usize) -> BoxFuture<'_, Result<Examination, StoreError>> {
        Box::pin(self.core.examine(most))
    }
}

impl Drop for ZookeeperStore {
    fn drop(&mut self) {
        self.task.abort();
        self.core.watches.clear_all();
        // The session ends with the last call that uses it.
        self.core.set_link(None);
    }
}
