//! Queues, in the one thread of a store.

use seinpaal_proto::{Name, queue};

use super::StoreThread;
use crate::{
    disk::{self, AnswerTo},
    line::LineOf,
    list,
};
use seinpaal_store::{News, StoreError};

/// The most queues that are let go in an idle moment.
const MOST_FORGOTTEN: u32 = 64;

impl StoreThread {
    /// A batch that must survive a power loss is answered once the disk has it. This thread goes on
    /// meanwhile.
    pub(super) fn answer_queue(&mut self, batch: &queue::Batch, answer: AnswerTo<queue::Replies>) {
        match self.call_queue(batch) {
            Ok(replies) if disk::is_to_be_kept(batch) => {
                self.disk_thread.answer_later(answer, replies);
            }
            done => drop(answer.send(done)),
        }
    }

    fn call_queue(&mut self, batch: &queue::Batch) -> Result<queue::Replies, StoreError> {
        let (replies, tell) = self.turn(|turn| turn.call_queue(batch))?;
        let is_idle = self.line.note_queue(batch, &replies);
        self.pass_on(tell);
        if is_idle {
            self.look_soon(LineOf::Items(batch.name.clone()));
        }
        Ok(replies)
    }

    pub(super) fn list_queues(
        &mut self,
        prefix: &str,
    ) -> Result<Vec<(Name, queue::Snapshot)>, StoreError> {
        let mut found = Vec::new();
        for name in self.parts.read(|db| list::queues(db, prefix))? {
            let batch = list::look_at_queue(name);
            let (replies, tell) = self.turn(|turn| turn.call_queue(&batch))?;
            self.pass_on(tell);
            found.extend(list::shown_of_queue(batch.name, replies));
        }
        Ok(found)
    }

    pub(super) fn pass_on_queue_wakeups(&mut self, wakeups: Vec<queue::Wakeup>) {
        for wakeup in wakeups {
            self.line.note_queue_wakeup(&wakeup);
            if let queue::What::Watch { .. } = wakeup.what {
                self.look_soon(LineOf::Items(wakeup.name.clone()));
            }
            self.tell(News::Queue(wakeup));
        }
    }

    pub(super) fn forget_queues(&mut self) {
        match self.turn(|turn| turn.forget_queues(MOST_FORGOTTEN)) {
            Ok((_, tell)) => self.pass_on(tell),
            Err(error) => {
                tracing::debug!(target: crate::TARGET, %error, "used-up queues could not be let go");
            }
        }
    }
}
