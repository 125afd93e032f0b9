//! The driver: the one task that does a session's I/O, on a thread of its own.
//!
//! ```text
//!   API ── DriverCommand ──▶ driver ── commands, replies, wakeups ──▶ session
//!                              │  ◀── calls, events, the next timeout
//!                              ├── Batch ──▶ store ── Replies, wakeups ──▶ driver
//!                              └── Event ──▶ futures and permits of the API
//! ```
//!
//! | what | file |
//! |---|---|
//! | a command of the API, and what the session does with it | `command.rs`, `dispatch.rs` |
//! | the calls that are due | `making.rs`, `together.rs` |
//! | answers and news of the store | `answers.rs` |
//! | the wait for the next of these | `serving.rs`; on a caller's thread `shared.rs` |
//! | releases, and the end of the connection | `releases.rs`, `parting.rs` |
//! | queues | `queues.rs`, `queue_waiters.rs`, `queue_command.rs` |
//!
//! The driver has a thread of its own for three reasons: leases are renewed while the program
//! blocks its executor, a permit can be dropped where there is no runtime, and the program may use
//! any executor (docs/decisions/driver.md). Only the driver waits, and the session says
//! until when.
//!
//! A caller may enter an idle driver and have its one call made, or sent, on the caller's thread
//! (`shared.rs`; for a server the caller also
//! sends the request; docs/decisions/driver.md).

mod answers;
mod command;
mod dispatch;
mod errors;
#[cfg(feature = "metrics")]
#[path = "driver/figures/recorded.rs"]
mod figures;
#[cfg(not(feature = "metrics"))]
#[path = "driver/figures/silent.rs"]
mod figures;
mod handle;
mod journal;
mod lease;
mod making;
mod one_offs;
mod parting;
#[cfg(test)]
mod plain_request;
mod pulse;
mod queue_command;
mod queue_waiters;
mod queues;
mod releases;
mod serving;
mod shared;
mod start;
mod statistics;
mod tickets;
mod together;

use std::{pin::pin, sync::Arc, time::Duration};

use futures_util::{StreamExt, stream::FuturesUnordered};
use seinpaal_proto::{
    Ticket,
    session::{Call, Session},
};
use tokio::sync::{mpsc, oneshot};

pub(crate) use command::{
    AcquireRequest, DetachResult, DriverCommand, Giving, OneOffResult, OpenStore, ReleaseReply,
    WaitCallbacks, WantedPermits,
};
pub(crate) use errors::{internal, is_closed, misfit};
pub(crate) use handle::Handle;
pub(crate) use lease::{GrantInHand, LeaseInHand};
pub(crate) use parting::part;
pub use pulse::Outage;
pub(crate) use pulse::Pulse;
pub(crate) use queue_command::{Handed, NotDone, QueueCommand, QueueOneOffResult, WantedItems};

use crate::{
    boottime::ClientClock,
    error::ReleaseError,
    store::{BoxFuture, News, Store, StoreError},
};
use answers::EndedCall;
use dispatch::WaitingCallers;
use errors::silence;
pub(crate) use figures::RequestFigure;
use one_offs::OneOffs;
use queues::QueueSessions;
pub(crate) use releases::ANSWER;
pub(crate) use shared::SharedDriver;
use start::Makings;
pub(crate) use start::{start, start_as_task, start_at_once, start_here};
pub use statistics::ConnectionStatistics;
pub(crate) use statistics::Statistics;

/// How long a driver tries to give everything back after the program has dropped its last handle.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// A connection that was closed, until everything has gone back.
struct Closing {
    /// The longest lease of ours that may still stand at the store.
    longest: Duration,
    /// When the callers hear that the outcome is unknown.
    give_up_at: u64,
    /// The callers that wait for the end.
    told: Vec<oneshot::Sender<Result<(), ReleaseError>>>,
}

/// A session at work, with the store that it works on and the callers that it works for.
struct Driver {
    session: Session,
    store: Arc<dyn Store>,
    commands: mpsc::UnboundedReceiver<DriverCommand>,
    news: mpsc::UnboundedReceiver<News>,
    clock: ClientClock,
    /// The store's address, for people.
    address: Arc<str>,
    statistics: Arc<Statistics>,
    /// The calls to the store that are not answered yet.
    under_way: FuturesUnordered<BoxFuture<'static, EndedCall>>,
    /// Work with the store that does not concern the session, such as lists. It ends when the
    /// connection is closed.
    store_tasks: FuturesUnordered<BoxFuture<'static, ()>>,
    waiting: WaitingCallers,
    one_offs: OneOffs,
    /// The error of the last call, if it failed. A caller gets this error where the session has
    /// none.
    last_error: Option<StoreError>,
    /// Set when the connection was closed.
    closing: Option<Closing>,
    /// Tickets of different names that have to be asked for in one step.
    together: Vec<Vec<Ticket>>,
    queues: QueueSessions,
    pulse: Arc<Pulse>,
    /// Callbacks to tell that a request waits, with the number of waiting requests. They run on the
    /// connection's thread, and not inside a call.
    callbacks: Vec<Box<dyn FnOnce() + Send>>,
}

