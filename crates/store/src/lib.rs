//! The seam between the session and a store. Batches of requests go in and replies come out. The
//! store also sends news unasked, for instance about a grant.

#![forbid(unsafe_code)]

#[cfg(not(unix))]
compile_error!(
    "the crate seinpaal needs a Unix system: its stores use sockets and clocks of one. On Windows use WSL"
);

mod advice;
#[doc(hidden)]
pub mod boottime;
pub mod clock;
#[doc(hidden)]
pub mod examination;
#[doc(hidden)]
pub mod guarded;
pub mod memory;
#[doc(hidden)]
pub mod packed;
#[doc(hidden)]
pub mod room;
mod store_error;
#[doc(hidden)]
pub mod together;
pub mod url;

use std::{fmt, future::Future, io, os::fd::BorrowedFd, pin::Pin, sync::Arc, time::Duration};

use seinpaal_proto::{Batch, Name, Replies, Snapshot, Wakeup, queue, time::Micros};
use tokio::sync::mpsc;

pub use advice::{Advice, Diagnosis, Fact};
pub use clock::Reading;
pub use examination::{Contradiction, Examination};
pub use guarded::{BadGroup, CommandGroup, GuardedError, GuardedWrite, Value};
pub use store_error::{Certainty, StoreError, StoreErrorKind};
pub use together::Together;

/// A boxed future, so that stores can be used as `dyn Store`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The result of a guarded write.
pub type Written<'a> = BoxFuture<'a, Result<Vec<Value>, GuardedError>>;

/// A record in a store's directory that a child signs between fork and exec: see
/// `Seinpaal::presence_record`.
#[derive(Clone, Debug)]
pub struct ChildRecord(#[doc(hidden)] pub Arc<dyn SignedByChild>);

/// The preparation of a store for a child process.
#[doc(hidden)]
pub trait SignedByChild: fmt::Debug + Send + Sync {
    /// See [`ChildRecord::sign`].
    fn sign(&self) -> io::Result<()>;
    /// See [`ChildRecord::finish`].
    fn finish(&self) -> Result<(), StoreError>;
}

impl ChildRecord {
    /// Puts the calling process on record. This makes system calls only, and neither allocates nor
    /// locks, so it may run between fork and exec.
    ///
    /// # Errors
    /// The record could not be written. Then the descriptors alone count.
    pub fn sign(&self) -> io::Result<()> {
        self.0.sign()
    }

    /// Checks that a child has signed. The parent calls this once the child has signed, or will
    /// not sign any more. A record that nobody has signed does not count.
    ///
    /// # Errors
    /// No child has signed.
    pub fn finish(&self) -> Result<(), StoreError> {
        self.0.finish()
    }
}

/// The messages that a store sends unasked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum News {
    /// A ticket of this client has changed.
    Wakeup(Wakeup),
    /// Wakeups may have been lost, because the subscription was interrupted. The client looks again
    /// at everything.
    LookAgain,
    /// A queue at which this client works has changed.
    Queue(queue::Wakeup),
}

/// The channel for [`News`]. Each store is opened with one and keeps it for as long as it lives.
pub type NewsSender = mpsc::UnboundedSender<News>;

/// A store as one client sees it. It was opened for one inbox, at which the client can be reached
/// while the store lives.
///
/// A store executes every batch as [`seinpaal_proto::execute`] would, which is the specification.
/// The futures must be polled inside a tokio runtime with I/O and time enabled. If a future is
/// dropped, nobody knows whether its batch was executed; nothing else breaks.
///
/// No method has a default, so that a store that forwards to another cannot forget one.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Returns the kind of this store, and its abilities.
    fn abilities(&self) -> Abilities;

    /// Returns the store's clock when the store was opened. Every request carries a deadline on
    /// that clock, even the very first one (docs/internals/protocol.md, rule 16).
    fn first_reading(&self) -> Reading;

    /// Returns the longest time for which this client may believe in a lease that it does not
    /// renew. `None`: as long as the lease lasts. Longer ttls are cut to this, except for permits
    /// that are detached.
    fn longest_lease(&self) -> Option<Micros>;

    /// Returns the descriptors by which the store sees that this client lives. A child can inherit
    /// them. `None`: the store has no such descriptors.
    fn presence(&self) -> Option<&dyn Presence>;

    /// Returns the longest ttl for which the store keeps its promises, with the options that it was
    /// opened with. `None`: any ttl.
    fn longest_ttl(&self) -> Option<Duration>;

    /// Finds a working connection when an answer about this name is overdue, because the store has
    /// been silent for `silence`. The future completes once the store has been heard from again or
    /// a new connection is open, or after a bounded time with neither. Calls under way go on. The
    /// next call about the name uses the connection that was found.
    fn reassure<'a>(&'a self, name: &'a Name, silence: Duration) -> BoxFuture<'a, ()>;

    /// Executes a batch, whole or not at all.
    fn call<'a>(&'a self, batch: &'a Batch) -> BoxFuture<'a, Result<Replies, StoreError>>;

    /// Executes a batch on the caller's thread, if that needs no waiting: neither for other calls
    /// nor for a slow disk. `None`: the store declines and has done nothing; use
    /// [`call`](Self::call). A store may decline any batch that would have to wait in the queue.
    /// This needs no runtime.
    fn call_in_place(&self, batch: &Batch) -> Option<Result<Replies, StoreError>>;

    /// Returns whether [`call_in_place`](Self::call_in_place) ever executes a batch.
    fn answers_in_place(&self) -> bool;

    /// Applies a group of commands if all its tickets hold at that moment, and applies nothing
    /// otherwise. A group with the same id is applied once. `None`: this store has no guarded
    /// writes.
    fn guarded<'a>(&'a self, write: &'a GuardedWrite) -> Option<Written<'a>>;

    /// Returns the atomic step in which this store executes batches about several names. `None`:
    /// the store has no such step.
    fn one_step(&self) -> Option<&dyn OneStep>;

    /// Returns the means to execute batches about several names with one round trip. `None`: each
    /// batch takes a round trip of its own.
    fn bundles(&self) -> Option<&dyn Bundles>;

    /// Executes a batch about a queue, whole or not at all, as [`seinpaal_proto::queue::execute`]
    /// would.
    fn call_queue<'a>(
        &'a self,
        batch: &'a queue::Batch,
    ) -> BoxFuture<'a, Result<queue::Replies, StoreError>>;

    /// Lists the queues whose names start with `prefix` and that have items, workers or settings,
    /// in order of name. The snapshots have no rows.
    fn list_queues<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, queue::Snapshot)>, StoreError>>;

    /// Lists the names that start with `prefix` and have holders, waiters or settings, in order of
    /// name. The snapshots list at most 64 waiters and no holders; the totals count all.
    fn list<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, Snapshot)>, StoreError>>;

    /// Asks each server for facts about itself, and for what endangers the promises, for people to
    /// read. Nobody else asks: opening a store does not check its settings, nor the rights of its
    /// user.
    fn diagnose<'a>(&'a self) -> BoxFuture<'a, Result<Diagnosis, StoreError>>;

    /// Looks at the ledgers that are stored here, at most `most` of them, and returns their
    /// contradictions. A ledger that cannot be read is a finding, and does not end the examination.
    fn examine<'a>(&'a self, most: usize) -> BoxFuture<'a, Result<Examination, StoreError>>;
}

