//! The seam between the session and a store: batches of requests go in, replies come out, and now and
//! then the store says that something happened.

pub mod clock;
#[cfg(feature = "embedded")]
pub mod embedded;
pub mod memory;
#[cfg(any(feature = "embedded", feature = "zookeeper"))]
mod packed;
#[cfg(feature = "redis")]
pub mod redis;
mod together;
pub mod url;
#[cfg(feature = "zookeeper")]
pub mod zookeeper;

use std::{fmt, future::Future, io, os::fd::BorrowedFd, pin::Pin, sync::Arc, time::Duration};

use seinpaal_proto::{Batch, Inbox, Name, Replies, Snapshot, Wakeup, queue, time::Micros};
use tokio::sync::mpsc;

pub use crate::guarded::GuardedWrite;
pub use crate::store_error::{Certainty, StoreError, StoreErrorKind};
use crate::{Advice, Fact};
pub use clock::Reading;
pub use together::Together;

/// A boxed future, so that stores can be used as `dyn Store`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What becomes of a guarded write.
pub type Written<'a> = BoxFuture<'a, Result<Vec<crate::Value>, crate::GuardedError>>;

/// A record in a store's directory that a child signs between fork and exec: see
/// [`Seinpaal::presence_record`](crate::Seinpaal::presence_record).
#[derive(Clone, Debug)]
pub struct ChildRecord(pub(crate) Arc<dyn SignedByChild>);

pub(crate) trait SignedByChild: fmt::Debug + Send + Sync {
    fn sign(&self) -> io::Result<()>;
    fn finish(&self) -> Result<(), StoreError>;
}

impl ChildRecord {
    /// Puts the calling process on record. It does system calls only: it neither allocates nor locks.
    ///
    /// # Errors
    /// The record could not be written; then the descriptor alone counts.
    pub fn sign(&self) -> io::Result<()> {
        self.0.sign()
    }

    /// Clears away what was prepared, in the parent, once the child has signed or will not any more.
    ///
    /// # Errors
    /// Nobody has signed.
    pub fn finish(&self) -> Result<(), StoreError> {
        self.0.finish()
    }
}

/// What a store says unasked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum News {
    /// Something happened to a ticket of this client.
    Wakeup(Wakeup),
    /// Wakeups may have been lost (the subscription was away): look again at everything.
    LookAgain,
    /// Something happened at a queue that this client works at.
    Queue(queue::Wakeup),
}

/// Where [`News`] go. Each store is opened with one and keeps it for as long as it lives.
pub type NewsSender = mpsc::UnboundedSender<News>;

/// A store as one client sees it. It was opened for one inbox, which is reachable while it lives.
///
/// Every batch is executed as [`seinpaal_proto::execute`] would: that is the specification. The futures
/// must be polled inside a tokio runtime with I/O and time enabled. Dropping one leaves the outcome
/// unknown and nothing else broken.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// What this store is and can do.
    fn abilities(&self) -> Abilities;

    /// What the store's clock showed when it was opened. Requests carry a deadline on that clock, the very first
    /// one too (docs/internals/protocol.md, rule 16).
    fn first_reading(&self) -> Reading;

    /// The longest that this client may believe in a lease without being heard from; `None`: as long as the
    /// lease lasts. Longer ttls are cut to it, but for permits that are detached.
    fn longest_lease(&self) -> Option<Micros> {
        None
    }

    /// A descriptor that shows that this client lives, if the store goes by one: a child that inherits it
    /// keeps the client alive in the store's eyes after this process is gone.
    fn presence(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Puts the child on record that inherits [`presence`](Self::presence): once it and this process are
    /// both gone the client is, too, whoever else has inherited the descriptor.
    ///
    /// # Errors
    /// The record could not be written; then the descriptor alone counts.
    fn record_child(&self, _pid: u32) -> Result<(), StoreError> {
        Ok(())
    }

    /// Prepares a record that the child signs by itself; `None`: where there is none to be had.
    ///
    /// # Errors
    /// It could not be prepared; then the descriptor alone counts.
    fn child_record(&self) -> Result<Option<ChildRecord>, StoreError> {
        Ok(None)
    }

    /// Takes the child off the record again: the descriptor alone counts. Do it before another child inherits it.
    ///
    /// # Errors
    /// The record could not be removed.
    fn forget_child(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// The longest ttl for which this store keeps its promises as it was opened; `None`: any.
    fn longest_ttl(&self) -> Option<Duration> {
        None
    }

    /// What should be changed about the store so that its promises hold, a line each; for people.
    fn advice(&self) -> Vec<Advice> {
        Vec::new()
    }

    /// What is known about the store.
    fn facts(&self) -> Vec<Fact> {
        Vec::new()
    }

    /// An answer about this name is overdue: nothing came for `silence`. Completes once there is a way to the store that
    /// was heard from since, or a new one; or after a while without. What is under way stays so. The next call about the
    /// name goes that way.
    fn reassure<'a>(&'a self, _name: &'a Name, _silence: Duration) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// Executes a batch, whole or not at all.
    fn call<'a>(&'a self, batch: &'a Batch) -> BoxFuture<'a, Result<Replies, StoreError>>;

    /// Executes a batch on the thread that asks, if that waits for nobody: neither for others that are inside a call nor
    /// for a disk that is slow. `None`: it cannot, and nothing was done; [`call`](Self::call) does it. A store may decline
    /// whatever would queue. Needs no runtime.
    fn call_in_place(&self, _batch: &Batch) -> Option<Result<Replies, StoreError>> {
        None
    }

    /// Whether [`call_in_place`](Self::call_in_place) ever does something.
    fn answers_in_place(&self) -> bool {
        false
    }

    /// Whether what is asked on a caller's thread is sent on it by [`send_in_place`](Self::send_in_place).
    fn sends_in_place(&self) -> bool {
        false
    }

    /// Has `ask` poll calls of this store for the first time, and sends on this thread what they ask: no task of the
    /// store's is woken for that.
    fn send_in_place(&self, ask: &mut dyn FnMut()) {
        ask();
    }

    /// Applies a group of commands, once for its id, if its tickets hold at that moment; else nothing of it.
    /// `None`: this store keeps permits and nothing else.
    fn guarded<'a>(&'a self, _write: &'a GuardedWrite) -> Option<Written<'a>> {
        None
    }

    /// Whether [`call_together`](Self::call_together) is to be had.
    fn is_one_step(&self) -> bool {
        false
    }

    /// Executes batches about different names, of one acquire each, in one atomic step: all of them if every
    /// request is granted, else none. Only where [`is_one_step`](Self::is_one_step) says so.
    fn call_together<'a>(
        &'a self,
        _batches: &'a [Batch],
    ) -> BoxFuture<'a, Result<Together, StoreError>> {
        let kind = StoreErrorKind::Internal;
        let message = "this store does not do several names in one step: please report this";
        Box::pin(async move { Err(StoreError::new(kind, Certainty::NotExecuted, message)) })
    }

    /// Executes a batch about a queue, whole or not at all, as [`seinpaal_proto::queue::execute`] would.
    fn call_queue<'a>(
        &'a self,
        _batch: &'a queue::Batch,
    ) -> BoxFuture<'a, Result<queue::Replies, StoreError>> {
        Box::pin(async move { Err(no_queues(self.abilities().scheme)) })
    }

    /// Lists the queues whose names start with `prefix` and that have items, workers or something
    /// configured, in order of name. The snapshots have no rows.
    fn list_queues<'a>(
        &'a self,
        _prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, queue::Snapshot)>, StoreError>> {
        Box::pin(async move { Err(no_queues(self.abilities().scheme)) })
    }

    /// Lists the names that start with `prefix` and have holders, waiters or something configured, in
    /// order of name. The snapshots list at most 64 waiters and no holders; the totals count all.
    fn list<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, Snapshot)>, StoreError>>;
}

