//! The driver: the one task that does a session's I/O, on a thread of its own.
//!
//! ```text
//!   API ── Command ──▶ driver ── told/ask ──▶ session
//!                        │  ◀── do: calls, events, next timeout
//!                        ├── Batch ──▶ store ── Replies ──▶ (told)
//!                        └── Event ──▶ futures and permits of the API
//! ```
//!
//! The thread is its own so that leases are renewed while the program blocks its executor, so that a
//! permit can be dropped where no runtime is, and so that every executor will do
//! (docs/decisions/0004-driver-thread.md). This is the only place that waits.

mod command;
mod desk;
mod dispatch;
mod grant;
mod lease;
mod queues;

use std::{sync::mpsc as std_mpsc, time::Duration};

use futures_util::{StreamExt, stream::FuturesUnordered};
use seinpaal_proto::{
    Busy, Inbox, Name, Replies, Reply, Request as StoreRequest, Snapshot, Ticket, queue,
    session::{AskId, Call, CallId, Config, Failure, Session},
};
use tokio::sync::{mpsc, oneshot};

pub(crate) use command::{Asked, Command, Detached, Opening, Request, Wanted};
pub(crate) use grant::{Grant, Handle};
pub(crate) use lease::Lease;
pub(crate) use queues::{
    Asked as QueueAsked, Handed, NotDone, QueueCommand, Wanted as WantedItems,
};

use crate::{
    boottime,
    error::AcquireError,
    store::{BoxFuture, Certainty, News, Store, StoreError, Together},
};
use dispatch::Waiting;
use queues::Queues;
use std::{collections::HashMap, sync::Arc};

/// How long a driver whose program is gone goes on trying to give everything back.
const LAST_WORDS: Duration = Duration::from_secs(10);

enum Done {
    Call(CallId, Result<Replies, StoreError>),
    Together(Vec<(CallId, Ticket)>, Result<Together, StoreError>),
    List(oneshot::Sender<Listed>, Listed),
    Queue(Name, CallId, Result<queue::Replies, StoreError>),
    ListQueues(oneshot::Sender<ListedQueues>, ListedQueues),
    Guarded,
    Slept,
}

pub(crate) type Listed = Result<Vec<(Name, Snapshot)>, StoreError>;
pub(crate) type ListedQueues = Result<Vec<(Name, queue::Snapshot)>, StoreError>;

/// A session at work.
struct Driver {
    session: Session,
    store: Arc<dyn Store>,
    commands: mpsc::UnboundedReceiver<Command>,
    news: mpsc::UnboundedReceiver<News>,
    under_way: FuturesUnordered<BoxFuture<'static, Done>>,
    waiting: Waiting,
    asks: HashMap<AskId, oneshot::Sender<Asked>>,
    last_error: Option<StoreError>,
    closing: Vec<oneshot::Sender<()>>,
    /// Tickets of different names that are to be asked for in one step.
    together: Vec<Vec<Ticket>>,
    queues: Queues,
}

/// Starts a driver: opens the store on a thread of its own and serves until every handle is gone.
pub(crate) async fn start(opening: Opening, config: Config) -> Result<Arc<Handle>, StoreError> {
    #[cfg(feature = "planted")]
    crate::planted::choose_from_environment();
    let mut seed = [0; 16];
    getrandom::fill(&mut seed).map_err(|error| internal("no random numbers", error))?;
    let inbox = Inbox(u128::from_le_bytes(seed));
    let (commands, inbound) = mpsc::unbounded_channel();
    let (opened, is_opened) = oneshot::channel();
    let (over, is_over) = std_mpsc::channel();
    std::thread::Builder::new()
        .name("seinpaal-driver".into())
        .spawn(move || {
            run(opening, config, inbox, inbound, opened);
            drop(over);
        })
        .map_err(|error| internal("cannot start a thread", error))?;
    let store = is_opened.await.map_err(|_| internal_text("the driver stopped"))??;
    Ok(Arc::new(Handle::new(commands, is_over, store)))
}

