//! The seam between the session and a store: batches of requests go in, replies come out, and now and
//! then the store says that something happened.

pub mod clock;
#[cfg(feature = "embedded")]
pub mod embedded;
pub mod memory;
#[cfg(feature = "redis")]
pub mod redis;
pub mod url;

use std::{fmt, future::Future, os::fd::BorrowedFd, pin::Pin, sync::Arc};

use seinpaal_proto::{Batch, Inbox, Replies, Snapshot, Wakeup};
use tokio::sync::mpsc;

pub use crate::store_error::{Certainty, StoreError, StoreErrorKind};

/// A boxed future, so that stores can be used as `dyn Store`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a store says unasked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum News {
    /// Something happened to a ticket of this client.
    Wakeup(Wakeup),
    /// Wakeups may have been lost (the subscription was away): look again at everything.
    LookAgain,
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

    /// Executes a batch, whole or not at all.
    fn call<'a>(&'a self, batch: &'a Batch) -> BoxFuture<'a, Result<Replies, StoreError>>;

    /// Lists the names that start with `prefix` and have holders, waiters or something configured, in
    /// order of name. The snapshots list at most 64 waiters and no holders; the totals count all.
    fn list<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(seinpaal_proto::Name, Snapshot)>, StoreError>>;
}

/// Opens the store at `url` for the client with this inbox.
pub(crate) fn open(
    url: url::StoreUrl,
    inbox: Inbox,
    news: NewsSender,
) -> BoxFuture<'static, Result<Arc<dyn Store>, StoreError>> {
    Box::pin(async move {
        match url {
            url::StoreUrl::Memory => {
                let hub = memory::MemoryHub::process("");
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
            url::StoreUrl::Quorum(url) => {
                Ok(redis::quorum::QuorumStore::open(url, inbox, news).await? as Arc<dyn Store>)
            }
            #[cfg(not(all(feature = "embedded", feature = "redis")))]
            _ => Err(StoreError::new(
                StoreErrorKind::Misconfigured,
                Certainty::NotExecuted,
                "this program was built without that store: enable the feature of the crate",
            )),
        }
    })
}

/// What a store is and can do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Abilities {
    /// `memory`, `embedded`, `redis` or `redis+quorum`.
    pub scheme: &'static str,
    /// The store notices at once when a client's process is gone.
    pub notices_death: bool,
    /// More than one process can use it.
    pub is_shared: bool,
}
