//! A server, the store under test and the ledger of queues, which all get the same events.

#[path = "bench/keys.rs"]
mod keys;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use redis::{AsyncConnectionConfig, PushInfo, PushKind, Value, aio::MultiplexedConnection};
use seinpaal::store::{
    Store, StoreErrorKind,
    redis::{EditLua, RedisStore, TestHooks},
    url::StoreUrl,
};
use seinpaal_proto::{
    Inbox,
    queue::{Batch, Configure, Delivery, ItemState, Pop, Wakeup, What, execute},
    time::SECOND,
};
use tokio::sync::mpsc;

use super::{
    RedisServer,
    model::{Listening, Model},
    queue_history::{Event, ListPlace, Seen, Sketch, Turn, inbox},
};

pub(super) const START: u64 = 1_795_000_000_000_000;
const KEY: &str = "seinpaal:{a name}:q";
/// How often a history is run again if a call had no answer.
const MOST_REPEATED: usize = 20;

/// A server, the store under test, and the other connections.
pub(super) struct Bench {
    _server: RedisServer,
    store: Arc<RedisStore>,
    now: Arc<AtomicU64>,
    ears: MultiplexedConnection,
    observer: MultiplexedConnection,
    heard: mpsc::UnboundedReceiver<PushInfo>,
    /// After how many calls items in work were listed behind the head.
    pub(super) listed: u64,
    /// After how many of these calls the list was full.
    pub(super) filled: u64,
    /// Whether a call of this history had no answer in time, because the machine stood still.
    is_unanswered: bool,
}

impl Bench {
    pub(super) async fn new(mutation: Option<(&str, &str)>) -> Self {
        Self::on(RedisServer::start(), mutation).await
    }

    pub(super) async fn on(server: RedisServer, mutation: Option<(&str, &str)>) -> Self {
        let url = StoreUrl::parse(&server.socket_url("")).unwrap();
        let now = Arc::new(AtomicU64::new(START));
        let edit = mutation.map(|(from, to)| -> EditLua {
            let (from, to) = (from.to_owned(), to.to_owned());
            Arc::new(move |files| files.replacen(&from, &to, 1))
        });
        let hooks = TestHooks { now: Some(now.clone()), edit, ..TestHooks::default() };
        let (news, _) = mpsc::unbounded_channel();
        let store = RedisStore::open_with_hooks(url, Inbox(1), news, hooks).await.unwrap();
        let (mut ears, _) = connect(&server).await;
        let log = ["SET", "slowlog-log-slower-than", "0"];
        redis::cmd("CONFIG").arg(&log).exec_async(&mut ears).await.unwrap();
        let (mut observer, heard) = connect(&server).await;
        observer.psubscribe("seinpaal:inbox:*").await.unwrap();
        Self {
            _server: server,
            store,
            now,
            ears,
            observer,
            heard,
            listed: 0,
            filled: 0,
            is_unanswered: false,
        }
    }

    /// The messages that were published, in order. The answer to the PING comes after everything
    /// before it.
    async fn wakeups(&mut self) -> Vec<String> {
        redis::cmd("PING").exec_async(&mut self.observer).await.unwrap();
        let mut wakeups = Vec::new();
        while let Ok(push) = self.heard.try_recv() {
            if push.kind == PushKind::PMessage {
                wakeups.push(push.data[1..].iter().map(text).collect::<Vec<_>>().join(" "));
            }
        }
        wakeups
    }

    /// Runs a history on a clean server and a new ledger. Returns their first difference. A history
    /// is run again if they differ because a call had no answer.
    pub(super) async fn difference(&mut self, history: &[Event]) -> Option<String> {
        let mut difference = self.difference_now(history).await;
        for _ in 0..MOST_REPEATED {
            if difference.is_none() || !self.is_unanswered {
                break;
            }
            difference = self.difference_now(history).await;
        }
        difference
    }

    async fn difference_now(&mut self, history: &[Event]) -> Option<String> {
        let mut model = match self.run(history).await {
            Ok(model) => model,
            Err(difference) => return Some(difference),
        };
        self.compare_ends(&mut model).await
    }

    /// Runs a history, and returns the ledger. It does not compare what the history leaves behind.
    pub(super) async fn run(&mut self, history: &[Event]) -> Result<Model, String> {
        redis::cmd("FLUSHALL").exec_async(&mut self.ears).await.unwrap();
        let channels = (0..5).map(|i| channel_of(inbox(i))).collect::<Vec<_>>();
        self.ears.unsubscribe(&[channels]).await.unwrap();
        self.wakeups().await;
        self.now.store(START, Ordering::SeqCst);
        self.is_unanswered = false;
        let mut model = Model::default();
        for (i, event) in history.iter().enumerate() {
            if let Some(difference) = self.compare(&mut model, event).await {
                return Err(format!("at event {i}, {event:?}:\n{difference}"));
            }
        }
        Ok(model)
    }

