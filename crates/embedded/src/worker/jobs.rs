//! The jobs that callers give to the thread, and the answers.

use seinpaal_proto::{Batch, Name, Replies, Reply, Snapshot, queue};
use seinpaal_store::{Examination, StoreError, Together};

use super::{IDLE, Instant, StoreThread};
use crate::{disk::AnswerTo, line::LineOf, list};

/// Names that a list reads at once: the log cannot begin anew while they are read.
const PAGE: usize = 500;

/// A job for the store.
#[derive(Debug)]
pub(crate) enum StoreJob {
    Call { batch: Batch, answer: AnswerTo<Replies> },
    Together { batches: Vec<Batch>, answer: AnswerTo<Together> },
    List { prefix: String, answer: AnswerTo<Vec<(Name, Snapshot)>> },
    Examine { most: usize, answer: AnswerTo<Examination> },
    CallQueue { batch: queue::Batch, answer: AnswerTo<queue::Replies> },
    ListQueues { prefix: String, answer: AnswerTo<Vec<(Name, queue::Snapshot)>> },
}

impl StoreThread {
    pub(super) fn note_that_it_was_asked(&mut self) {
        self.was_asked = true;
        self.tidy_at = Some(Instant::now() + IDLE);
    }

    /// An answer that nobody waits for any more is dropped; the batch was executed all the same.
    pub(super) fn execute(&mut self, job: StoreJob) {
        self.note_that_it_was_asked();
        match job {
            StoreJob::Call { batch, answer } => {
                let _ = answer.send(self.call(&batch));
            }
            StoreJob::Together { batches, answer } => {
                let together = self.turn(|turn| turn.call_together(&batches));
                let _ = answer.send(together.map(|(together, tell)| {
                    self.pass_on(tell);
                    together
                }));
            }
            StoreJob::List { prefix, answer } => {
                let _ = answer.send(self.list(&prefix));
            }
            StoreJob::Examine { most, answer } => {
                let _ = answer.send(self.examine(most));
            }
            StoreJob::CallQueue { batch, answer } => self.answer_queue(&batch, answer),
            StoreJob::ListQueues { prefix, answer } => {
                let _ = answer.send(self.list_queues(&prefix));
            }
        }
    }

    pub(super) fn call(&mut self, batch: &Batch) -> Result<Replies, StoreError> {
        let (replies, tell) = self.turn(|turn| turn.call(batch))?;
        let waits = self.line.note(batch, &replies);
        self.pass_on(tell);
        // From now on this client waits for the holders, so it watches them.
        if waits && replies.replies.iter().any(is_queued) {
            self.look_soon(LineOf::Permits(batch.name.clone()));
        }
        Ok(replies)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(Name, Snapshot)>, StoreError> {
        let mut found = Vec::new();
        let mut names = self.parts.read(|db| list::names(db, prefix))?.into_iter();
        loop {
            let page = names.by_ref().take(PAGE).map(|name| list::look(name, self.parts.me));
            let page: Vec<Batch> = page.collect();
            if page.is_empty() {
                return Ok(found);
            }
            for (batch, seen) in page.iter().zip(self.parts.glance(&page)?) {
                let replies = seen.map_or_else(|| self.inspect(batch), Ok)?;
                found.extend(list::shown(batch.name.clone(), replies));
            }
        }
    }

    fn inspect(&mut self, batch: &Batch) -> Result<Replies, StoreError> {
        let (replies, tell) = self.turn(|turn| turn.call(batch))?;
        self.pass_on(tell);
        Ok(replies)
    }
}

fn is_queued(reply: &Reply) -> bool {
    matches!(reply, Reply::Queued { .. })
}
