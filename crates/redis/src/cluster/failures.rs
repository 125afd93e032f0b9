//! Failures that several callers share, because they waited for the same try.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use seinpaal_store::StoreError;

/// The failures of a task that callers try in turn, one after the other. A failure answers every
/// caller that came before it. If each caller tried by itself, the last would wait for as many
/// tries as there are callers.
#[derive(Debug, Default)]
pub(super) struct SharedFailures {
    count: AtomicU64,
    last: Mutex<Option<StoreError>>,
}

impl SharedFailures {
    /// The number of failures so far. A caller reads it before it waits for its turn.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// The last failure, if it came after the first `seen`.
    pub(super) fn since(&self, seen: u64) -> Option<StoreError> {
        (self.count() > seen).then(|| self.last().clone()).flatten()
    }

    /// Takes note of a failure, before the next caller has its turn.
    pub(super) fn note(&self, error: &StoreError) {
        *self.last() = Some(error.clone());
        self.count.fetch_add(1, Ordering::Release);
    }

    /// A poisoned lock does no harm, since nothing panics under it.
    fn last(&self) -> MutexGuard<'_, Option<StoreError>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
