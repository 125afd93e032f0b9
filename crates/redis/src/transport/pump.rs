//! The client library's end of a connection: a future that writes requests and reads answers.
//!
//! A task polls this future. A caller on another thread may poll it as a guest: then the caller's
//! request is written on that thread, and the task is not woken for it
//! (docs/decisions/driver.md). Every event that the future waits
//! for, above all the socket, still wakes the task.

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

/// How often a guest polls at most. Without a limit, work that always has more to do would keep the
/// guest for ever.
const MOST_POLLS: usize = 3;

/// A connection at work.
pub(super) struct Pump {
    /// The future, or `None` once it has ended.
    work: Mutex<Option<PumpedWork>>,
    /// Whether the work must not be polled any more.
    is_closed: AtomicBool,
    bell: Arc<WorkBell>,
}

/// The waker of the work. While a guest is there, the bell rings for the guest and not for the
/// task.
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
        // The guest checks the bell after it has said that it leaves. So either the guest or this
        // code sees the other.
        if !self.has_guest.load(Ordering::SeqCst) {
            self.task.wake();
        }
    }
}

/// The visit of a guest that may poll in the task's place. When the visit ends, the task is woken
/// if work is left.
struct PumpVisit<'a>(&'a WorkBell);

impl<'a> PumpVisit<'a> {
    /// Begins a visit, or returns `None` if there is a guest already.
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

/// Rings when it is dropped, because then the work has ended or panicked, and the task has to
/// notice.
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

    /// Runs the task: polls the work until it ends.
    pub(super) async fn run(self: Arc<Self>) {
        poll_fn(|context| {
            self.bell.task.register(context.waker());
            // If another thread polls now, the bell rings instead. A guest hears it, and if the
            // guest has left by now, the bell wakes this task again.
            self.try_poll().unwrap_or_else(|| {
                self.bell.wake_by_ref();
                Poll::Pending
            })
        })
        .await;
    }

    /// Runs `ask`, which hands requests to the work. They are written on this thread if no other
    /// thread is writing or reading.
    pub(super) fn send_here(&self, ask: &mut dyn FnMut()) {
        let visit = PumpVisit::begin(&self.bell);
        ask();
        // The requests have rung the bell, and the other guest hears it.
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

    /// Ends the work at any point. If another thread polls it at this moment, it ends right after
    /// that poll. So this call never waits for the work, which may itself wait for a lock that the
    /// caller holds. The call may even come from inside the work.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.end_if_closed();
    }

    /// Drops the work if it is to end and no thread polls it. A thread that polls calls this again
    /// after unlocking.
    fn end_if_closed(&self) {
        // If one thread closes while another has just unlocked, at least one of them sees the
        // other's change.
        fence(Ordering::SeqCst);
        if self.is_closed.load(Ordering::SeqCst) {
            // The work is dropped after the lock, because values that it owns may call `close` when
            // they are dropped.
            let ended = self.try_work().and_then(|mut work| work.take());
            drop(ended);
        }
    }

    /// Locks the work, or returns `None` if another thread polls it. A poisoned lock does no harm,
    /// because the work was taken out before it panicked.
    fn try_work(&self) -> Option<MutexGuard<'_, Option<PumpedWork>>> {
        match self.work.try_lock() {
            Ok(work) => Some(work),
            Err(TryLockError::Poisoned(broken)) => Some(broken.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Polls the work once, or returns `None` if another thread is polling it.
    fn try_poll(&self) -> Option<Poll<()>> {
        let polled = self.poll(self.try_work()?);
        // The pump may have been closed since `poll` looked.
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
            // The lock is released first, because values that the work owns may need it when they
            // are dropped.
            drop(work);
            return Poll::Ready(());
        }
        *work = Some(future);
        // The work has neither ended nor panicked, so the task need not be woken.
        mem::forget(end);
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
