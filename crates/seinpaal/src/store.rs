//! The seam between the session and a store: batches of requests go in, replies come out, and now and
//! then the store says that something happened.

pub mod clock;
#[cfg(feature = "embedded")]
pub mod embedded;
pub mod memory;
#[cfg(feature = "redis")]
pub mod redis;
pub mod url;

use std::{fmt, future::Future, pin::Pin};

use seinpaal_proto::{Batch, Replies, Snapshot, Wakeup};
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

    /// Executes a batch, whole or not at all.
    fn call<'a>(&'a self, batch: &'a Batch) -> BoxFuture<'a, Result<Replies, StoreError>>;

    /// Lists the names that start with `prefix` and have holders, waiters or something configured, in
    /// order of name. The snapshots list at most 64 waiters and no holders; the totals count all.
    fn list<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(seinpaal_proto::Name, Snapshot)>, StoreError>>;
}

/// What a store is and can do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Abilities {
    /// `memory`, `embedded` or `redis`.
    pub scheme: &'static str,
    /// The store notices at once when a client's process is gone.
    pub notices_death: bool,
    /// More than one process can use it.
    pub is_shared: bool,
}
