//! The store for one machine, without a server. SQLite keeps the state. The kernel tells which
//! clients are alive and which one enters next.
//!
//! Every client opens the same directory. A call waits at a file lock, which serves waiters in
//! order, unlike SQLite's own lock. It then runs the ledger over rows in one transaction, and tells
//! the clients concerned by datagram. The death of a client's process, of whatever cause, is
//! noticed at once, and its permits go to the next waiter in line. If the first waiters die with
//! it, that takes up to a second. A reboot voids all leases. Items of queues stay, and a push is
//! answered when its item is on the disk. Linux only.
//!
//! A process that is stopped (`SIGSTOP`) while it is inside a call holds up the others until it
//! goes on.

// Unsafe code is in two modules only, `index.rs` and `log.rs`, with its proofs beside it.
#![deny(unsafe_code)]

#[cfg(not(any(target_os = "linux", all(target_vendor = "apple", seinpaal_untried))))]
compile_error!(
    "the feature \"embedded\" of the crate seinpaal needs Linux, by which it tells a dead process, a reboot and a \
     network file system. Leave the feature out: the other stores need any Unix"
);

mod backlog;
mod bell;
mod boot;
mod database;
mod directory;
mod disk;
mod facts;
mod gate;
mod glance;
mod hangup;
mod inbox;
mod index;
mod line;
#[doc(hidden)] // used by fuzz/
pub mod list;
mod log;
mod name_state;
mod network;
mod open_options;
mod opening;
mod pages;
mod parts;
mod presence;
mod record;
mod rights;
#[doc(hidden)] // used by fuzz/
pub mod rows;
mod seam;
mod small;
mod socket;
mod stay;
#[doc(hidden)] // used by fuzz/
pub mod tables;
#[doc(hidden)] // used by fuzz/
pub mod trouble;
mod turn;
mod watch;
#[doc(hidden)] // used by fuzz/
pub mod wire;
mod worker;

