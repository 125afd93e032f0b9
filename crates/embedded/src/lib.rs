//! The store for one machine, without a server. SQLite keeps the state. The kernel tells which
//! clients are alive and which one is next.
//!
//! Every client opens the same directory. A call waits at a file lock, which serves waiters in
//! order, unlike SQLite's own lock. It then runs the ledger over rows in one transaction, and tells
//! the clients concerned by datagram. The death of a client's process, in whatever way, is noticed
//! at once, and its permits go to the next in line. A reboot voids all leases. Items of queues
//! stay, and a push is answered when its item is on the disk. Linux only.
//!
//! A process that is stopped (`SIGSTOP`) while it is inside a call holds up the others until it
//! goes on.

// With two exceptions, which have their proofs beside them: `index.rs` and `log.rs`.
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
mod facts;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod gate;
mod glance;
mod hangup;
mod inbox;
mod index;
mod keeper;
mod line;
mod list;
mod log;
mod name_state;
mod network;
mod parts;
mod presence;
mod record;
#[cfg(feature = "rigged")]
mod rigged;
mod rights;
mod rows;
mod small;
mod socket;
mod stay;
mod tables;
mod trouble;
mod turn;
mod watch;
mod wire;
mod worker;

use std::{
    os::fd::BorrowedFd,
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

use seinpaal_proto::{Batch, Inbox, Name, Replies, Snapshot, queue, time::Micros};
use tokio::sync::oneshot;

pub use self::directory::default_dir;
use self::{
    bell::Bell,
    gate::GateWait,
    keeper::{AnswerTo, Keeper},
    log::LogOnDisk,
    parts::{Parts, Signs},
    stay::Stay,
    worker::{Job, Worker, in_place},
};
use seinpaal_store::{
    Abilities, Advice, BoxFuture, Bundles, Certainty, ChildRecord, Fact, GuardedWrite, NewsSender,
    OneStep, Presence, Reading, SendsInPlace, Store, StoreError, StoreErrorKind, Together, Written,
    clock::Clock, room::Room,
};

/// Where events are logged: where users of the crate `seinpaal` find this store.
const TARGET: &str = "seinpaal::store::embedded";

/// One client of the store in a directory. When it is dropped, or its process dies, everything that
/// it holds is free and its places in line are gone.
#[derive(Debug)]
pub struct EmbeddedStore {
    place: PathBuf,
    signs: Signs,
    jobs: Option<mpsc::Sender<Job>>,
    /// Where the thread works.
    room: Option<Arc<Room<Worker>>>,
    bell: Arc<Bell>,
    wait: Arc<GateWait>,
    first_reading: Reading,
    process: u32,
    /// Whether the thread was started.
    is_started: AtomicBool,
    stay: Stay,
}

/// How long a store that was opened without a thread goes without one. A thread is there for what comes from others,
/// and most commands that end sooner would only wait for it.
const ALONE: Duration = Duration::from_millis(20);

/// How often a caller that waits for the thread looks whether the thread stands at the gate.
const LOOK: Duration = Duration::from_secs(1);

type Opened = Result<(Signs, Reading), StoreError>;

impl EmbeddedStore {
    /// Opens the store in `dir` for one client, and makes both if they are not there. Whoever may write
    /// the directory may use the store (for a group: `chgrp GROUP DIR; chmod 2770 DIR`). Waits up to five seconds
    /// for calls of others. A process may have any number of stores open, in one directory too.
    ///
    /// # Errors
    /// Nothing was written, or nothing that matters: `Forbidden` (no permission, read-only, somebody else's
    /// directory or file, a symbolic link), `Misconfigured` (network file system, not a directory, other version),
    /// `Corrupt` (not our database, damaged), `Full`, or `Unreachable` (another process keeps the gate locked).
    ///
    /// # Forks
    /// A child that was forked and did not execute another program shares nothing of the store: what it asks is
    /// answered with an error, and what it drops stays its parent's.
    pub fn open(dir: &Path, inbox: Inbox, news: NewsSender) -> Result<Arc<Self>, StoreError> {
        Self::open_with(dir, Clock::System, inbox, news, None)
    }

    /// Opens the store as [`open`](Self::open) does, on a thread of the current tokio runtime and without waiting on it.
    /// Dropped before that, it leaves nothing.
    ///
    /// If nobody is in the way, the store begins without a thread of its own. The thread is started when there is
    /// something to wait for, and otherwise after a moment.
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

    /// Opens the store as [`open_soon`](Self::open_soon) does, in a process that ends with it: that takes less work. What
    /// is open then is left to the kernel to close.
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

    async fn open_for(
        stay: Stay,
        dir: &Path,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        if let Some(store) = Self::open_alone(stay, dir, inbox, &news) {
            let soon = Arc::downgrade(&store);
            tokio::spawn(async move {
                tokio::time::sleep(ALONE).await;
                if let Some(Err(error)) = soon.upgrade().map(|store| store.start()) {
                    tracing::warn!(target: TARGET, %error, "the store has no thread");
                }
            });
            return Ok(store);
        }
        let (tell, mut opened) = oneshot::channel();
        let tell = move |done| tell.send(done).is_ok();
        let opening = Opening::begin(dir, Clock::System, inbox, news, None, tell)?;
        loop {
            match tokio::time::timeout(LOOK, &mut opened).await {
                Ok(Ok(done)) => return Ok(opening.end(done?, true)),
                Ok(Err(_)) => return Err(thread_is_gone(false)),
                Err(_) => opening.wait.trouble(Certainty::NotExecuted).map_or(Ok(()), Err)?,
            }
        }
    }

    /// Opens the store on this thread. `None`: that would take waiting, or fail.
    fn open_alone(stay: Stay, dir: &Path, inbox: Inbox, news: &NewsSender) -> Option<Arc<Self>> {
        let (bell, wait) = (Arc::new(Bell::new().ok()?), Arc::new(GateWait::new(dir)));
        let (parts, signs) = Parts::try_open(dir, Clock::System, inbox, Arc::clone(&wait), stay)?;
        let keeper = Keeper::new(dir, Box::new(LogOnDisk::new(parts.database().to_owned())));
        let (jobs, inside) = mpsc::channel();
        let first_reading = parts.read_clock();
        let room = Arc::new(Room::new());
        room.open(Worker::new(parts, news.clone(), inside, Arc::clone(&bell), keeper));
        let opening = Opening { place: dir.to_owned(), jobs, room, bell, wait, stay };
        Some(opening.end((signs, first_reading), false))
    }

    /// Starts the thread, if it was not started yet.
    fn start(&self) -> Result<(), StoreError> {
        let Some(room) = &self.room else { return Ok(()) };
        if self.process != process::id() || self.is_started.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let room = Arc::clone(room);
        let started = thread_of_store().spawn(move || Worker::serve(&room));
        if let Err(error) = started {
            self.is_started.store(false, Ordering::SeqCst);
            return Err(trouble::at(&self.place)(error));
        }
        Ok(())
    }

    fn open_with(
        dir: &Path,
        clock: Clock,
        inbox: Inbox,
        news: NewsSender,
        disk: Option<Box<dyn keeper::Disk>>,
    ) -> Result<Arc<Self>, StoreError> {
        let (tell, opened) = mpsc::channel();
        let tell = move |done| tell.send(done).is_ok();
        let opening = Opening::begin(dir, clock, inbox, news, disk, tell)?;
        let done = is_opened(&opened, &opening.wait)?;
        Ok(opening.end(done, true))
    }

    /// The descriptors that show that this client lives: a locked file, which is the test, and a socket, by which
    /// others hear at once of its end. A child that inherits both (they are close-on-exec: clear that flag in the
    /// child) keeps the leases of this client alive after this process is gone. Close them, and do nothing else with
    /// them: the lock is one for all who have inherited it.
    #[must_use]
    pub fn presence_fds(&self) -> [BorrowedFd<'_>; 2] {
        self.signs.presence.fds()
    }

    /// Puts the child on record that inherits [`presence_fds`](Self::presence_fds): once both it and this
    /// process are gone, the leases end, even if a grandchild has inherited the descriptors as well.
    ///
    /// # Errors
    /// The record could not be written; then the descriptors alone count.
    pub fn presence_child(&self, pid: u32) -> Result<(), StoreError> {
        self.signs.presence.record_child(pid)
    }

    async fn ask<T>(&self, job: impl FnOnce(AnswerTo<T>) -> Job) -> Result<T, StoreError> {
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

/// A store whose thread is opening it.
struct Opening {
    place: PathBuf,
    jobs: mpsc::Sender<Job>,
    room: Arc<Room<Worker>>,
    bell: Arc<Bell>,
    wait: Arc<GateWait>,
    stay: Stay,
}

impl Opening {
    /// Starts the thread. It tells how the opening went, and goes on if somebody has heard that.
    fn begin(
        dir: &Path,
        clock: Clock,
        inbox: Inbox,
        news: NewsSender,
        disk: Option<Box<dyn keeper::Disk>>,
        tell: impl FnOnce(Opened) -> bool + Send + 'static,
    ) -> Result<Self, StoreError> {
        let bell = Arc::new(Bell::new().map_err(trouble::at(dir))?);
        let wait = Arc::new(GateWait::new(dir));
        let (jobs, inside) = mpsc::channel();
        let room = Arc::new(Room::new());
        let place_of_work = Arc::clone(&room);
        let (place, waits, rung) = (dir.to_owned(), Arc::clone(&wait), Arc::clone(&bell));
        let live = move || match Parts::open(&place, clock, inbox, waits) {
            Ok((parts, signs)) => {
                let log = || Box::new(LogOnDisk::new(parts.database().to_owned())) as _;
                let keeper = Keeper::new(&place, disk.unwrap_or_else(log));
                // If the caller has given up waiting, the signs are dropped with the channel.
                if tell(Ok((signs, parts.read_clock()))) {
                    Worker::new(parts, news, inside, rung, keeper).run(&place_of_work);
                }
            }
            Err(error) => drop(tell(Err(error))),
        };
        thread_of_store().spawn(live).map_err(trouble::at(dir))?;
        let stay = Stay::UntilDropped;
        Ok(Self { place: dir.to_owned(), jobs, room, bell, wait, stay })
    }

    fn end(self, (signs, first_reading): (Signs, Reading), is_started: bool) -> Arc<EmbeddedStore> {
        let Self { place, jobs, room, bell, wait, stay } = self;
        let (jobs, room, process) = (Some(jobs), Some(room), process::id());
        let is_started = AtomicBool::new(is_started);
        Arc::new(EmbeddedStore {
            place,
            signs,
            jobs,
            room,
            bell,
            wait,
            first_reading,
            process,
            is_started,
            stay,
        })
    }
}

fn thread_of_store() -> thread::Builder {
    thread::Builder::new().name("seinpaal-store".to_owned())
}

/// Waits until the thread has opened everything, or stands at the gate for too long.
fn is_opened(opened: &mpsc::Receiver<Opened>, wait: &GateWait) -> Opened {
    loop {
        match opened.recv_timeout(LOOK) {
            Ok(opened) => return opened,
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(thread_is_gone(false)),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                wait.trouble(Certainty::NotExecuted).map_or(Ok(()), Err)?;
            }
        }
    }
}

/// A child has our memory after a fork, but not our thread, and SQLite must not be used across a fork.
fn is_forked() -> StoreError {
    let message = "this process was forked from the one that opened the store; open it again here";
    StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
}

fn thread_is_gone(sent: bool) -> StoreError {
    let certainty = if sent { Certainty::Unknown } else { Certainty::NotExecuted };
    let message = "the thread of the embedded store has ended; please report this";
    StoreError::new(StoreErrorKind::Internal, certainty, message)
}

impl Store for EmbeddedStore {
    fn abilities(&self) -> Abilities {
        Abilities::shared("embedded", true)
    }

    fn first_reading(&self) -> Reading {
        self.first_reading
    }

    fn advice(&self) -> Vec<Advice> {
        let place = self.place.display().to_string();
        facts::advice(&self.place).into_iter().map(|advice| advice.at(&place)).collect()
    }

    fn facts(&self) -> Vec<Fact> {
        facts::of(&self.place)
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
        Box::pin(self.ask(|answer| Job::Call { batch: batch.clone(), answer }))
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

    fn sends_in_place(&self) -> Option<&dyn SendsInPlace> {
        None
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

impl Presence for EmbeddedStore {
    fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        self.presence_fds()
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
        Box::pin(self.ask(|answer| Job::Together { batches: batches.to_vec(), answer }))
    }
}

impl Drop for EmbeddedStore {
    fn drop(&mut self) {
        // The thread ends when it finds no sender any more; it is not waited for, because it may stand
        // at the gate.
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
            std::mem::forget(room); // what is inside is the parent's
        }
        self.bell.ring();
    }
}
