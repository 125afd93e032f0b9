//! A server, the store under test and the ledger of queues, which all get the same events.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use redis::{AsyncConnectionConfig, PushInfo, PushKind, Value, aio::MultiplexedConnection};
use seinpaal::store::{
    Store, StoreErrorKind,
    redis::{EditLua, RedisStore, TestHooks, keys::Keys, queue::layout::StoredQueue, wakeup},
    url::StoreUrl,
};
use seinpaal_proto::{
    Inbox,
    queue::{
        Batch, ItemRow, MemoryQueue, Replies, Reply, RowState, SessionRecord, State, Wakeup,
        execute,
    },
};
use seinpaal_rig::RedisServer;
use tokio::sync::mpsc;

use super::history::{Event, Reachable, START, name};

const KEY: &str = "seinpaal:{a name}:q";
/// How often a history is run again if a call had no answer, because the machine stood still.
const MOST_REPEATED: usize = 20;

/// The ledger.
#[derive(Default)]
struct Model {
    state: MemoryQueue,
    reachable: Reachable,
    /// All clients of the history.
    inboxes: Vec<Inbox>,
}

/// A server, the store under test, and the other connections.
pub(super) struct Bench {
    _server: RedisServer,
    store: Arc<RedisStore>,
    now: Arc<AtomicU64>,
    ears: MultiplexedConnection,
    observer: MultiplexedConnection,
    heard: mpsc::UnboundedReceiver<PushInfo>,
    /// Whether a call had no answer in time.
    is_unsure: bool,
}

impl Bench {
    pub(super) async fn new() -> Self {
        Self::on(RedisServer::start(), None).await
    }

    pub(super) async fn on(server: RedisServer, edit: Option<EditLua>) -> Self {
        let url = StoreUrl::parse(&server.socket_url("")).unwrap();
        let now = Arc::new(AtomicU64::new(START));
        let hooks = TestHooks { now: Some(now.clone()), edit, ..TestHooks::default() };
        let (news, _) = mpsc::unbounded_channel();
        let store = RedisStore::open_with_hooks(url, Inbox(1), news, hooks).await.unwrap();
        let (ears, _) = connect(&server).await;
        let (mut observer, heard) = connect(&server).await;
        observer.psubscribe("seinpaal:inbox:*").await.unwrap();
        Self { _server: server, store, now, ears, observer, heard, is_unsure: false }
    }

    /// Runs a history on a clean server and a new ledger. Returns their first difference.
    pub(super) async fn difference(&mut self, history: &[Event]) -> Option<String> {
        for _ in 0..MOST_REPEATED {
            self.is_unsure = false;
            let difference = self.difference_now(history).await;
            if difference.is_none() || !self.is_unsure {
                return difference;
            }
        }
        Some("the server does not answer".to_owned())
    }

    async fn difference_now(&mut self, history: &[Event]) -> Option<String> {
        redis::cmd("FLUSHALL").exec_async(&mut self.observer).await.unwrap();
        let (mut model, mut difference) = (Model::default(), None);
        for (i, event) in history.iter().enumerate() {
            if let Some(found) = self.compare(&mut model, event).await {
                difference = Some(format!("at event {i}, {event:?}:\n{found}"));
                break;
            }
        }
        for inbox in model.reachable.0 {
            self.ears.unsubscribe(channel(inbox)).await.unwrap();
        }
        difference
    }

    async fn compare(&mut self, model: &mut Model, event: &Event) -> Option<String> {
        match event {
            Event::Listen(inbox) => {
                self.ears.subscribe(channel(*inbox)).await.unwrap();
                model.reachable.0.push(*inbox);
                None
            }
            Event::Hush(inbox) => {
                self.ears.unsubscribe(channel(*inbox)).await.unwrap();
                model.reachable.0.retain(|it| it != inbox);
                None
            }
            Event::Call { now, batch } => {
                self.now.store(*now, Ordering::SeqCst);
                if !model.inboxes.contains(&batch.session) {
                    model.inboxes.push(batch.session);
                }
                self.compare_call(model, *now, batch).await
            }
        }
    }

    async fn compare_call(&mut self, model: &mut Model, now: u64, batch: &Batch) -> Option<String> {
        let Ok(expected) = execute(&mut model.state, &mut model.reachable, now, batch);
        let replies = match self.store.call_queue(batch).await {
            Ok(replies) => replies,
            Err(error) => {
                self.is_unsure |= error.kind() == StoreErrorKind::Unreachable;
                return Some(format!("failed: {error}"));
            }
        };
        let (replies, told) = (plain(replies), plain(expected.replies));
        if replies != told {
            return Some(format!("ledger {told:?}\nscript {replies:?}"));
        }
        let (heard, wakeups) = (self.heard().await, sorted(expected.wakeups));
        if heard != wakeups {
            return Some(format!("ledger wakes {wakeups:?}\nscript wakes {heard:?}"));
        }
        self.compare_stored(model).await
    }