/// The means by which a client shows a store that it lives: two descriptors, and a record of the
/// child that has inherited them.
pub trait Presence {
    /// Returns the descriptors: the test of life, and the notice of its end. If a child inherits
    /// both, the store counts the client as alive even after this process is gone.
    fn descriptors(&self) -> [BorrowedFd<'_>; 2];

    /// Returns the descriptors that a child closes which was forked and goes on without `exec`:
    /// [`descriptors`](Self::descriptors), and the descriptor by which this process keeps others
    /// out while it is inside a call.
    fn fork_descriptors(&self) -> [BorrowedFd<'_>; 3];

    /// Records the child that inherits the [`descriptors`](Self::descriptors). Once this process
    /// and the child are both gone, the client is gone, even if other processes have inherited the
    /// descriptors as well.
    ///
    /// # Errors
    /// The record could not be written. Then the descriptors alone count.
    fn record_child(&self, pid: u32) -> Result<(), StoreError>;

    /// Prepares a record that the child signs by itself. `None`: this store has no such record.
    ///
    /// # Errors
    /// The record could not be prepared. Then the descriptors alone count.
    fn child_record(&self) -> Result<Option<ChildRecord>, StoreError>;

    /// Removes the record of the child, so that the descriptors alone count. Call this before
    /// another child inherits them.
    ///
    /// # Errors
    /// The record could not be removed.
    fn forget_child(&self) -> Result<(), StoreError>;
}

/// One atomic step about several names.
pub trait OneStep {
    /// Executes batches about different names, with one acquire each. If every acquire is granted,
    /// all of them hold; otherwise none does.
    fn call_together<'a>(
        &'a self,
        batches: &'a [Batch],
    ) -> BoxFuture<'a, Result<Together, StoreError>>;
}

/// Batches about several names that share a round trip.
pub trait Bundles {
    /// Executes batches about different names, each as [`Store::call`] would, and returns the
    /// result of each, in their order. This is no atomic step: one batch may fail while another is
    /// executed.
    fn call_bundle<'a>(
        &'a self,
        batches: &'a [Batch],
    ) -> BoxFuture<'a, Vec<Result<Replies, StoreError>>>;
}

/// Returns the error of a store without queues. `scheme` is that of the store's URL.
#[doc(hidden)]
#[must_use]
pub fn no_queues(scheme: &str) -> StoreError {
    let message =
        format!("{scheme} keeps no queues: use file:, redis:, redis+sentinel: or redis+cluster:");
    StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
}

/// The kind of a store, and its abilities.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Abilities {
    /// The scheme of the store's URL, like `memory` or `redis`. For the embedded store it is
    /// `embedded`.
    pub scheme: &'static str,
    /// Whether the store notices at once when a client's process is gone.
    pub notices_death: bool,
    /// Whether more than one process can use the store.
    pub is_shared: bool,
}

impl Abilities {
    /// Returns the abilities of a store that more than one process can use. `scheme` is that of its
    /// URL. `notices_death` says whether the store notices at once when a client's process is gone.
    #[must_use]
    pub fn shared(scheme: &'static str, notices_death: bool) -> Self {
        Self { scheme, notices_death, is_shared: true }
    }
}
