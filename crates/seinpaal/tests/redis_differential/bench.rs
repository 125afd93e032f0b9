//! A server, the store under test and the ledger, which all get the same events.

#[path = "bench/aging.rs"]
mod aging;
#[path = "bench/clocks.rs"]
mod clocks;
#[path = "bench/keys.rs"]
mod keys;
#[path = "bench/left.rs"]
mod left;
#[path = "bench/lists.rs"]
mod lists;
#[path = "bench/messages.rs"]
mod messages;
#[path = "bench/seen.rs"]
mod seen;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use aging::Aging;
use messages::{channel, channel_of, message};
use redis::{AsyncConnectionConfig, PushInfo, aio::MultiplexedConnection};
use seen::{Seen, admits_nobody, is_of};
use seinpaal::store::{
    Store, StoreError, StoreErrorKind,
    redis::{RedisStore, TestHooks},
    url::StoreUrl,
};
use seinpaal_proto::{Batch, Inbox, MemoryState, Name, Replies, Request, execute};
use tokio::sync::mpsc;

use super::{
    RedisServer,
    history::{Event, FenceSeen, Sketch},
    model::{Guard, Listening, Model},
};

pub(super) const START: u64 = 1_795_000_000_000_000;
pub(super) const KEY: &str = "seinpaal:{a name}";
const MARKER: &str = "seinpaal:guard";
/// How often a history is run again if a key may have ended unseen, or if a call had no answer.
const MOST_REPEATED: usize = 20;

/// A server, the store under test, and the other connections.
pub(super) struct Bench {
    server: RedisServer,
    store: Arc<RedisStore>,
    now: Arc<AtomicU64>,
    pub(super) ears: MultiplexedConnection,
    observer: MultiplexedConnection,
    heard: mpsc::UnboundedReceiver<PushInfo>,
    guard: Option<u64>,
    /// Whether each batch shares a call with a question about another name.
    is_bundled: bool,
    /// When the history began. Keys also grow older by the server's own clock.
    began: Instant,
    /// If the keys have already been made older by the next step, whether the name is gone after
    /// that.
    told: Option<bool>,
    aging: Aging,
}

impl Bench {
    pub(super) async fn new(
        mutations: impl IntoIterator<Item = (&'static str, &'static str)>,
    ) -> Self {
        Self::with(mutations, None).await
    }

    pub(super) async fn with(
        mutations: impl IntoIterator<Item = (&'static str, &'static str)>,
        guard: Option<u64>,
    ) -> Self {
        Self::on(RedisServer::start(), mutations, guard).await
    }

    pub(super) async fn on(
        server: RedisServer,
        mutations: impl IntoIterator<Item = (&'static str, &'static str)>,
        guard: Option<u64>,
    ) -> Self {
        let options = guard.map(|us| format!("?restart-guard={}ms", us / 1000)).unwrap_or_default();
        let url = StoreUrl::parse(&server.socket_url(&options)).unwrap();
        let now = Arc::new(AtomicU64::new(START));
        let owned = |(from, to): (&str, &str)| (from.to_owned(), to.to_owned());
        let mutations = mutations.into_iter().map(owned).collect();
        let hooks = TestHooks { now: Some(now.clone()), mutations, ..TestHooks::default() };
        let (news, _) = mpsc::unbounded_channel();
        let store = RedisStore::open_with_hooks(url, Inbox(1), news, hooks).await.unwrap();
        let (ears, _) = connect(&server).await;
        let (mut observer, heard) = connect(&server).await;
        observer.psubscribe("seinpaal:inbox:*").await.unwrap();
        let (is_bundled, began, told) = (false, Instant::now(), None);
        let aging = Aging::default();
        Self { server, store, now, ears, observer, heard, guard, is_bundled, began, told, aging }
    }

    pub(super) fn bundled(mut self) -> Self {
        self.is_bundled = true;
        self
    }

    pub(super) fn is_guarded(&self) -> bool {
        self.guard.is_some()
    }

    /// Runs a history on a clean server and a new ledger. Returns their first difference. A history
    /// is run again if they differ and the machine stood still for so long that a key may have
    /// ended unseen, or that a call had no answer in time.
    pub(super) async fn difference(&mut self, history: &[Event]) -> Option<String> {
        let mut difference = self.difference_now(history).await;
        for _ in 0..MOST_REPEATED {
            if difference.is_none() || !self.aging.is_unsure {
                break;
            }
            difference = self.difference_now(history).await;
        }
        difference
    }

    async fn difference_now(&mut self, history: &[Event]) -> Option<String> {
        self.begin_anew().await;
        let guard = self.guard.map(|length| Guard { length, kept: None });
        let mut model = Model { guard, ..Model::default() };
        for (i, event) in history.iter().enumerate() {
            let next = next_step(&history[i + 1..]);
            if let Some(difference) = self.compare(&mut model, event, next).await {
                return Some(format!("at event {i}, {event:?}:\n{difference}"));
            }
        }
        self.compare_ends(&mut model).await
    }

    async fn begin_anew(&mut self) {
        self.ears.unsubscribe(&[(0..4).map(channel).collect::<Vec<_>>()]).await.unwrap();
        redis::cmd("FLUSHALL").exec_async(&mut self.observer).await.unwrap();
        self.wakeups();
        self.now.store(START, Ordering::SeqCst);
        (self.began, self.told, self.aging) = (Instant::now(), None, Aging::default());
    }

