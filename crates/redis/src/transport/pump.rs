//! The client library's end of a connection: a future that writes what was asked and reads what was
//! answered.
//!
//! A task polls it. A caller on another thread may poll it once, too: then its request is written
//! there, and the task is not woken for it
//! (docs/decisions/0053-a-lone-request-is-sent-by-its-caller.md). Everything that it waits for, the
//! socket above all, wakes the task as before.

use std::{
    future::poll_fn,
    mem,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, TryLockError,
        atomic::{AtomicBool, Ordering, fence},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures_util::task::AtomicWaker;

type PumpedWork = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How often a guest polls at most, since the work may say each time that there is more to do.
const MOST_POLLS: usize = 3;

/// A connection at work.
pub(super) struct Pump {
    /// `None`: it has ended.
    work: Mutex<Option<PumpedWork>>,
    /// Nobody is to poll the work again.
    is_closed: AtomicBool,
    bell: Arc<WorkBell>,
}

/// The waker of the work. While a guest is there, it is the guest who hears it.
#[derive(Default)]
struct WorkBell {
    task: AtomicWaker,
    has_rung: AtomicBool,
    has_guest: AtomicBool,
}

impl Wake for WorkBell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.has_rung.store(true, Ordering::SeqCst);
        // A guest looks after it has said that it leaves, so one of the two sees the other.
        if !self.has_guest.load(Ordering::SeqCst) {
            self.task.wake();
        }
    }
}

/// The visit of a guest, who may be about to poll in the task's place. When it ends, the task is
/// told of what is left to do.
struct PumpVisit<'a>(&'a WorkBell);

impl<'a> PumpVisit<'a> {
    /// `None`: there is a guest already.
    fn begin(bell: &'a WorkBell) -> Option<Self> {
        (!bell.has_guest.swap(true, Ordering::SeqCst)).then(|| Self(bell))
    }
}

impl Drop for PumpVisit<'_> {
    fn drop(&mut self) {
        self.0.has_guest.store(false, Ordering::SeqCst);
        if self.0.has_rung.load(Ordering::SeqCst) {
            self.0.task.wake();
        }
    }
}

/// Rings when it is dropped: the work has ended, or panicked, and the task has to hear of it.
struct RingAtEnd<'a>(&'a WorkBell);

impl Drop for RingAtEnd<'_> {
    fn drop(&mut self) {
        self.0.has_rung.store(true, Ordering::SeqCst);
    }
}

impl Pump {
    pub(super) fn new(work: impl Future<Output = ()> + Send + 'static) -> Self {
        let work = Mutex::new(Some(Box::pin(work) as PumpedWork));
        Self { work, is_closed: AtomicBool::new(false), bell: Arc::default() }
    }

    /// The life of its task: polls the work until it ends.
    pub(super) async fn run(self: Arc<Self>) {
        poll_fn(|context| {
            self.bell.task.register(context.waker());
            // If somebody else polls now, the bell rings instead: a guest hears it, and if the
            // guest has left by now, it wakes this task again.
            self.try_poll().unwrap_or_else(|| {
                self.bell.wake_by_ref();
                Poll::Pending
            })
        })
        .await;
    }

    /// Runs `ask`, which puts something in, and writes that on this thread if nobody is writing or
    /// reading.
    pub(super) fn send_here(&self, ask: &mut dyn FnMut()) {
        let visit = PumpVisit::begin(&self.bell);
        ask();
        // What was put in has rung the bell, which the other guest hears.
        if visit.is_none() {
            return;
        }
        for _ in 0..MOST_POLLS {
            if !self.bell.has_rung.load(Ordering::SeqCst) {
                break;
            }
            if self.try_poll().is_none() {
                break;
            }
        }
    }

    /// Ends the work, at whatever point it is. If somebody polls it at this moment, it ends right
    /// after that. So nobody waits here for the work, which may itself wait for a lock that the
    /// caller holds, and a call from inside the work is fine.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.end_if_closed();
    }

    /// Drops the work if it is to end and nobody polls it. Whoever polls looks here after
    /// unlocking.
    fn end_if_closed(&self) {
        // Of one who closes and one who has just unlocked, at least one sees what the other did.
        fence(Ordering::SeqCst);
        if self.is_closed.load(Ordering::SeqCst) {
            // Dropped after the lock, because what the work owns may come here in its turn.
            let ended = self.try_work().and_then(|mut work| work.take());
            drop(ended);
        }
    }

    /// `None`: somebody else polls the work. A lock that was poisoned does no harm, because the
    /// work was taken out before it panicked.
    fn try_work(&self) -> Option<MutexGuard<'_, Option<PumpedWork>>> {
        match self.work.try_lock() {
            Ok(work) => Some(work),
            Err(TryLockError::Poisoned(broken)) => Some(broken.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Polls the work once. `None`: somebody else is polling it.
    fn try_poll(&self) -> Option<Poll<()>> {
        let polled = self.poll(self.try_work()?);
        // It may have been closed since `poll` looked.
        self.end_if_closed();
        Some(polled)
    }

    fn poll(&self, mut work: MutexGuard<'_, Option<PumpedWork>>) -> Poll<()> {
        let Some(mut future) = work.take() else { return Poll::Ready(()) };
        self.bell.has_rung.store(false, Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&self.bell));
        let end = RingAtEnd(&self.bell);
        if future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
            || self.is_closed.load(Ordering::SeqCst)
        {
            // What the work owns is dropped after the lock.
            drop(work);
            return Poll::Ready(());
        }
        *work = Some(future);
        // It has neither ended nor panicked, so the task need not hear of it.
        mem::forget(end);
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
