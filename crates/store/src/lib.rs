//! The seam between the session and a store: batches of requests go in, replies come out, and now and
//! then the store says that something happened.

#![forbid(unsafe_code)]

#[cfg(not(unix))]
compile_error!(
    "the crate seinpaal needs a Unix system: its stores use sockets and clocks of one. On Windows use WSL"
);

mod advice;
#[doc(hidden)]
pub mod boottime;
pub mod clock;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
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

pub use advice::{Advice, Fact};
pub use clock::Reading;
pub use guarded::{BadGroup, Group, GuardedError, GuardedWrite, Value};
pub use store_error::{Certainty, StoreError, StoreErrorKind};
pub use together::Together;

/// A boxed future, so that stores can be used as `dyn Store`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What becomes of a guarded write.
pub type Written<'a> = BoxFuture<'a, Result<Vec<Value>, GuardedError>>;

/// A record in a store's directory that a child signs between fork and exec: see
/// `Seinpaal::presence_record`.
#[derive(Clone, Debug)]
pub struct ChildRecord(#[doc(hidden)] pub Arc<dyn SignedByChild>);

/// What a store prepares for the child.
#[doc(hidden)]
pub trait SignedByChild: fmt::Debug + Send + Sync {
    /// See [`ChildRecord::sign`].
    fn sign(&self) -> io::Result<()>;
    /// See [`ChildRecord::finish`].
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
///
/// No method has a default, so that a store that forwards to another cannot forget one.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// What this store is and can do.
    fn abilities(&self) -> Abilities;

    /// What the store's clock showed when it was opened. Requests carry a deadline on that clock, the very first
    /// one too (docs/internals/protocol.md, rule 16).
    fn first_reading(&self) -> Reading;

    /// The longest that this client may believe in a lease without being heard from; `None`: as long as the
    /// lease lasts. Longer ttls are cut to it, but for permits that are detached.
    fn longest_lease(&self) -> Option<Micros>;

    /// How the store sees that this client lives, if a child can be part of that; `None`: it goes by something else.
    fn sign_of_life(&self) -> Option<&dyn SignOfLife>;

    /// The longest ttl for which this store keeps its promises as it was opened; `None`: any.
    fn longest_ttl(&self) -> Option<Duration>;

    /// What should be changed about the store so that its promises hold, a line each; for people.
    fn advice(&self) -> Vec<Advice>;

    /// What is known about the store.
    fn facts(&self) -> Vec<Fact>;

    /// An answer about this name is overdue: nothing came for `silence`. Completes once there is a way to the store that
    /// was heard from since, or a new one; or after a while without. What is under way stays so. The next call about the
    /// name goes that way.
    fn reassure<'a>(&'a self, name: &'a Name, silence: Duration) -> BoxFuture<'a, ()>;

    /// Executes a batch, whole or not at all.
    fn call<'a>(&'a self, batch: &'a Batch) -> BoxFuture<'a, Result<Replies, StoreError>>;

    /// Executes a batch on the thread that asks, if that waits for nobody: neither for others that are inside a call nor
    /// for a disk that is slow. `None`: it cannot, and nothing was done; [`call`](Self::call) does it. A store may decline
    /// whatever would queue. Needs no runtime.
    fn call_in_place(&self, batch: &Batch) -> Option<Result<Replies, StoreError>>;

    /// Whether [`call_in_place`](Self::call_in_place) ever does something.
    fn answers_in_place(&self) -> bool;

    /// How calls of this store are sent on the thread of whoever asks; `None`: a task of the store's sends them.
    fn sends_in_place(&self) -> Option<&dyn SendsInPlace>;

    /// Applies a group of commands, once for its id, if its tickets hold at that moment; else nothing of it.
    /// `None`: this store keeps permits and nothing else.
    fn guarded<'a>(&'a self, write: &'a GuardedWrite) -> Option<Written<'a>>;

    /// The step in which this store executes batches about different names; `None`: it has none.
    fn one_step(&self) -> Option<&dyn OneStep>;

    /// Executes a batch about a queue, whole or not at all, as [`seinpaal_proto::queue::execute`] would.
    fn call_queue<'a>(
        &'a self,
        batch: &'a queue::Batch,
    ) -> BoxFuture<'a, Result<queue::Replies, StoreError>>;

    /// Lists the queues whose names start with `prefix` and that have items, workers or something
    /// configured, in order of name. The snapshots have no rows.
    fn list_queues<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, queue::Snapshot)>, StoreError>>;

    /// Lists the names that start with `prefix` and have holders, waiters or something configured, in
    /// order of name. The snapshots list at most 64 waiters and no holders; the totals count all.
    fn list<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, Snapshot)>, StoreError>>;
}

/// How a store shows that a client lives, where that is a descriptor, and a record of who else has it.
pub trait SignOfLife {
    /// The descriptor. A child that inherits it keeps the client alive in the store's eyes after this process is gone.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// Puts the child on record that inherits the [`descriptor`](Self::descriptor): once it and this process are
    /// both gone the client is, too, whoever else has inherited the descriptor.
    ///
    /// # Errors
    /// The record could not be written; then the descriptor alone counts.
    fn record_child(&self, pid: u32) -> Result<(), StoreError>;

    /// Prepares a record that the child signs by itself; `None`: where there is none to be had.
    ///
    /// # Errors
    /// It could not be prepared; then the descriptor alone counts.
    fn child_record(&self) -> Result<Option<ChildRecord>, StoreError>;

    /// Takes the child off the record again: the descriptor alone counts. Do it before another child inherits it.
    ///
    /// # Errors
    /// The record could not be removed.
    fn forget_child(&self) -> Result<(), StoreError>;
}

/// Calls that are sent on the thread of whoever asks.
pub trait SendsInPlace {
    /// Has `ask` poll calls of this store for the first time, and sends on this thread what they ask: no task of the
    /// store's is woken for that.
    fn send(&self, ask: &mut dyn FnMut());
}

/// One atomic step about several names.
pub trait OneStep {
    /// Executes batches about different names, of one acquire each: all of them if every request is granted, else
    /// none.
    fn call_together<'a>(
        &'a self,
        batches: &'a [Batch],
    ) -> BoxFuture<'a, Result<Together, StoreError>>;
}

/// What a store of this scheme answers about a queue, if it keeps none.
#[doc(hidden)]
#[must_use]
pub fn no_queues(scheme: &str) -> StoreError {
    let message =
        format!("{scheme} keeps no queues: use file:, redis:, redis+sentinel: or redis+cluster:");
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

impl Abilities {
    /// Those of a store that more than one process can use. `scheme` is its URL's; `notices_death` says that it
    /// notices at once when a client's process is gone.
    #[must_use]
    pub fn shared(scheme: &'static str, notices_death: bool) -> Self {
        Self { scheme, notices_death, is_shared: true }
    }
}
