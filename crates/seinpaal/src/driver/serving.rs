//! The driver's task: waits for whatever comes next, and does it.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_util::StreamExt;
use seinpaal_proto::time::Micros;
use tokio::time::Sleep;

use super::{Driver, Shared};
use crate::room::Room;

/// A driver at work, and how long it may sleep. What is waited for inside ends when this is dropped.
pub(super) struct Serving {
    room: Arc<Room<Shared>>,
    sleep: Option<(Micros, Pin<Box<Sleep>>)>,
}

impl Serving {
    pub(super) fn new(room: Arc<Room<Shared>>, driver: Driver) -> Self {
        room.open(Shared::new(driver));
        Self { room, sleep: None }
    }

    /// Until every handle is gone and all is given back.
    pub(super) async fn run(mut self) {
        poll_fn(|context| self.poll(context)).await;
        if self.room.is_in_disorder() {
            return;
        }
        if let Some(Shared { mut driver, .. }) = self.room.close() {
            driver.finish().await;
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let room = Arc::clone(&self.room);
        let Some(mut shared) = room.enter() else { return Poll::Ready(()) };
        loop {
            shared.driver.step();
            let timeout = shared.driver.next_timeout();
            match shared.driver.poll_next(context) {
                Next::Done => continue,
                Next::Gone => return Poll::Ready(()),
                Next::Nothing => {}
            }
            if self.sleep_until(&shared.driver, timeout, context).is_pending() {
                shared.looks_at = self.sleep.as_ref().map(|(until, _)| *until);
                shared.waker = Some(context.waker().clone());
                return Poll::Pending;
            }
        }
    }

    /// A timer that was set for an earlier moment is kept: callers that come and go would set it anew with each call.
    /// Timers count in milliseconds: a little late rather than early and again.
    fn sleep_until(
        &mut self,
        driver: &Driver,
        at: Option<Micros>,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        if let Some(at) = at
            && self.sleep.as_ref().is_none_or(|(until, _)| at < *until)
        {
            let left = at.saturating_sub(driver.clock.now());
            let sleep = tokio::time::sleep(Duration::from_micros(left));
            self.sleep = Some((at, Box::pin(sleep)));
        }
        let Some((_, sleep)) = &mut self.sleep else { return Poll::Pending };
        ready!(sleep.as_mut().poll(context));
        self.sleep = None;
        Poll::Ready(())
    }
}

impl Drop for Serving {
    /// Whoever waits for an answer learns by the end of its channel that none comes.
    fn drop(&mut self) {
        drop(self.room.close());
    }
}

/// What has come.
enum Next {
    Done,
    /// Every handle is gone.
    Gone,
    Nothing,
}

impl Driver {
    /// Takes what has come, answers of the store before all else.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Next {
        for (on_queued, waiting) in std::mem::take(&mut self.queued) {
            on_queued.0(waiting);
        }
        if let Poll::Ready(Some(done)) = self.under_way.poll_next_unpin(context) {
            self.take_done(done);
            return Next::Done;
        }
        if let Poll::Ready(Some(())) = self.errands.poll_next_unpin(context) {
            return Next::Done;
        }
        if let Poll::Ready(Some(news)) = self.news.poll_recv(context) {
            self.take_news(news);
            return Next::Done;
        }
        match self.commands.poll_recv(context) {
            Poll::Ready(Some(command)) => self.take_commands(command),
            Poll::Ready(None) => return Next::Gone,
            Poll::Pending => return Next::Nothing,
        }
        Next::Done
    }
}