fn no_queues(scheme: &str) -> StoreError {
    let message =
        format!("{scheme} keeps no queues: use file:, redis:, redis+sentinel: or redis+cluster:");
    StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
}

/// Opens the store at `url` for the client with this inbox.
pub(crate) fn open(
    url: url::StoreUrl,
    inbox: Inbox,
    news: NewsSender,
) -> BoxFuture<'static, Result<Arc<dyn Store>, StoreError>> {
    Box::pin(async move {
        match url {
            url::StoreUrl::Memory(label) => {
                let hub = memory::MemoryHub::process(&label);
                Ok(memory::MemoryStore::open(&hub, inbox, news) as Arc<dyn Store>)
            }
            #[cfg(feature = "embedded")]
            url::StoreUrl::Embedded(dir) => {
                let dir = dir.map_or_else(embedded::default_dir, Ok)?;
                Ok(embedded::EmbeddedStore::open(&dir, inbox, news)? as Arc<dyn Store>)
            }
            #[cfg(feature = "redis")]
            url::StoreUrl::Redis(url) => {
                Ok(redis::RedisStore::open(url, inbox, news).await? as Arc<dyn Store>)
            }
            #[cfg(feature = "redis")]
            url::StoreUrl::Cluster(url) => {
                Ok(redis::RedisStore::open_cluster(url, inbox, news).await? as Arc<dyn Store>)
            }
            #[cfg(feature = "redis")]
            url::StoreUrl::Quorum(url) => {
                Ok(redis::quorum::QuorumStore::open(url, inbox, news).await? as Arc<dyn Store>)
            }
            #[cfg(feature = "redis")]
            url::StoreUrl::Sentinel(url) => {
                Ok(redis::RedisStore::open_behind(url, inbox, news).await? as Arc<dyn Store>)
            }
            #[cfg(feature = "zookeeper")]
            url::StoreUrl::Zookeeper(url) => {
                Ok(zookeeper::ZookeeperStore::open(url, inbox, news).await? as Arc<dyn Store>)
            }
            #[cfg(not(all(feature = "embedded", feature = "redis", feature = "zookeeper")))]
            other => Err(not_built_in(&other)),
        }
    })
}

/// The store of this URL is a feature of the crate that is not enabled.
#[cfg(not(all(feature = "embedded", feature = "redis", feature = "zookeeper")))]
fn not_built_in(url: &url::StoreUrl) -> StoreError {
    let feature = url.missing_feature().unwrap_or_default();
    let message = format!(
        "this program was built without the store of {url}: enable the feature {feature:?} of the crate seinpaal"
    );
    StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
}

/// What a store is and can do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Abilities {
    /// The scheme of its URL, like `memory` or `redis`; of the embedded store `embedded`.
    pub scheme: &'static str,
    /// The store notices at once when a client's process is gone.
    pub notices_death: bool,
    /// More than one process can use it.
    pub is_shared: bool,
}
