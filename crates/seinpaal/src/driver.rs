//! The driver: the one task that does a session's I/O, on a thread of its own.
//!
//! ```text
//!   API ── Command ──▶ driver ── told/ask ──▶ session
//!                        │  ◀── do: calls, events, next timeout
//!                        ├── Batch ──▶ store ── Replies ──▶ (told)
//!                        └── Event ──▶ futures and permits of the API
//! ```
//!
//! The driver has a thread of its own for three reasons: leases are renewed while the program
//! blocks its executor, a permit can be dropped where there is no runtime, and the program may use
//! any executor (docs/decisions/0004-driver-thread.md). This is the only place that waits.
//!
//! If the store answers in place, a caller may enter an idle driver and have its one call made on
//! the caller's thread (`shared.rs`, docs/decisions/0047-a-lone-call-on-its-callers-thread.md).

mod asks;
mod command;
mod dispatch;
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
mod parting;
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
    Name, Replies, Ticket, queue,
    session::{Call, CallId, Session},
};
use tokio::sync::{mpsc, oneshot};

pub(crate) use command::{
    Asked, Command, Detached, Giving, OnQueued, Opening, ReleaseReply, Request, Wanted,
};
pub(crate) use handle::Handle;
pub(crate) use lease::{Grant, Lease};
pub use pulse::Outage;
pub(crate) use pulse::Pulse;
pub(crate) use queue_command::{
    Asked as QueueAsked, Handed, NotDone, QueueCommand, Wanted as WantedItems,
};

use crate::{
    boottime::ClientClock,
    error::{AcquireError, ReleaseError},
    store::{BoxFuture, Certainty, News, Store, StoreError, StoreErrorKind, Together},
};
use asks::Asks;
use dispatch::Waiting;
pub(crate) use figures::Asked as AskedFor;
use queues::Queues;
pub(crate) use releases::ANSWER;
pub(crate) use shared::SharedDriver;
use start::Makings;
pub(crate) use start::{start, start_as_task, start_at_once, start_here};
pub use statistics::ConnectionStatistics;
pub(crate) use statistics::Statistics;

/// How long a driver tries to give everything back after the program has dropped its last handle.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// After several requests came at once, callers send nothing themselves for this long: the other
/// requests would have to wait for the answer.
const CROWDED: u64 = 10_000;

enum Done {
    Call(CallId, Result<Replies, StoreError>),
    Bundle(Vec<(CallId, Result<Replies, StoreError>)>),
    Together(Vec<(CallId, Ticket)>, Result<Together, StoreError>),
    Queue(Name, CallId, Result<queue::Replies, StoreError>),
}

/// A connection that was closed.
struct Closing {
    /// The longest lease of ours that may still stand at the store.
    longest: Duration,
    give_up_at: u64,
    told: Vec<oneshot::Sender<Result<(), ReleaseError>>>,
}

/// A session at work.
struct Driver {
    session: Session,
    store: Arc<dyn Store>,
    commands: mpsc::UnboundedReceiver<Command>,
    news: mpsc::UnboundedReceiver<News>,
    clock: ClientClock,
    /// Where the store is, for people.
    address: Arc<str>,
    statistics: Arc<Statistics>,
    under_way: FuturesUnordered<BoxFuture<'static, Done>>,
    /// Work with the store that does not concern the session, such as lists. It ends when the
    /// connection is closed.
    store_tasks: FuturesUnordered<BoxFuture<'static, ()>>,
    waiting: Waiting,
    asks: Asks,
    last_error: Option<StoreError>,
    /// Set when the connection was closed: until when the driver waits for the store, and the
    /// callers that wait for that.
    closing: Option<Closing>,
    /// Tickets of different names that are to be asked for in one step.
    together: Vec<Vec<Ticket>>,
    queues: Queues,
    pulse: Arc<Pulse>,
    /// Callbacks to tell that a request waits, with the number of waiting requests. They run on the
    /// connection's thread, and not inside a call.
    queued: Vec<(OnQueued, u32)>,
    /// Until this instant several callers are taken to ask at once, and their requests go together.
    crowded_until: u64,
}