impl Driver {
    fn new(
        session: Session,
        queues: QueueSessions,
        store: Arc<dyn Store>,
        makings: Makings,
    ) -> Self {
        let Makings { clock, address, statistics, pulse, commands, news, .. } = makings;
        Self {
            session,
            store,
            commands,
            news,
            clock,
            address,
            statistics,
            under_way: FuturesUnordered::new(),
            store_tasks: FuturesUnordered::new(),
            waiting: WaitingCallers::default(),
            one_offs: OneOffs::default(),
            last_error: None,
            closing: None,
            together: Vec::new(),
            queues,
            pulse,
            callbacks: Vec::new(),
        }
    }

    /// Gives everything back after the program has dropped its last handle, for a bounded time.
    async fn finish(&mut self) {
        self.close(self.clock.now());
        let mut deadline = pin!(tokio::time::sleep(LAST_WORDS));
        loop {
            self.step();
            // No permit is held, wanted or owed any more, so the store need not be told anything.
            if self.is_idle() {
                return;
            }
            let timeout = self.next_timeout();
            tokio::select! {
                Some(done) = self.under_way.next(), if !self.under_way.is_empty() => self.take_done(done),
                Some(news) = self.news.recv() => self.take_news(news),
                () = sleep_until(self.clock, timeout) => {}
                () = &mut deadline => return,
            }
        }
    }

    /// Lets time pass, passes on the session's events, and makes the calls that are due.
    fn step(&mut self) {
        let now = self.clock.now();
        let calls = self.calls(now);
        self.make(calls);
        self.stand(now);
    }

    /// The calls about permits that are due.
    fn calls(&mut self, now: u64) -> Vec<Call> {
        self.session.handle_timeout(now);
        // The events go first, so that an answer that has come counts even if its time is over.
        self.tell(now);
        self.answer_overdue(now);
        std::iter::from_fn(|| self.session.poll_call(now)).collect()
    }

    /// The rest of a step, after the calls about permits.
    fn stand(&mut self, now: u64) {
        self.step_queues(now);
        // The queues come first, because a close also waits for their items to go back.
        self.answer_closing(now);
        self.statistics.stand(self.waiting.held(), self.waiting.requests());
    }

    fn next_timeout(&self) -> Option<u64> {
        let overdue = [self.waiting.next_overdue(), self.one_offs.next_overdue(), self.closed_by()];
        let own = overdue.into_iter().flatten();
        let sessions = self.session.poll_timeout().into_iter().chain(self.queues.next_timeout());
        sessions.chain(own).min()
    }

    /// Ends requests that the store has not answered in time.
    fn answer_overdue(&mut self, now: u64) {
        self.answer_overdue_releases(now);
        while let Some(one_off) = self.one_offs.overdue(now) {
            let silence = self.silence();
            self.one_offs.answer(one_off, Err(silence));
        }
    }

    fn is_idle(&self) -> bool {
        self.session.is_idle() && self.queues.is_idle()
    }

    /// Returns whether the program has a permit or an item in hand.
    fn holds(&self) -> bool {
        self.waiting.held() > 0 || self.queues.holds()
    }

    fn step_queues(&mut self, now: u64) {
        for (name, call) in self.queues.step(now) {
            let store = Arc::clone(&self.store);
            self.statistics.called();
            let batch = call.batch;
            let asked = self.pulse.watch(async move {
                let timing = figures::CallFigure::begin("queues");
                let result = store.call_queue(&batch).await;
                timing.end(result.as_ref().err());
                result
            });
            self.under_way
                .push(Box::pin(async move { EndedCall::Queue(name, call.id, asked.await) }));
        }
    }

    /// Takes all commands that are there, so that requests of many tasks share a round trip.
    fn take_commands(&mut self, first: DriverCommand) {
        let now = self.clock.now();
        self.take_command(now, first);
        self.take_more_commands(now);
    }

    /// Takes the commands that are in the channel already.
    fn take_more_commands(&mut self, now: u64) {
        while let Ok(command) = self.commands.try_recv() {
            self.take_command(now, command);
        }
    }
}

async fn sleep_until(clock: ClientClock, at: Option<u64>) {
    match at {
        // Timers count in milliseconds. Waking a little late is better than early, because the
        // driver would have to sleep again.
        Some(at) => {
            let left = at.saturating_sub(clock.now());
            tokio::time::sleep(Duration::from_micros(left)).await;
        }
        None => std::future::pending().await,
    }
}