fn run(
    opening: Opening,
    config: Config,
    inbox: Inbox,
    commands: mpsc::UnboundedReceiver<Command>,
    opened: oneshot::Sender<Result<Arc<dyn Store>, StoreError>>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = opened.send(Err(internal("cannot start a runtime", error)));
            return;
        }
    };
    runtime.block_on(async move {
        let (sender, news) = mpsc::unbounded_channel();
        let store = match opening(inbox, sender).await {
            Ok(store) => store,
            Err(error) => {
                let _ = opened.send(Err(error));
                return;
            }
        };
        if opened.send(Ok(Arc::clone(&store))).is_err() {
            return; // the program gave up connecting
        }
        let config = match store.longest_lease() {
            Some(longest) => config.within(longest),
            None => config,
        };
        let reading = store.first_reading();
        let queues = Queues::new(inbox, config.clone(), reading);
        let mut session = Session::new(inbox, config);
        session.learn_clock(reading.shows, reading.asked_at);
        Driver::new(session, queues, store, commands, news).serve().await;
    });
}

impl Driver {
    fn new(
        session: Session,
        queues: Queues,
        store: Arc<dyn Store>,
        commands: mpsc::UnboundedReceiver<Command>,
        news: mpsc::UnboundedReceiver<News>,
    ) -> Self {
        Self {
            session,
            store,
            commands,
            news,
            under_way: FuturesUnordered::new(),
            waiting: Waiting::default(),
            asks: HashMap::new(),
            last_error: None,
            closing: Vec::new(),
            together: Vec::new(),
            queues,
        }
    }

    async fn serve(mut self) {
        let mut news_open = true;
        loop {
            self.step();
            let timeout = self.next_timeout();
            tokio::select! {
                biased;
                Some(done) = self.under_way.next(), if !self.under_way.is_empty() => self.take_done(done),
                news = self.news.recv(), if news_open => match news {
                    Some(news) => self.take_news(news),
                    None => news_open = false,
                },
                command = self.commands.recv() => match command {
                    Some(command) => self.take_commands(command),
                    None => break,
                },
                () = sleep_until(timeout) => {}
            }
        }
        self.finish().await;
    }

    /// The program is gone: gives back what is left, for a while.
    async fn finish(&mut self) {
        self.session.close(boottime::now());
        self.queues.close();
        let deadline = tokio::time::sleep(LAST_WORDS);
        tokio::pin!(deadline);
        loop {
            self.step();
            if self.is_idle() {
                return;
            }
            let timeout = self.next_timeout();
            tokio::select! {
                Some(done) = self.under_way.next(), if !self.under_way.is_empty() => self.take_done(done),
                Some(news) = self.news.recv() => self.take_news(news),
                () = sleep_until(timeout) => {}
                () = &mut deadline => return,
            }
        }
    }

    /// Lets time pass, tells what there is to tell, makes the calls that are due.
    fn step(&mut self) {
        let now = boottime::now();
        self.session.handle_timeout(now);
        self.tell(now);
        let calls = std::iter::from_fn(|| self.session.poll_call(now)).collect();
        self.make(calls);
        self.step_queues(now);
        if self.is_idle() {
            for closed in self.closing.drain(..) {
                let _ = closed.send(());
            }
        }
    }

    fn next_timeout(&self) -> Option<u64> {
        self.session.poll_timeout().into_iter().chain(self.queues.next_timeout()).min()
    }

    fn is_idle(&self) -> bool {
        self.session.is_idle() && self.queues.is_idle()
    }

    fn step_queues(&mut self, now: u64) {
        for (name, call) in self.queues.step(now) {
            let store = Arc::clone(&self.store);
            self.under_way.push(Box::pin(async move {
                let result = store.call_queue(&call.batch).await;
                Done::Queue(name, call.id, result)
            }));
        }
    }

    fn make(&mut self, mut calls: Vec<Call>) {
        for tickets in std::mem::take(&mut self.together) {
            // What had to be merged with other requests of its name, or must wait for them, goes by itself.
            let is_one = |call: &Call| asks_only(call).is_some_and(|t| tickets.contains(&t));
            if calls.iter().filter(|call| is_one(call)).count() == tickets.len() {
                let ones = calls.extract_if(.., |call| is_one(call)).collect();
                self.make_together(ones);
            }
        }
        for call in calls {
            let store = Arc::clone(&self.store);
            self.under_way.push(Box::pin(async move {
                let result = store.call(&call.batch).await;
                Done::Call(call.id, result)
            }));
        }
    }

