//! Delays answers until their data is on the disk, so that an item whose push was answered survives
//! a power loss.
//!
//! A commit survives the death of every process, and SQLite keeps the order of commits over a power
//! loss. So it is enough to wait until the log is on the disk. That takes milliseconds. A thread of
//! its own waits outside the gate, so that no other client waits, and the next wait serves all
//! pushes that come meanwhile. If the log was written back and begun anew in between, its old
//! content is in the database, which SQLite has synchronised.
//!
//! A long log is written back by the same thread (`backlog.rs`).

use std::{
    io,
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, Sender},
    thread,
};

use seinpaal_proto::queue::{Batch, Replies, Request};
use tokio::sync::oneshot;

use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

/// The channel for the answer to a caller.
pub(super) type AnswerTo<T> = oneshot::Sender<Result<T, StoreError>>;

/// The reason why it is not certain that data is on the disk.
#[derive(Debug)]
pub(super) enum DiskFailure {
    /// The disk was not asked, because a file could not be opened. The next time may succeed.
    NotAsked(io::Error),
    /// The disk could not write. The kernel reports a lost page once, and later says that all is
    /// well. So from now on nothing is certain.
    NotDone(io::Error),
}

/// The disk below the log.
pub(super) trait Disk: Send {
    /// Waits until everything that was written to the log is on the disk.
    fn sync(&mut self) -> Result<(), DiskFailure>;
    /// Writes the log back into the database, as far as no other client is in the way.
    fn write_back(&mut self) -> Result<(), DiskFailure>;
}

/// A disk that a test watches.
pub(super) struct WatchedDisk<F>(pub(super) F);

impl<F: FnMut() -> io::Result<()> + Send> Disk for WatchedDisk<F> {
    fn sync(&mut self) -> Result<(), DiskFailure> {
        self.0().map_err(DiskFailure::NotDone)
    }

    fn write_back(&mut self) -> Result<(), DiskFailure> {
        self.0().map_err(DiskFailure::NotDone)
    }
}

/// The thread that waits for the disk. The first task starts the thread.
pub(super) struct DiskThread {
    dir: PathBuf,
    disk: Option<Box<dyn Disk>>,
    tasks: Option<Sender<DiskTask>>,
}

/// A task that has to wait for the disk.
enum DiskTask {
    Answer(AnswerTo<Replies>, Replies),
    /// A request to write the log back. The thread drops the sender when that is done, which tells
    /// the caller that waits.
    WriteBack(Sender<()>),
}

/// Returns whether the batch has a request whose effect must survive a power loss. These are the
/// requests of operators and producers. If the end of a delivery is lost, the item is only
/// delivered again.
pub(super) fn is_to_be_kept(batch: &Batch) -> bool {
    let is_passing = |request: &Request| {
        let finishes = matches!(request, Request::Finish { .. });
        let works = matches!(request, Request::Pop(_) | Request::Renew(_) | Request::Leave);
        finishes || works || request.reads()
    };
    !batch.requests.iter().all(is_passing)
}

impl DiskThread {
    pub(super) fn new(dir: &Path, disk: Box<dyn Disk>) -> Self {
        Self { dir: dir.to_owned(), disk: Some(disk), tasks: None }
    }

    pub(super) fn answer_later(&mut self, answer: AnswerTo<Replies>, replies: Replies) {
        if let Some(DiskTask::Answer(answer, _)) = self.send(DiskTask::Answer(answer, replies)) {
            let error = io::Error::other("its thread could not be started");
            let _ = answer.send(Err(not_kept(&self.dir, &DiskFailure::NotDone(error))));
        }
    }

    /// Asks the thread to write the log back. The returned channel is disconnected when that is
    /// done.
    pub(super) fn write_back(&mut self) -> Receiver<()> {
        let (done, is_done) = mpsc::channel();
        drop(self.send(DiskTask::WriteBack(done)));
        is_done
    }

    /// Gives the thread a task. Returns the task if there is no thread for it.
    fn send(&mut self, task: DiskTask) -> Option<DiskTask> {
        if let Some(disk) = self.disk.take() {
            let (tasks, inside) = mpsc::channel();
            let dir = self.dir.clone();
            let thread = thread::Builder::new().name("seinpaal-disk".to_owned());
            // Without a thread the receiver is gone, and every task comes back.
            let _ = thread.spawn(move || run_all(&inside, disk, &dir));
            self.tasks = Some(tasks);
        }
        let sent = self.tasks.as_ref().map(|tasks| tasks.send(task));
        sent.and_then(Result::err).map(|lost| lost.0)
    }
}

impl std::fmt::Debug for DiskThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DiskThread").field("dir", &self.dir).finish_non_exhaustive()
    }
}

/// Runs until the store is gone. Once the disk has failed, every later answer is a failure, too.
fn run_all(tasks: &Receiver<DiskTask>, mut disk: Box<dyn Disk>, dir: &Path) {
    let mut failure: Option<DiskFailure> = None;
    while let Ok(first) = tasks.recv() {
        let (mut answers, mut written_back) = (Vec::new(), Vec::new());
        for task in std::iter::once(first).chain(tasks.try_iter()) {
            match task {
                DiskTask::Answer(answer, replies) => answers.push((answer, replies)),
                DiskTask::WriteBack(done) => written_back.push(done),
            }
        }
        // One wait for the disk serves all batches that have come together.
        if !answers.is_empty() && failure.is_none() {
            failure = disk.sync().err();
        }
        // The answers go out before the log is written back, because callers wait for them.
        give(answers, failure.as_ref(), dir);
        if !written_back.is_empty() {
            let error = disk.write_back().err();
            failure = failure.or(error);
        }
        failure = failure.filter(|failure| matches!(failure, DiskFailure::NotDone(_)));
    }
}

/// Sends the answers. An answer for which nobody waits any more is dropped. Its batch was executed
/// all the same.
fn give(answers: Vec<(AnswerTo<Replies>, Replies)>, failure: Option<&DiskFailure>, dir: &Path) {
    for (answer, replies) in answers {
        let done = failure.map_or(Ok(replies), |error| Err(not_kept(dir, error)));
        let _ = answer.send(done);
    }
}

/// Makes the error for a push that was executed but may not survive a power loss.
fn not_kept(dir: &Path, failure: &DiskFailure) -> StoreError {
    let (error, advice) = match failure {
        DiskFailure::NotAsked(error) => (error, "try again"),
        DiskFailure::NotDone(error) => {
            (error, "look after that disk, and start this program again")
        }
    };
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreErrorKind::Full,
        _ => StoreErrorKind::Unreachable,
    };
    let message = format!(
        "cannot keep pushed items in {} over a power loss: {error}; {advice}",
        dir.display()
    );
    StoreError::new(kind, Certainty::Unknown, message)
}

#[cfg(test)]
mod tests;
