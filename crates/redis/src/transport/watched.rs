//! The findings of a stream, for the callers on the other side of the client library.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use redis::{RedisError, RedisResult};

use super::{CallError, TransportFault};

/// How many bytes an answer may have unless a caller has asked for a longer one. Wakeups never have
/// more.
pub(crate) const ROOM: usize = 1 << 20;

/// The state that a stream and its callers share.
#[derive(Default)]
pub(super) struct WatchedStream {
    /// How many of the commands under way may have an answer of so many bytes, where that is more
    /// than [`ROOM`].
    asked: Mutex<BTreeMap<usize, usize>>,
    fault: Mutex<Option<TransportFault>>,
}

impl WatchedStream {
    /// Makes room for an answer, until it has come.
    pub(super) fn make_room(&self, bytes: usize) -> AnswerRoom<'_> {
        if bytes > ROOM {
            *locked(&self.asked).entry(bytes).or_default() += 1;
        }
        AnswerRoom { watched: self, bytes }
    }

    /// How many bytes the answer that comes in may have. It is not known yet which command it
    /// answers, so the largest room counts.
    pub(super) fn room(&self) -> usize {
        locked(&self.asked).keys().next_back().copied().unwrap_or(ROOM)
    }

    /// Keeps the first fault, since those that follow are its consequences.
    pub(super) fn note(&self, fault: TransportFault) {
        locked(&self.fault).get_or_insert(fault);
    }

    /// The error with its cause. A fault that was seen here says more than the end of a connection.
    pub(super) fn explain(&self, error: RedisError) -> CallError {
        match &*locked(&self.fault) {
            Some(fault) if error.is_io_error() => fault.clone().into(),
            _ => error.into(),
        }
    }
}

/// Room for one answer. If it is dropped before the answer has come, the room stays, because the
/// answer may still come.
pub(super) struct AnswerRoom<'a> {
    watched: &'a WatchedStream,
    bytes: usize,
}

impl AnswerRoom<'_> {
    /// Gives the room back. After a timeout it stays, because the answer may still come.
    pub(super) fn close_after<T>(self, answer: &RedisResult<T>) {
        let has_come = !answer.as_ref().is_err_and(RedisError::is_timeout);
        if self.bytes > ROOM && has_come {
            let mut asked = locked(&self.watched.asked);
            if let Some(count) = asked.get_mut(&self.bytes) {
                *count -= 1;
                if *count == 0 {
                    asked.remove(&self.bytes);
                }
            }
        }
    }
}

/// A poisoned lock does no harm, since no change under these locks is ever left half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_the_longest_answer_that_is_awaited() {
        let watched = WatchedStream::default();
        assert_eq!(watched.room(), ROOM);
        let (long, longer) = (watched.make_room(ROOM * 2), watched.make_room(ROOM * 3));
        assert_eq!(watched.room(), ROOM * 3);
        longer.close_after(&Ok(()));
        assert_eq!(watched.room(), ROOM * 2);
        long.close_after(&Ok(()));
        assert_eq!(watched.room(), ROOM);
    }

    #[test]
    fn an_answer_that_nobody_waits_for_any_more_has_its_room() {
        let watched = WatchedStream::default();
        let _never_answered = watched.make_room(ROOM * 2);
        assert_eq!(watched.room(), ROOM * 2);
    }
}
