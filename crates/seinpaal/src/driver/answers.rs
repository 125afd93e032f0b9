//! Takes the store's answers to calls, and the news that it sends unasked.

use seinpaal_proto::{Name, Replies, Ticket, queue, session::CallId};

use super::{Driver, figures, journal::note_failure};
use crate::store::{News, StoreError, Together};

/// A call that has ended, with its subject and its result.
pub(super) enum EndedCall {
    Call(CallId, Result<Replies, StoreError>),
    /// Calls about several names that shared a round trip.
    Bundle(Vec<(CallId, Result<Replies, StoreError>)>),
    /// Requests for several names in one step, all granted or none.
    Together(Vec<(CallId, Ticket)>, Result<Together, StoreError>),
    Queue(Name, CallId, Result<queue::Replies, StoreError>),
}

impl EndedCall {
    fn has_failed(&self) -> bool {
        match self {
            Self::Call(_, result) => result.is_err(),
            Self::Bundle(results) => results.iter().any(|(_, result)| result.is_err()),
            Self::Together(_, result) => result.is_err(),
            Self::Queue(_, _, result) => result.is_err(),
        }
    }
}

impl Driver {
    pub(super) fn take_done(&mut self, done: EndedCall) {
        let now = self.clock.now();
        // A failure counts once for each call that was counted when it was made, even if the call
        // is about several names.
        if done.has_failed() {
            self.statistics.failed();
        }
        match done {
            EndedCall::Call(id, result) => self.take_result(now, id, result),
            EndedCall::Bundle(results) => {
                for (id, result) in results {
                    self.take_result(now, id, result);
                    // The events go out before the next result, which may clear the error that
                    // explains this one.
                    self.tell(now);
                }
            }
            EndedCall::Together(calls, result) => self.take_together(now, calls, result),
            EndedCall::Queue(name, id, result) => self.queues.take_done(now, &name, id, result),
        }
        self.tell(now);
    }

    fn take_result(&mut self, now: u64, id: CallId, result: Result<Replies, StoreError>) {
        match result {
            Ok(replies) => {
                self.store_has_answered();
                self.session.handle_replies(now, id, replies);
            }
            Err(error) => self.take_error(now, [id], error),
        }
    }

    /// Forgets the last error, because a caller whose request fails later must not get an error
    /// that has passed.
    pub(super) fn store_has_answered(&mut self) {
        self.last_error = None;
    }

    pub(super) fn take_error(
        &mut self,
        now: u64,
        calls: impl IntoIterator<Item = CallId>,
        error: StoreError,
    ) {
        note_failure(&error);
        for id in calls {
            self.session.handle_failure(now, id, error.as_failure());
        }
        self.last_error = Some(error);
    }

    /// Takes all news that have come.
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

#[cfg(test)]
mod tests;
