//! A server, the store under test and the ledger of queues, which all get the same events.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

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

use super::{
    differential::{Comparison, Ear, Ears, sorted},
    history::{Event, Reachable, START, name},
};

const KEY: &str = "seinpaal:{a name}:q";

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
    ears: Ears,
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
        let ears = Ears::at(&server).await;
        Self { _server: server, store, now, ears, is_unsure: false }
    }

    async fn compare(&mut self, model: &mut Model, event: &Event) -> Option<String> {
        match event {
            Event::Ear(ear) => {
                self.ears.turn(*ear).await;
                ear.note(&mut model.reachable.0);
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

    /// The notifications that were published before now.
    async fn heard(&mut self) -> Vec<Wakeup> {
        let keys = Keys::new("seinpaal:").unwrap();
        let messages = self.ears.messages().await.into_iter();
        let wakeups = messages.map(|(inbox, message)| {
            let wakeup = wakeup::parse_queue(&keys, inbox, &message);
            let wakeup = wakeup.expect("a message that can be read");
            assert_eq!(wakeup.name, name());
            wakeup
        });
        sorted(wakeups.collect())
    }

    /// Compares all that is stored with the ledger's state.
    async fn compare_stored(&mut self, model: &Model) -> Option<String> {
        let order = format!("{KEY}:o");
        let mut read = redis::cmd("HGETALL");
        let fields = read.arg(KEY).query_async(&mut self.ears.observer).await.unwrap();
        let mut read = redis::cmd("ZRANGE");
        let members = read.arg(&order).arg(0).arg(-1).query_async(&mut self.ears.observer).await;
        let mut ends = redis::pipe();
        ends.cmd("PTTL").arg(KEY).cmd("PTTL").arg(&order);
        let lasting: (i64, i64) = ends.query_async(&mut self.ears.observer).await.unwrap();
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
}

impl Comparison<Event> for Bench {
    async fn difference_now(&mut self, history: &[Event]) -> Option<String> {
        self.is_unsure = false;
        redis::cmd("FLUSHALL").exec_async(&mut self.ears.observer).await.unwrap();
        let (mut model, mut difference) = (Model::default(), None);
        for (i, event) in history.iter().enumerate() {
            if let Some(found) = self.compare(&mut model, event).await {
                difference = Some(format!("at event {i}, {event:?}:\n{found}"));
                break;
            }
        }
        for inbox in model.reachable.0 {
            self.ears.turn(Ear::Shuts(inbox)).await;
        }
        difference
    }

    fn is_unsure(&self) -> bool {
        self.is_unsure
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
