//! What the store says: answers to calls, and news that nobody asked for.

use seinpaal_proto::{Name, Replies, Ticket, queue, session::CallId};

use super::{Driver, figures};
use crate::store::{News, StoreError, Together};

/// A call that has ended, with what it was about and what came of it.
pub(super) enum EndedCall {
    Call(CallId, Result<Replies, StoreError>),
    /// Calls about several names that shared a round trip.
    Bundle(Vec<(CallId, Result<Replies, StoreError>)>),
    /// Requests for several names in one step, all granted or none.
    Together(Vec<(CallId, Ticket)>, Result<Together, StoreError>),
    Queue(Name, CallId, Result<queue::Replies, StoreError>),
}

impl Driver {
    pub(super) fn take_done(&mut self, done: EndedCall) {
        let now = self.clock.now();
        match done {
            EndedCall::Call(id, result) => self.take_result(now, id, result),
            EndedCall::Bundle(results) => {
                for (id, result) in results {
                    self.take_result(now, id, result);
                }
            }
            EndedCall::Together(calls, result) => self.take_together(now, calls, result),
            EndedCall::Queue(name, id, result) => {
                if result.is_err() {
                    self.statistics.failed();
                }
                self.queues.take_done(now, &name, id, result);
            }
        }
        self.tell(now);
    }

    fn take_result(&mut self, now: u64, id: CallId, result: Result<Replies, StoreError>) {
        match result {
            Ok(replies) => {
                // Whoever fails later must not be told an error that is long over.
                self.last_error = None;
                self.session.handle_replies(now, id, replies);
            }
            Err(error) => self.take_error(now, id, &error),
        }
    }

    pub(super) fn take_error(&mut self, now: u64, id: CallId, error: &StoreError) {
        // Refusals, too: `kind` tells them apart.
        tracing::warn!(target: "seinpaal", kind = ?error.kind(), %error, "the store did not answer");
        self.statistics.failed();
        let failure = error.as_failure();
        self.last_error = Some(error.clone());
        self.session.handle_failure(now, id, failure);
    }

    /// Takes all news that are there.
    pub(super) fn take_news(&mut self, news: News) {
        let now = self.clock.now();
        self.take_one(now, news);
        while let Ok(news) = self.news.try_recv() {
            self.take_one(now, news);
        }
    }

    fn take_one(&mut self, now: u64, news: News) {
        match news {
            News::Wakeup(wakeup) => self.session.handle_wakeup(now, wakeup),
            News::LookAgain => {
                // Wakeups may have been lost while the store was not heard.
                self.statistics.looked_again();
                figures::reconnected();
                self.session.look_again(now);
                self.queues.look_again(now);
            }
            News::Queue(wakeup) => self.queues.take_wakeup(now, &wakeup),
        }
    }
}
