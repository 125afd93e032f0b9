//! Answers that are given once the disk has what they say: an item that was pushed is there after a power
//! loss.
//!
//! A commit alone survives the death of every process, and SQLite keeps the order of commits over a power
//! loss, so all that is missing is to wait until the log is on the disk. That takes milliseconds, and is done
//! outside the gate and in a thread of its own: nobody else waits for it, and pushes that come meanwhile are
//! kept together by the next one. What the log had before it was written back and begun anew is in the
//! database by then, which SQLite has synchronised.

use std::{
    io,
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, Sender},
    thread,
};

use seinpaal_proto::queue::{Batch, Replies, Request};

use super::worker::Answer;
use crate::store::{Certainty, StoreError, StoreErrorKind};

/// Waits until all that was written to the log is on the disk.
pub(super) type Sync = Box<dyn FnMut() -> io::Result<()> + Send>;

/// Where answers wait for the disk. The thread is started by the first.
pub(super) struct Keeper {
    dir: PathBuf,
    sync: Option<Sync>,
    waiting: Option<Sender<Waiting>>,
}

type Waiting = (Answer<Replies>, Replies);

/// Whether there is something in it that must survive a power loss: what people and producers say. What
/// workers say may be lost then, and their items are delivered again.
pub(super) fn is_to_be_kept(batch: &Batch) -> bool {
    let is_passing = |request: &Request| {
        let finishes = matches!(request, Request::Finish { .. });
        let works = matches!(request, Request::Pop(_) | Request::Renew(_) | Request::Leave);
        finishes || works || request.reads()
    };
    !batch.requests.iter().all(is_passing)
}

impl Keeper {
    pub(super) fn new(dir: &Path, sync: Sync) -> Self {
        Self { dir: dir.to_owned(), sync: Some(sync), waiting: None }
    }

    pub(super) fn answer_later(&mut self, answer: Answer<Replies>, replies: Replies) {
        if let Some(sync) = self.sync.take() {
            let (waiting, inside) = mpsc::channel();
            let dir = self.dir.clone();
            let thread = thread::Builder::new().name("seinpaal-disk".to_owned());
            // Without a thread the receiver is gone, and so is every answer: that is told below.
            let _ = thread.spawn(move || answer_all(&inside, sync, &dir));
            self.waiting = Some(waiting);
        }
        let lost = match &self.waiting {
            Some(waiting) => waiting.send((answer, replies)).err().map(|lost| lost.0),
            None => None,
        };
        if let Some((answer, _)) = lost {
            let error = io::Error::other("its thread could not be started");
            let _ = answer.send(Err(not_kept(&self.dir, &error)));
        }
    }
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").field("dir", &self.dir).finish_non_exhaustive()
    }
}

/// Until the store is gone. After a failure nothing is believed any more: the kernel tells it once, and says
/// later that all is well though pages were given up.
fn answer_all(waiting: &Receiver<Waiting>, mut sync: Sync, dir: &Path) {
    let mut failure: Option<io::Error> = None;
    while let Ok(first) = waiting.recv() {
        let together: Vec<Waiting> = std::iter::once(first).chain(waiting.try_iter()).collect();
        if failure.is_none() {
            failure = sync().err();
        }
        for (answer, replies) in together {
            let done = failure.as_ref().map_or(Ok(replies), |error| Err(not_kept(dir, error)));
            // Nobody waits for it any more; it was done all the same.
            let _ = answer.send(done);
        }
    }
}

fn not_kept(dir: &Path, error: &io::Error) -> StoreError {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreErrorKind::Full,
        _ => StoreErrorKind::Unreachable,
    };
    let message = format!(
        "cannot keep what was pushed in {} over a power loss: {error}; look after that disk, and start this \
         program again",
        dir.display()
    );
    StoreError::new(kind, Certainty::Unknown, message)
}

#[cfg(test)]
mod tests;