    /// The messages that were published before now. On one connection a message comes before a
    /// later answer.
    async fn heard(&mut self) -> Vec<Wakeup> {
        redis::cmd("PING").exec_async(&mut self.observer).await.unwrap();
        let mut wakeups = Vec::new();
        while let Ok(push) = self.heard.try_recv() {
            if push.kind == PushKind::PMessage
                && let [_, Value::BulkString(channel), Value::BulkString(message)] = &push.data[..]
            {
                wakeups.push(wakeup_of(channel, message));
            }
        }
        sorted(wakeups)
    }

    /// Compares all that is stored with the ledger's state.
    async fn compare_stored(&mut self, model: &Model) -> Option<String> {
        let order = format!("{KEY}:o");
        let mut read = redis::cmd("HGETALL");
        let fields = read.arg(KEY).query_async(&mut self.observer).await.unwrap();
        let mut read = redis::cmd("ZRANGE");
        let members = read.arg(&order).arg(0).arg(-1).query_async(&mut self.observer).await;
        let mut ends = redis::pipe();
        ends.cmd("PTTL").arg(KEY).cmd("PTTL").arg(&order);
        let lasting: (i64, i64) = ends.query_async(&mut self.observer).await.unwrap();
        let stored = StoredQueue { fields, order: members.unwrap() };
        let kept = match stored.state() {
            Ok(kept) => kept,
            Err(found) => return Some(format!("stored: {found}\n{stored:?}")),
        };
        let (kept, expected) = (comparable(kept, model), comparable(model.state.clone(), model));
        // In a crowd, sessions that are over are forgotten in another order, and a queue that has
        // nothing else goes with the last of them.
        let may_differ = model.inboxes.len() > 4 && (kept.is_empty() || expected.is_empty());
        if kept != expected && !may_differ {
            return Some(format!("not the same:\n{}", lines_of(&expected, &kept)));
        }
        stored.ends_amiss(lasting.into())
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

/// A state without the answers that are kept for a repetition, which a repetition compares; and in
/// a crowd, without sessions that are over.
fn comparable(mut state: MemoryQueue, model: &Model) -> MemoryQueue {
    if state.is_empty() {
        return state;
    }
    let Ok(mut head) = state.head();
    if head.watch.is_none() {
        head.watch_at = 0;
    }
    for inbox in &model.inboxes {
        let Ok(session) = state.session(*inbox);
        let Some(session) = session else { continue };
        let Ok(()) = if model.inboxes.len() > 4 && session.until < head.wall {
            head.sessions -= 1;
            state.remove_session(*inbox)
        } else {
            state.put_session(&SessionRecord { replies: Vec::new(), ..session })
        };
    }
    let Ok(()) = state.set_head(&head);
    state
}

/// The lines in which two states differ.
fn lines_of(expected: &MemoryQueue, kept: &MemoryQueue) -> String {
    let [expected, kept] =
        [expected, kept].map(|state| format!("{state:?}").replace("), ", "),\n"));
    let lacks = |of: &str, other: &str| {
        let lines = of.lines().filter(|line| !other.contains(*line));
        lines.collect::<Vec<_>>().join("\n")
    };
    format!("ledger {}\nscript {}", lacks(&expected, &kept), lacks(&kept, &expected))
}

/// Replies with attempts in one order. The script lists them by bounds of their ends.
fn plain(mut replies: Replies) -> Replies {
    for reply in &mut replies.replies {
        match reply {
            Reply::Snapshot(seen) => {
                seen.work.sort_by_key(|row| row.id);
                // Which of them are listed if there are more is nowhere said.
                if seen.work.len() < seen.in_work as usize {
                    seen.work.clear();
                }
            }
            Reply::Items { rows, .. } if rows.iter().any(is_in_work) => {
                rows.sort_by_key(|row| row.id);
            }
            _ => {}
        }
    }
    replies
}

fn is_in_work(row: &ItemRow) -> bool {
    matches!(row.state, RowState::InWork { .. })
}

fn sorted(mut wakeups: Vec<Wakeup>) -> Vec<Wakeup> {
    wakeups.sort_by_key(|wakeup| format!("{wakeup:?}"));
    wakeups
}

fn channel(inbox: Inbox) -> String {
    format!("seinpaal:inbox:{inbox}")
}

fn wakeup_of(channel: &[u8], message: &[u8]) -> Wakeup {
    let inbox = std::str::from_utf8(channel).unwrap().rsplit(':').next().unwrap();
    let keys = Keys::new("seinpaal:").unwrap();
    let wakeup = wakeup::parse_queue(&keys, inbox.parse().unwrap(), message);
    let wakeup = wakeup.expect("a message that can be read");
    assert_eq!(wakeup.name, name());
    wakeup
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