use std::{
    os::fd::{AsFd, BorrowedFd},
    path::{Path, PathBuf},
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use seinpaal_proto::Inbox;
use tokio::sync::oneshot;

pub use self::directory::default_dir;
#[doc(hidden)]
pub use self::open_options::OpenOptions;
use self::{
    bell::Bell,
    disk::AnswerTo,
    gate::GateWait,
    parts::Signs,
    stay::Stay,
    worker::{StoreJob, StoreThread},
};
use seinpaal_store::{Certainty, NewsSender, Reading, StoreError, StoreErrorKind, room::Room};

/// The target under which events are logged. It is the path by which users of the crate `seinpaal`
/// know this store.
const TARGET: &str = "seinpaal::store::embedded";

/// A client of the store in a directory. When it is dropped, or its process dies, all its permits
/// are free and its places in line are gone.
#[derive(Debug)]
pub struct EmbeddedStore {
    place: PathBuf,
    signs: Signs,
    jobs: Option<mpsc::Sender<StoreJob>>,
    /// The room in which the thread works.
    room: Option<Arc<Room<StoreThread>>>,
    bell: Arc<Bell>,
    wait: Arc<GateWait>,
    first_reading: Reading,
    process: u32,
    /// Whether the thread was started.
    is_started: AtomicBool,
    stay: Stay,
}

/// How often a caller that waits for the thread looks whether the thread stands at the gate.
const LOOK: Duration = Duration::from_secs(1);

impl EmbeddedStore {
    /// Opens the store in `dir` for one client, and makes the directory and the store if they are
    /// not there. A user who may write to the directory may use the store (for a group:
    /// `chgrp GROUP DIR; chmod 2770 DIR`). Waits up to five seconds for calls of others. A process
    /// may have any number of stores open, in one directory too.
    ///
    /// # Errors
    /// Nothing of importance was written: `Forbidden` (no permission, read-only, a directory or
    /// file of another user, a symbolic link), `Misconfigured` (network file system, not a
    /// directory, other version), `Corrupt` (not our database, damaged), `Full`, or `Unreachable`
    /// (another process keeps the gate locked).
    ///
    /// # Forks
    /// A child that was forked and did not execute another program shares nothing of the store. Its
    /// calls are answered with an error, and if it drops the store, the store stays its parent's.
    pub fn open(dir: &Path, inbox: Inbox, news: NewsSender) -> Result<Arc<Self>, StoreError> {
        Self::open_with(dir, OpenOptions::default(), inbox, news)
    }

    /// Opens the store as [`open`](Self::open) does, on a thread of the current tokio runtime and
    /// without blocking that thread. If the future is dropped before it completes, nothing is left
    /// behind.
    ///
    /// If no other client is in the way, the store begins without a thread of its own. The thread
    /// is started when there is something to wait for, or else after a moment.
    ///
    /// # Errors
    /// As with [`open`](Self::open).
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn open_soon(
        dir: &Path,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_for(Stay::UntilDropped, dir, inbox, news).await
    }

    /// Opens the store as [`open_soon`](Self::open_soon) does, in a process that ends with the
    /// store. That takes less work, because the kernel closes the descriptors that are still open
    /// then.
    ///
    /// # Errors
    /// As with [`open`](Self::open).
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[doc(hidden)]
    pub async fn open_until_exit(
        dir: &Path,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_for(Stay::UntilExit, dir, inbox, news).await
    }

    /// Starts the thread, if it was not started yet.
    fn start(&self) -> Result<(), StoreError> {
        let Some(room) = &self.room else { return Ok(()) };
        if self.process != process::id() || self.is_started.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let room = Arc::clone(room);
        let started = thread_of_store().spawn(move || StoreThread::serve(&room));
        if let Err(error) = started {
            self.is_started.store(false, Ordering::SeqCst);
            return Err(trouble::at(&self.place)(error));
        }
        Ok(())
    }

    /// Returns the descriptors that show that this client lives: a locked file, which is the test,
    /// and a socket, by which others hear at once of its end. If a child inherits both (they are
    /// close-on-exec: clear that flag in the child), the leases of this client stay alive after
    /// this process is gone. Only ever close them: the lock is shared by all processes that have
    /// inherited it.
    #[must_use]
    pub fn presence_fds(&self) -> [BorrowedFd<'_>; 2] {
        self.signs.presence.fds()
    }

    /// Returns the descriptors that a child closes if it was forked and goes on without `exec`:
    /// [`presence_fds`](Self::presence_fds), and the descriptor of the gate. A child that keeps the
    /// last one open keeps every client out if this process is killed inside a call.
    #[must_use]
    pub fn fork_fds(&self) -> [BorrowedFd<'_>; 3] {
        let [lock, listener] = self.presence_fds();
        [lock, listener, self.signs.gate.as_fd()]
    }

    /// Records the child that inherits [`presence_fds`](Self::presence_fds). Once both the child
    /// and this process are gone, the leases end, even if a grandchild has inherited the
    /// descriptors as well.
    ///
    /// # Errors
    /// The record could not be written. Then the descriptors alone count.
    pub fn presence_child(&self, pid: u32) -> Result<(), StoreError> {
        self.signs.presence.record_child(pid)
    }

    /// Gives the thread a job and waits for its answer. While it waits, it looks once a second
    /// whether the thread stands at the gate for too long.
    async fn ask<T>(&self, job: impl FnOnce(AnswerTo<T>) -> StoreJob) -> Result<T, StoreError> {
        if self.process != process::id() {
            return Err(is_forked());
        }
        self.start()?;
        let (answer, reply) = oneshot::channel();
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job(answer)).is_ok());
        self.bell.ring();
        let mut reply = reply;
        loop {
            match tokio::time::timeout(LOOK, &mut reply).await {
                Ok(Ok(reply)) if sent => return reply,
                Ok(_) => return Err(thread_is_gone(sent)),
                // The thread executes the job once it gets in.
                Err(_) => self.wait.trouble(Certainty::Unknown).map_or(Ok(()), Err)?,
            }
        }
    }
}

fn thread_of_store() -> thread::Builder {
    thread::Builder::new().name("seinpaal-store".to_owned())
}

/// Makes the error for a forked child. It has our memory, but not our thread, and SQLite must not
/// be used across a fork.
fn is_forked() -> StoreError {
    let message = "this process was forked from the one that opened the store; open it again here";
    StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
}

fn thread_is_gone(sent: bool) -> StoreError {
    let certainty = if sent { Certainty::Unknown } else { Certainty::NotExecuted };
    let message = "the thread of the embedded store has ended; please report this";
    StoreError::new(StoreErrorKind::Internal, certainty, message)
}

impl Drop for EmbeddedStore {
    fn drop(&mut self) {
        // The thread ends when it finds no sender any more. Nobody waits for that, because the
        // thread may stand at the gate.
        self.jobs = None;
        let room = self.room.take();
        if self.process == process::id() {
            let has_thread = self.is_started.load(Ordering::SeqCst);
            if let Some(mut worker) = room.filter(|_| !has_thread).and_then(|room| room.close()) {
                worker.part();
                if self.stay == Stay::UntilExit {
                    std::mem::forget(worker);
                }
                return; // nobody hears the bell
            }
        } else {
            std::mem::forget(room); // the parts inside are the parent's
        }
        self.bell.ring();
    }
}