impl Driver {
    fn new(session: Session, queues: Queues, store: Arc<dyn Store>, makings: Makings) -> Self {
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
            waiting: Waiting::default(),
            asks: Asks::default(),
            last_error: None,
            closing: None,
            together: Vec::new(),
            queues,
            pulse,
            queued: Vec::new(),
            crowded_until: 0,
        }
    }

    /// The program has dropped its last handle: gives back what is left, for a bounded time.
    async fn finish(&mut self) {
        self.close(self.clock.now());
        let mut deadline = pin!(tokio::time::sleep(LAST_WORDS));
        loop {
            self.step();
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
        self.tell(now);
        self.answer_overdue(now);
        std::iter::from_fn(|| self.session.poll_call(now)).collect()
    }

    /// What is left of a step once these calls are made.
    fn stand(&mut self, now: u64) {
        self.step_queues(now);
        self.answer_closing(now);
        self.statistics.stand(self.waiting.held(), self.waiting.requests());
    }

    fn next_timeout(&self) -> Option<u64> {
        let overdue = [self.waiting.next_overdue(), self.asks.next_overdue(), self.closed_by()];
        let own = overdue.into_iter().flatten();
        let sessions = self.session.poll_timeout().into_iter().chain(self.queues.next_timeout());
        sessions.chain(own).min()
    }

    /// Ends requests that the store has not answered in time.
    fn answer_overdue(&mut self, now: u64) {
        self.answer_overdue_releases(now);
        while let Some(ask) = self.asks.overdue(now) {
            let silence = self.silence();
            self.asks.answer(ask, Err(silence));
        }
    }

    fn is_idle(&self) -> bool {
        self.session.is_idle() && self.queues.is_idle()
    }

    fn step_queues(&mut self, now: u64) {
        for (name, call) in self.queues.step(now) {
            let store = Arc::clone(&self.store);
            self.statistics.called();
            let batch = call.batch;
            let asked = self.pulse.watch(async move {
                let timing = figures::Call::begin("queues");
                let result = store.call_queue(&batch).await;
                timing.end(result.as_ref().err());
                result
            });
            self.under_way.push(Box::pin(async move { Done::Queue(name, call.id, asked.await) }));
        }
    }

    fn take_error(&mut self, now: u64, id: CallId, error: &StoreError) {
        tracing::warn!(target: "seinpaal", kind = ?error.kind(), %error, "the store did not answer");
        self.statistics.failed();
        let failure = error.as_failure();
        self.last_error = Some(error.clone());
        self.session.handle_failure(now, id, failure);
    }

    fn take_result(&mut self, now: u64, id: CallId, result: Result<Replies, StoreError>) {
        match result {
            Ok(replies) => {
                self.last_error = None;
                self.session.handle_replies(now, id, replies);
            }
            Err(error) => self.take_error(now, id, &error),
        }
    }

    fn take_done(&mut self, done: Done) {
        let now = self.clock.now();
        match done {
            Done::Call(id, result) => self.take_result(now, id, result),
            Done::Bundle(results) => {
                for (id, result) in results {
                    self.take_result(now, id, result);
                }
            }
            Done::Together(calls, result) => self.take_together(now, calls, result),
            Done::Queue(name, id, result) => {
                if result.is_err() {
                    self.statistics.failed();
                }
                self.queues.take_done(now, &name, id, result);
            }
        }
        self.tell(now);
    }

    fn take_news(&mut self, news: News) {
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
                self.statistics.looked_again();
                figures::reconnected();
                self.session.look_again(now);
                self.queues.look_again(now);
            }
            News::Queue(wakeup) => self.queues.take_wakeup(now, &wakeup),
        }
    }

    /// Takes all commands that are there, so that requests of many tasks share a round trip.
    fn take_commands(&mut self, first: Command) {
        let now = self.clock.now();
        self.take_command(now, first);
        if self.take_more_commands(now) > 0 {
            self.crowded_until = now + CROWDED;
        }
    }

    /// How many there were.
    fn take_more_commands(&mut self, now: u64) -> usize {
        let mut taken = 0;
        while let Ok(command) = self.commands.try_recv() {
            self.take_command(now, command);
            taken += 1;
        }
        taken
    }

    fn error(&self) -> StoreError {
        self.last_error.clone().unwrap_or_else(misfit)
    }

    fn refused_by_store(&self) -> AcquireError {
        self.error().into()
    }

    /// The error for a request that the store has not answered in time.
    fn silence(&self) -> StoreError {
        let last_error = self.last_error.clone().filter(StoreError::is_passing);
        last_error.unwrap_or_else(|| silence(&self.address))
    }
}

async fn sleep_until(clock: ClientClock, at: Option<u64>) {
    match at {
        // Timers count in milliseconds. A little late is better than early, since the driver would
        // have to sleep again.
        Some(at) => {
            let left = at.saturating_sub(clock.now());
            tokio::time::sleep(Duration::from_micros(left)).await;
        }
        None => std::future::pending().await,
    }
}

pub(crate) fn internal(
    what: &str,
    error: impl std::error::Error + Send + Sync + 'static,
) -> StoreError {
    internal_text(&format!("{what}: {error}")).caused_by(error)
}

fn internal_text(what: &str) -> StoreError {
    StoreError::new(crate::store::StoreErrorKind::Internal, Certainty::NotExecuted, what)
}

/// The connection was closed, or its driver has ended with the runtime that it was started on.
pub(crate) fn is_closed() -> StoreError {
    StoreError::new(StoreErrorKind::Closed, Certainty::Unknown, "the connection is closed")
}

/// The store at this address did not say anything in time.
fn silence(address: &str) -> StoreError {
    let message = format!("{address} did not answer in time: is it running and reachable?");
    StoreError::new(StoreErrorKind::Unreachable, Certainty::Unknown, message)
}

/// The store's answer is not one to what was asked.
pub(crate) fn misfit() -> StoreError {
    internal_text("the store gave an answer that does not fit")
}
