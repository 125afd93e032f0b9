//! The client library's end of a connection: a future that writes what was asked and reads what was answered.
//!
//! A task polls it. Whoever asks on another thread may poll it, too, once: then what was asked is written there, and the
//! task is not woken for it (docs/decisions/0052-a-lone-request-is-sent-by-its-caller.md). What it waits for itself, the
//! socket above all, wakes the task as ever.

use std::{
    future::poll_fn,
    mem,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
    task::{Context, Poll, Waker},
};

use seinpaal_store::bell::Bell;
use tokio::runtime::Handle;

use super::moving::Whereabouts;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How often a guest polls what says at once that there is more to do.
const MOST_POLLS: usize = 3;

/// A connection at work.
pub(super) struct Pump {
    /// `None`: it has ended.
    work: Mutex<Option<Work>>,
    bell: Arc<Bell>,
    whereabouts: Arc<Whereabouts>,
}

/// Rings when it is dropped: the work has ended, or panicked, and the task has to hear of it.
struct End<'a>(&'a Bell);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.no_substitute();
        self.0.ring();
    }
}

impl Pump {
    pub(super) fn new(
        whereabouts: Arc<Whereabouts>,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        Self { work: Mutex::new(Some(Box::pin(work))), bell: Arc::default(), whereabouts }
    }

    /// What its task does.
    pub(super) async fn run(self: Arc<Self>) {
        poll_fn(|context| {
            self.bell.is_for(context.waker());
            if self.whereabouts.go(None) {
                self.bell.wake_substitute();
            }
            // A guest that is at it hears the bell, or has left by now.
            self.try_poll().unwrap_or_else(|| {
                self.bell.ring();
                Poll::Pending
            })
        })
        .await;
    }

    /// Has `ask` put something in, and writes it on this thread if nobody is writing or reading.
    pub(super) fn send_here(&self, ask: &mut dyn FnMut()) {
        let visit = self.bell.visit();
        ask();
        if visit.is_some() {
            self.poll_while_it_rings();
        }
    }

    /// Has this runtime hear of what comes in, from the next [`read_here`](Self::read_here) on.
    pub(super) fn go_away(&self, to: &Handle) {
        if self.whereabouts.go(Some(to)) {
            let _visit = self.bell.visit();
            self.bell.ring();
        }
    }

    /// Reads on this thread what has come in, and has this waker woken when more comes. Returns whether
    /// it is; otherwise the task hears of what comes in.
    pub(super) fn read_here(&self, caller: &Waker) -> bool {
        let visit = self.bell.visit();
        if visit.is_some() {
            self.bell.substitute(caller);
            self.poll_while_it_rings();
            // Whoever brings the socket home looks for a substitute afterwards, so one of the two sees the other.
            if self.whereabouts.is_away() {
                return true;
            }
            self.bell.no_substitute();
        }
        self.go_home();
        self.bell.ring();
        false
    }

    /// The task hears of what comes in again, and a caller that waits for more of it is told so.
    pub(super) fn go_home(&self) {
        if self.whereabouts.go(None) {
            self.bell.wake_substitute();
            self.bell.ring();
        }
    }

    fn poll_while_it_rings(&self) {
        for _ in 0..MOST_POLLS {
            if !self.bell.has_rung() || self.try_poll().is_none() {
                break;
            }
        }
    }

    /// Ends it, wherever it is.
    pub(super) fn close(&self) {
        drop(self.work.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// `None`: somebody is at it. Whoever panicked at it has taken it out.
    fn try_poll(&self) -> Option<Poll<()>> {
        match self.work.try_lock() {
            Ok(work) => Some(self.poll(work)),
            Err(TryLockError::Poisoned(broken)) => Some(self.poll(broken.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn poll(&self, mut work: MutexGuard<'_, Option<Work>>) -> Poll<()> {
        let Some(mut future) = work.take() else { return Poll::Ready(()) };
        self.bell.answer();
        let waker = Waker::from(Arc::clone(&self.bell));
        let end = End(&self.bell);
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        if polled.is_pending() {
            *work = Some(future);
            mem::forget(end);
        }
        polled
    }
}

#[cfg(test)]
mod tests;
