//! The store for one machine, without a server: SQLite for what is true, the kernel for who is alive and
//! who is next.
//!
//! Every client opens the same directory. A call waits at a file lock (in order, unlike SQLite's own
//! lock), runs the ledger over rows in one transaction, and tells those whom it concerns by datagram.
//! A client whose process dies, in whatever way, is noticed at once: its permits go to the next in line.
//! A reboot voids all leases. Items of queues stay, and whoever pushed one hears of it when it is on the
//! disk. Linux only.
//!
//! A process that is stopped (`SIGSTOP`) in the moment it is inside a call holds up the others until it
//! goes on.

mod boot;
mod database;
mod directory;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod gate;
mod inbox;
mod keeper;
mod line;
mod list;
mod network;
mod parts;
mod presence;
mod rows;
mod trouble;
mod turn;
mod watch;
mod wire;
mod worker;

use std::{
    io,
    os::fd::{BorrowedFd, OwnedFd},
    path::Path,
    sync::{Arc, mpsc},
    thread,
};

use rustix::event::{EventfdFlags, eventfd};
use seinpaal_proto::{Batch, Inbox, Name, Replies, Snapshot, queue};
use tokio::sync::oneshot;

pub use self::directory::default_dir;
use self::{
    keeper::Keeper,
    parts::Parts,
    presence::Presence,
    worker::{Answer, Job, Worker},
};
use super::{
    Abilities, BoxFuture, Certainty, NewsSender, Reading, Store, StoreError, StoreErrorKind,
    Together, clock::Clock,
};

/// One client of the store in a directory. When it is dropped, or its process dies, whatever it still
/// holds is free and its places in line are gone.
#[derive(Debug)]
pub struct EmbeddedStore {
    presence: Presence,
    jobs: Option<mpsc::Sender<Job>>,
    bell: Arc<OwnedFd>,
    first_reading: Reading,
}

impl EmbeddedStore {
    /// Opens the store in `dir` for one client, and makes both if they are not there. Whoever may write
    /// the directory may use the store (for a group: `chmod 2770`). May wait for calls of others.
    ///
    /// # Errors
    /// Nothing was written, or nothing that matters: `Forbidden` (no permission, read-only),
    /// `Misconfigured` (network file system, not a directory, other version), `Corrupt` (not our
    /// database, damaged), `Full`, or `Unreachable`.
    pub fn open(dir: &Path, inbox: Inbox, news: NewsSender) -> Result<Arc<Self>, StoreError> {
        Self::open_with_clock(dir, Clock::System, inbox, news)
    }

    /// The same with a clock that a test moves.
    #[doc(hidden)]
    pub fn open_with_clock(
        dir: &Path,
        clock: Clock,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_with(dir, clock, inbox, news, keeper::log_in(dir))
    }

    /// The same with a disk that a test watches: `sync` is what waits until all that was written is kept.
    #[doc(hidden)]
    pub fn open_with_disk(
        dir: &Path,
        sync: impl FnMut() -> io::Result<()> + Send + 'static,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_with(dir, Clock::System, inbox, news, Box::new(sync))
    }

    fn open_with(
        dir: &Path,
        clock: Clock,
        inbox: Inbox,
        news: NewsSender,
        sync: keeper::Sync,
    ) -> Result<Arc<Self>, StoreError> {
        let (parts, presence) = Parts::open(dir, clock, inbox)?;
        let first_reading = parts.read_clock();
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let bell = Arc::new(eventfd(0, flags).map_err(trouble::at(dir))?);
        let (jobs, inside) = mpsc::channel();
        let worker = Worker::new(parts, news, inside, Arc::clone(&bell), Keeper::new(dir, sync));
        let thread = thread::Builder::new().name("seinpaal-store".to_owned());
        thread.spawn(move || worker.run()).map_err(trouble::at(dir))?;
        Ok(Arc::new(Self { presence, jobs: Some(jobs), bell, first_reading }))
    }

    /// The descriptor that shows that this client lives. A child that inherits it (it is
    /// close-on-exec: clear that flag in the child) keeps the leases of this client alive after this
    /// process is gone. Nothing can be read from it.
    #[must_use]
    pub fn presence_fd(&self) -> BorrowedFd<'_> {
        self.presence.fd()
    }

    /// Puts the child on record that inherits [`presence_fd`](Self::presence_fd): once both it and this
    /// process are gone, the leases end, even if a grandchild has inherited the descriptor as well.
    ///
    /// # Errors
    /// The record could not be written; then the descriptor alone counts.
    pub fn presence_child(&self, pid: u32) -> Result<(), StoreError> {
        self.presence.record_child(pid)
    }

    async fn ask<T>(&self, job: impl FnOnce(Answer<T>) -> Job) -> Result<T, StoreError> {
        let (answer, reply) = oneshot::channel();
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job(answer)).is_ok());
        self.ring();
        match reply.await {
            Ok(reply) if sent => reply,
            _ => Err(thread_is_gone(sent)),
        }
    }

    fn ring(&self) {
        // It can only fail when it has been rung 2^64 times and not been heard.
        let _ = rustix::io::write(&*self.bell, &1_u64.to_ne_bytes());
    }
}

fn thread_is_gone(sent: bool) -> StoreError {
    let certainty = if sent { Certainty::Unknown } else { Certainty::NotExecuted };
    let message = "the thread of the embedded store has ended; please report this";
    StoreError::new(StoreErrorKind::Internal, certainty, message)
}

impl Store for EmbeddedStore {
    fn abilities(&self) -> Abilities {
        Abilities { scheme: "embedded", notices_death: true, is_shared: true }
    }

    fn first_reading(&self) -> Reading {
        self.first_reading
    }

    fn presence(&self) -> Option<BorrowedFd<'_>> {
        Some(self.presence_fd())
    }

    fn record_child(&self, pid: u32) -> Result<(), StoreError> {
        self.presence_child(pid)
    }

    fn forget_child(&self) -> Result<(), StoreError> {
        self.presence.forget_child()
    }

    fn call<'a>(&'a self, batch: &'a Batch) -> BoxFuture<'a, Result<Replies, StoreError>> {
        Box::pin(self.ask(|answer| Job::Call { batch: batch.clone(), answer }))
    }

    fn is_one_step(&self) -> bool {
        true
    }

    fn call_together<'a>(
        &'a self,
        batches: &'a [Batch],
    ) -> BoxFuture<'a, Result<Together, StoreError>> {
        Box::pin(self.ask(|answer| Job::Together { batches: batches.to_vec(), answer }))
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, Snapshot)>, StoreError>> {
        Box::pin(self.ask(|answer| Job::List { prefix: prefix.to_owned(), answer }))
    }

    fn call_queue<'a>(
        &'a self,
        batch: &'a queue::Batch,
    ) -> BoxFuture<'a, Result<queue::Replies, StoreError>> {
        Box::pin(self.ask(|answer| Job::CallQueue { batch: batch.clone(), answer }))
    }

    fn list_queues<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, queue::Snapshot)>, StoreError>> {
        Box::pin(self.ask(|answer| Job::ListQueues { prefix: prefix.to_owned(), answer }))
    }
}

impl Drop for EmbeddedStore {
    fn drop(&mut self) {
        // The thread ends when it finds no sender any more; it is not waited for, because it may stand
        // at the gate.
        self.jobs = None;
        self.ring();
    }
}
