//! The driver's task, which waits for the next input and handles it.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use futures_util::StreamExt;
use seinpaal_proto::time::Micros;
use tokio::time::Sleep;

use super::{Driver, SharedDriver};
use crate::room::Room;

/// After this many rounds the runtime gets its turn, because it handles timers and sockets on this
/// thread.
const MOST_ROUNDS: u32 = 64;

/// The most answers that are taken before another source has its turn.
const MOST_ANSWERS: u32 = 32;

/// A driver at work, and the timer of its sleep. Dropping this value ends all calls under way.
pub(super) struct Serving {
    room: Arc<Room<SharedDriver>>,
    sleep: Option<(Micros, Pin<Box<Sleep>>)>,
}

impl Serving {
    pub(super) fn new(room: Arc<Room<SharedDriver>>, driver: Driver) -> Self {
        room.open(SharedDriver::new(driver));
        Self { room, sleep: None }
    }

    /// Drives until every handle is gone and everything is given back.
    pub(super) async fn run(mut self) {
        poll_fn(|context| self.poll(context)).await;
        // A caller has panicked inside, so the session's state cannot be trusted, and it is not
        // asked to give anything back.
        if self.room.is_in_disorder() {
            return;
        }
        if let Some(SharedDriver { mut driver, .. }) = self.room.close() {
            driver.finish().await;
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let room = Arc::clone(&self.room);
        let Some(mut shared) = room.enter() else { return Poll::Ready(()) };
        shared.waker = Some(context.waker().clone());
        for _ in 0..MOST_ROUNDS {
            shared.driver.step();
            let timeout = shared.driver.next_timeout_of_task();
            match shared.driver.poll_round(context) {
                DriverInput::Done => continue,
                DriverInput::Gone => return Poll::Ready(()),
                DriverInput::Nothing => {}
            }
            if self.sleep_until(&shared.driver, timeout, context).is_pending() {
                shared.looks_at = self.sleep.as_ref().map(|(until, _)| *until);
                return Poll::Pending;
            }
        }
        // The task looks again at once, so a caller need not wake it.
        shared.looks_at = Some(0);
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// A timer for an earlier moment is kept, because callers that come and go would otherwise set
    /// it anew with each call. Timers count in milliseconds. Waking a little late is better than
    /// early, because the task would have to sleep again.
    fn sleep_until(
        &mut self,
        driver: &Driver,
        at: Option<Micros>,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        if let Some(at) = at
            && self.sleep.as_ref().is_none_or(|(until, _)| at < *until)
        {
            let now = driver.clock.now();
            let left = at.saturating_sub(now);
            let sleep = tokio::time::sleep(Duration::from_micros(left));
            self.sleep = Some((now + left, Box::pin(sleep)));
        }
        let Some((_, sleep)) = &mut self.sleep else { return Poll::Pending };
        ready!(sleep.as_mut().poll(context));
        self.sleep = None;
        Poll::Ready(())
    }
}

impl Drop for Serving {
    /// Each caller that waits for an answer learns that none comes when its channel ends.
    fn drop(&mut self) {
        drop(self.room.close());
    }
}

impl Drop for Driver {
    /// The driver's runtime may have ended, or code of the program may have panicked in it. Then
    /// nothing is renewed any more, and holders have to hear that like any other loss. The sessions
    /// are not asked, because a panic may have left them half changed.
    fn drop(&mut self) {
        self.waiting.lose_grants();
        self.queues.lose_leases();
    }
}

/// The outcome of a round of input.
enum DriverInput {
    Done,
    /// Every handle is gone.
    Gone,
    Nothing,
}

impl Driver {
    /// Takes the input that has come. Each round takes from every source. So a store whose answers
    /// are always ready delays neither news nor commands.
    fn poll_round(&mut self, context: &mut Context<'_>) -> DriverInput {
        // These callbacks are code of the program. They are called between rounds, when the session
        // is consistent. If one panics, the panic hook reports it, and the connection goes on for
        // all other callers.
        for callback in std::mem::take(&mut self.callbacks) {
            let _ = catch_unwind(AssertUnwindSafe(callback));
        }
        // News come before answers. A release may grant to another task of this client, and the
        // same call proves that grant. The session must have heard of it when it takes the answer
        // (docs/decisions/leases.md).
        let news = self.poll_news(context);
        let calls = self.poll_calls(context);
        let store_tasks =
            matches!(self.store_tasks.poll_next_unpin(context), Poll::Ready(Some(())));
        match self.commands.poll_recv(context) {
            Poll::Ready(Some(command)) => self.take_commands(command),
            Poll::Ready(None) => return DriverInput::Gone,
            Poll::Pending if !(calls || store_tasks || news) => return DriverInput::Nothing,
            Poll::Pending => {}
        }
        DriverInput::Done
    }

    /// Takes answers to the calls under way. Returns whether there were any.
    ///
    /// `FuturesUnordered` wakes its poller each time it has polled all of its futures, even if
    /// nothing is ready. That costs a system call. So it is polled first with a waker that does
    /// nothing. The second time it polls only the futures that became ready in between.
    fn poll_calls(&mut self, context: &mut Context<'_>) -> bool {
        let mut answers = 0;
        for waker in [Waker::noop(), context.waker()] {
            let context = &mut Context::from_waker(waker);
            while answers < MOST_ANSWERS
                && let Poll::Ready(Some(done)) = self.under_way.poll_next_unpin(context)
            {
                self.take_done(done);
                answers += 1;
            }
        }
        answers > 0
    }

    fn poll_news(&mut self, context: &mut Context<'_>) -> bool {
        let Poll::Ready(Some(news)) = self.news.poll_recv(context) else { return false };
        self.take_news(news);
        true
    }
}

#[cfg(test)]
mod tests;