    /// Returns whether there is such a field of the queue.
    pub(super) async fn keeps(&mut self, field: &str) -> bool {
        redis::cmd("HEXISTS").arg(&[KEY, field]).query_async(&mut self.ears).await.unwrap()
    }

    async fn compare(&mut self, model: &mut Model, event: &Event) -> Option<String> {
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
            Event::Call { step, session, turn, seen, sketches } => {
                let now = self.now.load(Ordering::SeqCst).saturating_add_signed(*step);
                self.now.store(now, Ordering::SeqCst);
                let batch = model.batch(now, *session, *turn, *seen, sketches);
                self.compare_calls(model, now, &batch).await
            }
        }
    }

    async fn compare_calls(
        &mut self,
        model: &mut Model,
        now: u64,
        batch: &Batch,
    ) -> Option<String> {
        let mut contacts = Listening(&model.listening);
        let Ok(expected) = execute(&mut model.state, &mut contacts, now, batch);
        let replies = match self.store.call_queue(batch).await {
            Ok(replies) => replies,
            Err(error) => {
                self.is_unanswered |= error.kind() == StoreErrorKind::Unreachable;
                return Some(format!("batch {batch:?}\nfailed: {error}"));
            }
        };
        let wakeups = self.wakeups().await;
        let expected_wakeups = expected.wakeups.iter().map(message).collect::<Vec<_>>();
        if replies == expected.replies && wakeups == expected_wakeups {
            model.learn(&replies.replies);
            model.remember(batch, &replies.replies);
            return self.compare_keys(model).await;
        }
        Some(format!(
            "batch   {batch:?}\nledger  {:?}\nscript  {replies:?}\nledger wakes {expected_wakeups:?}\n\
             script wakes {wakeups:?}",
            expected.replies
        ))
    }

    /// Calls the script that was called last with these arguments, and returns its answer.
    pub(super) async fn evaluate(&mut self, arguments: &[Vec<u8>]) -> redis::RedisResult<Value> {
        let log = redis::cmd("SLOWLOG").arg("GET").arg(1000).to_owned();
        let log: Vec<Vec<Value>> = log.query_async(&mut self.ears).await.unwrap();
        let calls = log.iter().map(|entry| redis::from_redis_value_ref(&entry[3]).unwrap());
        // The latest call comes first.
        let mut hashes = calls.filter_map(|call: Vec<Vec<u8>>| {
            call[0].eq_ignore_ascii_case(b"EVALSHA").then(|| call[1].clone())
        });
        let mut call = redis::cmd("EVALSHA");
        call.arg(hashes.next().expect("a call")).arg(2).arg(KEY).arg(format!("{KEY}:o"));
        call.arg(arguments).query_async(&mut self.ears).await
    }

    /// Compares everything that is left: dead items, and the items that are popped when nothing
    /// holds them back.
    async fn compare_ends(&mut self, model: &mut Model) -> Option<String> {
        let rows = 10_000;
        let list = |state| Sketch::List { after: ListPlace::Before(state), rows };
        let looks = [Sketch::Inspect { rows }].into_iter().chain(ItemState::ALL.map(list));
        let looks: Vec<_> = looks.collect();
        let frees = [Configure::Limit(None), Configure::GroupLimit(None), Configure::Resume];
        let mut batches = vec![looks.to_vec(), frees.map(Sketch::Configure).to_vec()];
        batches.extend((0..6).map(|_| vec![Sketch::Pop(everything())]));
        batches.push(looks.to_vec());
        for sketches in batches {
            let now = self.now.load(Ordering::SeqCst);
            let batch =
                model.batch(now, inbox(9), Turn::Next(SECOND as i64), Seen::None, &sketches);
            if let Some(difference) = self.compare_calls(model, now, &batch).await {
                return Some(format!("at the end:\n{difference}"));
            }
        }
        None
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

pub(super) fn everything() -> Pop {
    let (ttl, margin) = (SECOND, SECOND / 4);
    Pop { items: 64, ttl, margin, wait: false, drains: false, about: String::new() }
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

fn channel_of(inbox: Inbox) -> String {
    format!("seinpaal:inbox:{inbox}")
}

fn text(value: &Value) -> String {
    redis::from_redis_value_ref(value).unwrap()
}

/// A wakeup in the form in which docs/internals/stores/redis.md says that it is published.
fn message(wakeup: &Wakeup) -> String {
    let channel = channel_of(wakeup.inbox);
    match &wakeup.what {
        What::Called => format!("{channel} called {KEY}"),
        What::Watch { look_in } => format!("{channel} watch {look_in} {KEY}"),
        What::Lost(Delivery { id, fence }) => format!("{channel} lost {id} {fence} {KEY}"),
    }
}