    fn make_together(&mut self, calls: Vec<Call>) {
        let ids = calls.iter().filter_map(|call| Some((call.id, asks_only(call)?))).collect();
        let batches: Vec<_> = calls.into_iter().map(|call| call.batch).collect();
        let store = Arc::clone(&self.store);
        self.under_way.push(Box::pin(async move {
            let result = store.call_together(&batches).await;
            Done::Together(ids, result)
        }));
    }

    fn take_together(
        &mut self,
        now: u64,
        calls: Vec<(CallId, Ticket)>,
        result: Result<Together, StoreError>,
    ) {
        match result {
            Ok(Together::Granted(replies)) => {
                for ((id, _), replies) in calls.into_iter().zip(replies) {
                    self.session.handle_replies(now, id, replies);
                }
            }
            Ok(Together::Refused(at, refusal)) => {
                for (place, (id, ticket)) in calls.into_iter().enumerate() {
                    let is_it = place == at;
                    let replies = if is_it { refusal.clone() } else { busy(&refusal, ticket) };
                    self.session.handle_replies(now, id, replies);
                }
            }
            Err(error) => calls.into_iter().for_each(|(id, _)| self.take_error(now, id, &error)),
        }
    }

    fn take_error(&mut self, now: u64, id: CallId, error: &StoreError) {
        tracing::warn!(target: "seinpaal", kind = ?error.kind(), %error, "the store did not answer");
        let maybe_executed = error.certainty() != Certainty::NotExecuted;
        let failure = Failure { maybe_executed, is_passing: error.is_passing() };
        self.last_error = Some(error.clone());
        self.session.handle_failure(now, id, failure);
    }

    fn take_done(&mut self, done: Done) {
        let now = boottime::now();
        match done {
            Done::Call(id, Ok(replies)) => self.session.handle_replies(now, id, replies),
            Done::Call(id, Err(error)) => self.take_error(now, id, &error),
            Done::Together(calls, result) => self.take_together(now, calls, result),
            Done::List(reply, listed) => drop(reply.send(listed)),
            Done::Queue(name, id, result) => self.queues.take_done(now, &name, id, result),
            Done::ListQueues(reply, listed) => drop(reply.send(listed)),
            Done::Guarded | Done::Slept => {}
        }
        self.tell(now);
    }

    fn take_news(&mut self, news: News) {
        let now = boottime::now();
        self.take_one(now, news);
        while let Ok(news) = self.news.try_recv() {
            self.take_one(now, news);
        }
    }

    fn take_one(&mut self, now: u64, news: News) {
        match news {
            News::Wakeup(wakeup) => self.session.handle_wakeup(now, wakeup),
            News::LookAgain => {
                self.session.look_again(now);
                self.queues.look_again(now);
            }
            News::LookAt(wakeup) => self.session.look_at_ticket(now, wakeup),
            News::Queue(wakeup) => self.queues.take_wakeup(now, &wakeup),
        }
    }

    /// Takes what has come up, so that requests of many tasks share a round trip.
    fn take_commands(&mut self, first: Command) {
        let now = boottime::now();
        self.take_command(now, first);
        while let Ok(command) = self.commands.try_recv() {
            self.take_command(now, command);
        }
    }

    fn error(&self) -> StoreError {
        self.last_error.clone().unwrap_or_else(misfit)
    }

    fn refused_by_store(&self) -> AcquireError {
        AcquireError::Store(self.error())
    }
}

/// The ticket, if a call asks for permits and for nothing else.
fn asks_only(call: &Call) -> Option<Ticket> {
    match call.batch.requests.as_slice() {
        [StoreRequest::Acquire(ask)] => Some(ask.ticket),
        _ => None,
    }
}

/// What the others are told where one of several was refused.
fn busy(refusal: &Replies, ticket: Ticket) -> Replies {
    let reply = Reply::Busy { ticket, why: Busy::Full, limit: 0, held: 0, waiting: 0 };
    Replies { now: refusal.now, replies: vec![reply], backlog: false, look_in: None }
}

async fn sleep_until(at: Option<u64>) {
    match at {
        // Timers count in milliseconds: a little late rather than early and again.
        Some(at) => {
            let left = at.saturating_sub(boottime::now());
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

/// The driver has ended: the connection was closed.
pub(crate) fn is_over() -> StoreError {
    internal_text("the connection is closed")
}

/// The store's answer is not one to what was asked.
pub(crate) fn misfit() -> StoreError {
    internal_text("the store gave an answer that does not fit")
}
