//! Answers that wait until the disk has what they say, so that an item that was pushed is there
//! after a power loss.
//!
//! A commit survives the death of every process, and SQLite keeps the order of commits over a power
//! loss. So it is enough to wait until the log is on the disk. That takes milliseconds. A thread of
//! its own does it outside the gate, so that nobody else waits, and the next wait serves all pushes
//! that come meanwhile. If the log was written back and begun anew in between, its old content is
//! in the database, which SQLite has synchronised.
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

/// Where the answer to a caller goes.
pub(super) type AnswerTo<T> = oneshot::Sender<Result<T, StoreError>>;

/// Why it is not certain that the disk has something.
#[derive(Debug)]
pub(super) enum DiskFailure {
    /// The disk was not asked: a file could not be opened. The next time may succeed.
    NotAsked(io::Error),
    /// The disk did not do it. The kernel reports a lost page once, and later says that all is
    /// well; so from now on nothing is certain.
    NotDone(io::Error),
}

/// The log, as far as it is on the disk.
pub(super) trait Disk: Send {
    /// Waits until all that was written to the log is on the disk.
    fn sync(&mut self) -> Result<(), DiskFailure>;
    /// Writes the log back into the database, as far as nobody is in the way.
    fn write_back(&mut self) -> Result<(), DiskFailure>;
}

/// A disk that a test watches.
#[cfg(any(test, feature = "rigged"))]
pub(super) struct WatchedDisk<F>(pub(super) F);

#[cfg(any(test, feature = "rigged"))]
impl<F: FnMut() -> io::Result<()> + Send> Disk for WatchedDisk<F> {
    fn sync(&mut self) -> Result<(), DiskFailure> {
        self.0().map_err(DiskFailure::NotDone)
    }

    fn write_back(&mut self) -> Result<(), DiskFailure> {
        self.0().map_err(DiskFailure::NotDone)
    }
}

/// The thread that waits for the disk. The first task starts it.
pub(super) struct DiskThread {
    dir: PathBuf,
    disk: Option<Box<dyn Disk>>,
    tasks: Option<Sender<DiskTask>>,
}

/// Work that has to wait for the disk.
enum DiskTask {
    Answer(AnswerTo<Replies>, Replies),
    /// The thread drops the sender when the log is written back, which tells the caller that waits
    /// for it.
    WriteBack(Sender<()>),
}

/// Returns whether the batch has something that must survive a power loss. That is what people and
/// producers say. If a worker's end of a delivery is lost, its item is delivered again.
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

    /// Has the log written back. The returned channel is disconnected when that is done.
    pub(super) fn write_back(&mut self) -> Receiver<()> {
        let (done, is_done) = mpsc::channel();
        drop(self.send(DiskTask::WriteBack(done)));
        is_done
    }

    /// Returns the task if there is no thread for it.
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
        // Before the log is written back, because callers wait for these answers.
        give(answers, failure.as_ref(), dir);
        if !written_back.is_empty() {
            let error = disk.write_back().err();
            failure = failure.or(error);
        }
        failure = failure.filter(|failure| matches!(failure, DiskFailure::NotDone(_)));
    }
}

/// An answer that nobody waits for any more is dropped. Its batch was executed all the same.
fn give(answers: Vec<(AnswerTo<Replies>, Replies)>, failure: Option<&DiskFailure>, dir: &Path) {
    for (answer, replies) in answers {
        let done = failure.map_or(Ok(replies), |error| Err(not_kept(dir, error)));
        let _ = answer.send(done);
    }
}

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
        "cannot keep what was pushed in {} over a power loss: {error}; {advice}",
        dir.display()
    );
    StoreError::new(kind, Certainty::Unknown, message)
}

#[cfg(test)]
mod tests;