    /// Compares one event. If the step of the next call is given, the keys are made older by it in
    /// the look at the server that follows a call.
    async fn compare(
        &mut self,
        model: &mut Model,
        event: &Event,
        next: Option<i64>,
    ) -> Option<String> {
        match event {
            Event::Listen(inbox) => {
                self.ears.subscribe(channel_of(*inbox)).await.unwrap();
                model.listening.insert(*inbox);
                None
            }
            Event::Hush(inbox) => {
                self.ears.unsubscribe(channel_of(*inbox)).await.unwrap();
                model.listening.remove(inbox);
                None
            }
            Event::LoseMarker => {
                let _: u64 =
                    redis::cmd("DEL").arg(MARKER).query_async(&mut self.ears).await.unwrap();
                model.guard.as_mut().unwrap().kept = None;
                None
            }
            Event::Call { step, inbox, fence, sketches } => {
                let now = self.now.load(Ordering::SeqCst).saturating_add_signed(*step);
                if self.is_gone_after(*step).await {
                    if let Some(left) = self.owed(&model.state).filter(|left| *left > step / 1000) {
                        return Some(format!("{KEY} is gone, and is needed for {left} ms more"));
                    }
                    model.state = MemoryState::default();
                }
                self.now.store(now, Ordering::SeqCst);
                let batch = model.batch(now, *inbox, *fence, sketches);
                self.compare_calls(model, now, &batch, next).await
            }
        }
    }

    async fn compare_calls(
        &mut self,
        model: &mut Model,
        now: u64,
        batch: &Batch,
        next: Option<i64>,
    ) -> Option<String> {
        let noted = model.guard.as_ref().and_then(|guard| guard.kept);
        let guarded_for = model.guard.as_mut().and_then(|guard| guard.left_at(now));
        let mut contacts = Listening(&model.listening, guarded_for);
        let Ok(expected) = execute(&mut model.state, &mut contacts, now, batch);
        let replies = match self.call(batch).await {
            Ok(replies) => replies,
            Err(error) => {
                self.aging.is_unsure |= error.kind() == StoreErrorKind::Unreachable;
                return Some(format!("batch {batch:?}\nfailed: {error}"));
            }
        };
        self.aging.answered();
        let Seen { wakeups, kept, marker } = self.look(next).await;
        // Such a batch may not have checked the guard at all. Then the time until this call does
        // not count for the guard, and so it does not count in the model either.
        if admits_nobody(batch) && !marker.is_some_and(|marker| is_of(&marker, now)) {
            model.guard.iter_mut().for_each(|guard| guard.kept = noted);
        }
        let expected_wakeups = expected.wakeups.iter().map(message).collect::<Vec<_>>();
        if replies == expected.replies && wakeups == expected_wakeups {
            return self.kept_amiss(&model.state, &kept);
        }
        Some(format!(
            "batch   {batch:?}\nledger  {:?}\nscript  {replies:?}\nledger wakes {expected_wakeups:?}\n\
             script wakes {wakeups:?}",
            expected.replies
        ))
    }

    async fn call(&self, batch: &Batch) -> Result<Replies, StoreError> {
        if !self.is_bundled {
            return self.store.call(batch).await;
        }
        let other = Name::new("another name").unwrap();
        let look =
            Batch { name: other, requests: vec![Request::Inspect { rows: 1 }], ..batch.clone() };
        let bundle = [look, batch.clone()];
        let mut outcomes = self.store.bundles().unwrap().call_bundle(&bundle).await;
        let replies = outcomes.pop().unwrap();
        outcomes.pop().unwrap()?;
        replies
    }

    /// Compares everything that is left, and checks that a name that costs nothing leaves nothing.
    async fn compare_ends(&mut self, model: &mut Model) -> Option<String> {
        let now = self.now.load(Ordering::SeqCst);
        let batch = model.batch(now, None, FenceSeen::None, &[Sketch::Inspect { rows: 10_000 }]);
        if let Some(difference) = self.compare_calls(model, now, &batch, None).await {
            return Some(format!("at the end:\n{difference}"));
        }
        let keys: u64 = redis::cmd("DBSIZE").query_async(&mut self.ears).await.unwrap();
        let marker = u64::from(self.guard.is_some());
        // A name with little data and no waiter has no order.
        let expected =
            if model.state.is_empty() { marker..=marker } else { marker + 1..=marker + 2 };
        let is_expected = expected.contains(&keys);
        (!is_expected).then(|| format!("at the end: {keys} keys are left, not {expected:?}"))
    }

    /// Removes events for as long as the difference stays.
    pub(super) async fn shorten(&mut self, mut history: Vec<Event>) -> Vec<Event> {
        let mut size = history.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at < history.len() {
                let end = (at + size).min(history.len());
                let shorter = [&history[..at], &history[end..]].concat();
                if self.difference(&shorter).await.is_some() {
                    history = shorter;
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
        history
    }
}

/// The step of the next call, if it is the next event.
fn next_step(rest: &[Event]) -> Option<i64> {
    match rest.first()? {
        Event::Call { step, .. } => Some(*step),
        _ => None,
    }
}

async fn connect(
    server: &RedisServer,
) -> (MultiplexedConnection, mpsc::UnboundedReceiver<PushInfo>) {
    let client = redis::Client::open(server.socket_url("?protocol=resp3")).unwrap();
    let (sender, receiver) = mpsc::unbounded_channel();
    let config = AsyncConnectionConfig::new().set_push_sender(sender).set_response_timeout(None);
    let connection = client.get_multiplexed_async_connection_with_config(&config).await.unwrap();
    (connection, receiver)
}
