//! A server, the store under test and the ledger, which all get the same events.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use seinpaal::store::{
    Store, StoreError, StoreErrorKind, Together,
    redis::{EditLua, RedisStore, TestHooks, keys::Keys, layout::StoredName, wakeup},
    url::StoreUrl,
};
use seinpaal_proto::{
    Batch, Enqueue, Entry, Head, Inbox, Lease, Memory, MemoryState, Name, RecentHolds, Replies,
    Reply, Request, Wakeup, execute,
};
use seinpaal_rig::RedisServer;
use tokio::sync::mpsc;

use super::{
    differential::{Comparison, Ear, Ears, sorted},
    history::{Event, Reachable, START, name},
};

const KEY: &str = "seinpaal:{a name}";
const MARKER: &str = "seinpaal:guard";
/// The length of the restart guard.
const GUARD: u64 = 3_000_000;

/// How the batches of a history reach the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Way {
    Alone,
    /// With an inspection behind, so that the script of all requests executes them.
    WithAnInspection,
    /// With a batch about another name, in one call.
    Bundled,
    /// An acquire that does not wait goes together with one at another name.
    Together,
    /// After each batch the names are listed.
    Listed,
}

/// The marker of the restart guard (docs/decisions/restart-guard.md): the rest of the guard, and
/// when that was noted.
#[derive(Clone, Copy)]
struct Guard {
    kept: Option<(u64, u64)>,
}

impl Guard {
    fn left_at(&mut self, now: u64) -> Option<u64> {
        let (left, then) = self.kept.unwrap_or((GUARD, now));
        let left = left.saturating_sub(now.saturating_sub(then).min(GUARD / 5));
        self.kept = Some((left, now));
        (left > 0).then_some(left)
    }
}

/// The ledger.
#[derive(Default)]
struct Model {
    state: MemoryState,
    reachable: Reachable,
    guard: Option<Guard>,
}

/// A server, the store under test, and the other connections.
pub(super) struct Bench {
    server: RedisServer,
    store: Arc<RedisStore>,
    way: Way,
    now: Arc<AtomicU64>,
    ears: Ears,
    is_guarded: bool,
    /// Whether a call had no answer in time.
    is_unsure: bool,
}

impl Bench {
    pub(super) async fn new(way: Way) -> Self {
        Self::on(RedisServer::start(), way, None, None).await
    }

    pub(super) async fn guarded() -> Self {
        Self::on(RedisServer::start(), Way::Alone, Some(GUARD), None).await
    }

    pub(super) async fn on(
        server: RedisServer,
        way: Way,
        guard: Option<u64>,
        edit: Option<EditLua>,
    ) -> Self {
        let options = guard.map(|us| format!("?restart-guard={}ms", us / 1000)).unwrap_or_default();
        let url = StoreUrl::parse(&server.socket_url(&options)).unwrap();
        let now = Arc::new(AtomicU64::new(START));
        let hooks = TestHooks { now: Some(now.clone()), edit, ..TestHooks::default() };
        let (news, _) = mpsc::unbounded_channel();
        let store = RedisStore::open_with_hooks(url, Inbox(1), news, hooks).await.unwrap();
        let ears = Ears::at(&server).await;
        let (is_guarded, is_unsure) = (guard.is_some(), false);
        Self { server, store, way, now, ears, is_guarded, is_unsure }
    }

    async fn compare(&mut self, model: &mut Model, event: &Event) -> Option<String> {
        match event {
            Event::Ear(ear) => {
                self.ears.turn(*ear).await;
                ear.note(&mut model.reachable.inboxes);
                None
            }
            Event::LoseMarker => {
                redis::cmd("DEL").arg(MARKER).exec_async(&mut self.ears.listening).await.unwrap();
                model.guard.iter_mut().for_each(|guard| guard.kept = None);
                None
            }
            Event::Call { step, batch } => {
                let now = self.now.load(Ordering::SeqCst).saturating_add_signed(*step);
                self.now.store(now, Ordering::SeqCst);
                self.compare_call(model, now, batch).await
            }
        }
    }

    async fn compare_call(&mut self, model: &mut Model, now: u64, batch: &Batch) -> Option<String> {
        let mut batch = batch.clone();
        let inspects = |request: &Request| matches!(request, Request::Inspect { .. });
        if self.way == Way::WithAnInspection && !batch.requests.iter().any(inspects) {
            batch.requests.push(Request::Inspect { rows: 10_000 });
        }
        let noted = model.guard;
        model.reachable.guarded_for = model.guard.as_mut().and_then(|guard| guard.left_at(now));
        let Ok(expected) = execute(&mut model.state, &mut model.reachable, now, &batch);
        let replies = match self.call(&batch).await {
            Ok(replies) => replies,
            Err(error) => {
                self.is_unsure |= error.kind() == StoreErrorKind::Unreachable;
                return Some(format!("failed: {error}"));
            }
        };
        if self.is_guarded && !self.was_counted(now).await {
            // A call that admits nobody does not ask the guard, and its time does not count.
            model.guard = noted;
        }
        let (replies, told) = (plain(replies), plain(expected.replies));
        if replies != told {
            return Some(format!("ledger {told:?}\nscript {replies:?}"));
        }
        let (heard, wakeups) = (self.heard().await, sorted(expected.wakeups));
        if heard != wakeups {
            return Some(format!("ledger wakes {wakeups:?}\nscript wakes {heard:?}"));
        }
        if self.way == Way::Listed {
            return self.compare_list(model, now).await;
        }
        self.compare_stored(&model.state).await
    }

    async fn call(&self, batch: &Batch) -> Result<Replies, StoreError> {
        let other = Name::new("another name").unwrap();
        match self.way {
            Way::Bundled => {
                let look = Request::Inspect { rows: 1 };
                let beside = Batch { name: other, requests: vec![look], ..batch.clone() };
                let both = [beside, batch.clone()];
                let mut outcomes = self.store.bundles().unwrap().call_bundle(&both).await;
                let replies = outcomes.pop().unwrap();
                outcomes.pop().unwrap()?;
                replies
            }
            // The other name refuses no request, and stands first.
            Way::Together if is_for_all_or_none(batch) => {
                let beside = Batch { name: other, ..batch.clone() };
                let both = [beside, batch.clone()];
                match self.store.one_step().unwrap().call_together(&both).await? {
                    Together::Granted(mut replies) => Ok(replies.remove(1)),
                    Together::Refused(1, replies) => Ok(replies),
                    // Somebody may hold the other name; then this one is asked alone.
                    Together::Refused(..) => self.store.call(batch).await,
                }
            }
            _ => self.store.call(batch).await,
        }
    }

    /// Whether the guard has counted the time until now.
    async fn was_counted(&mut self, now: u64) -> bool {
        let mut read = redis::cmd("HGET");
        let kept: Option<String> =
            read.arg(MARKER).arg("m").query_async(&mut self.ears.observer).await.unwrap();
        kept.is_some_and(|kept| kept.ends_with(&format!(" {now}")))
    }

    /// The notifications about the name that were published before now.
    async fn heard(&mut self) -> Vec<Wakeup> {
        let keys = Keys::new("seinpaal:").unwrap();
        let messages = self.ears.messages().await.into_iter();
        let wakeups = messages.map(|(inbox, message)| {
            wakeup::parse(&keys, inbox, &message).expect("a message that can be read")
        });
        sorted(wakeups.filter(|wakeup| wakeup.name == name()).collect())
    }

    async fn stored(&mut self) -> (StoredName, [i64; 2]) {
        let order = format!("{KEY}:o");
        let mut all = redis::pipe();
        all.cmd("HGETALL").arg(KEY).cmd("ZRANGE").arg(&order).arg(0).arg(-1);
        all.cmd("PTTL").arg(KEY).cmd("PTTL").arg(&order);
        type Pairs = Vec<(Vec<u8>, Vec<u8>)>;
        let (fields, members, left, order_left): (Pairs, Vec<Vec<u8>>, i64, i64) =
            all.query_async(&mut self.ears.observer).await.unwrap();
        let (fields, order) = (fields.into_iter().collect(), members.into_iter().collect());
        (StoredName { fields, order }, [left, order_left])
    }

    /// Compares all that is stored with the ledger's state.
    async fn compare_stored(&mut self, state: &MemoryState) -> Option<String> {
        let (stored, lasting) = self.stored().await;
        let kept = match stored.state().and_then(|kept| kept.check().map(|()| kept)) {
            Ok(kept) => kept,
            Err(found) => return Some(format!("stored: {found}\n{stored:?}")),
        };
        let (kept, expected) = (Listed::of(&kept), Listed::of(state));
        if kept != expected {
            return Some(format!("ledger keeps {expected:#?}\nscript keeps {kept:#?}"));
        }
        stored.ends_amiss(lasting, owed(state))
    }

    async fn compare_list(&mut self, model: &mut Model, now: u64) -> Option<String> {
        let listed = self.store.list("").await.unwrap();
        let inspect = Batch {
            name: name(),
            inbox: None,
            fence_seen: 0,
            requests: vec![Request::Inspect { rows: 64 }],
        };
        let Ok(expected) = execute(&mut model.state, &mut model.reachable, now, &inspect);
        let replies = self.store.call(&inspect).await.unwrap();
        self.heard().await;
        if expected.replies.backlog {
            return None;
        }
        let Some(Reply::Snapshot(mut seen)) = replies.replies.into_iter().next() else { panic!() };
        seen.holders.clear();
        let is_listed = seen.is_worth_listing();
        let expected: Vec<_> = is_listed.then(|| (name(), seen)).into_iter().collect();
        (listed != expected).then(|| format!("list {listed:?}\nnot  {expected:?}"))
    }

    /// Whether scripts without a given time use another clock than the server's own.
    pub(super) async fn clocks_differ(&mut self) -> Option<String> {
        let url = StoreUrl::parse(&self.server.socket_url("")).unwrap();
        let (news, _) = mpsc::unbounded_channel();
        let store = RedisStore::open(url, Inbox(2), news).await.unwrap();
        let batch = Batch { name: name(), inbox: None, fence_seen: 0, requests: Vec::new() };
        let before = self.server_time().await;
        let now = store.call(&batch).await.unwrap().now;
        let after = self.server_time().await;
        let is_between = before <= now && now <= after;
        (!is_between)
            .then(|| format!("the scripts' time is {now}, the server's {before} to {after}"))
    }

    async fn server_time(&mut self) -> u64 {
        let (seconds, micros): (u64, u64) =
            redis::cmd("TIME").query_async(&mut self.ears.listening).await.unwrap();
        seconds * 1_000_000 + micros
    }
}

impl Comparison<Event> for Bench {
    async fn difference_now(&mut self, history: &[Event]) -> Option<String> {
        self.is_unsure = false;
        redis::cmd("FLUSHALL").exec_async(&mut self.ears.observer).await.unwrap();
        self.now.store(START, Ordering::SeqCst);
        let guard = self.is_guarded.then_some(Guard { kept: None });
        let mut model = Model { guard, ..Model::default() };
        let mut difference = None;
        for (i, event) in history.iter().enumerate() {
            if let Some(found) = self.compare(&mut model, event).await {
                difference = Some(format!("at event {i}, {event:?}:\n{found}"));
                break;
            }
        }
        for inbox in model.reachable.inboxes {
            self.ears.turn(Ear::Shuts(inbox)).await;
        }
        difference
    }

    fn is_unsure(&self) -> bool {
        self.is_unsure
    }

    fn is_possible(difference: &str) -> bool {
        !difference.contains("at most 64")
    }
}

/// What a state has, without what the scripts do not keep: when a row was made, the ttls of leases,
/// the lengths of holds, and the last arrival once the clock has passed it. The slots that were
/// never handed out are reckoned otherwise; that every slot is there once is checked before.
#[derive(Debug, PartialEq)]
struct Listed {
    head: Option<Head>,
    leases: Vec<Lease>,
    entries: Vec<Entry>,
    memories: Vec<Memory>,
}

impl Listed {
    fn of(state: &MemoryState) -> Self {
        let head = state.facts().cloned().map(|head| Head {
            arrival: if head.arrival < head.clock { 0 } else { head.arrival },
            top: 0,
            recent: RecentHolds::NONE,
            ..head
        });
        Self {
            head,
            leases: state.leases().map(|lease| Lease { ttl: 0, ..*lease }).collect(),
            entries: state.entries().cloned().map(|entry| Entry { since: 0, ..entry }).collect(),
            memories: state.memories().cloned().collect(),
        }
    }
}

/// For how many microseconds a name is needed if no client asks again: for its leases, or else for
/// what it remembers, and until the clock has passed its fence.
fn owed(state: &MemoryState) -> u64 {
    let Some(facts) = state.facts() else { return 0 };
    let leases = state.leases().map(|lease| lease.ends).max();
    let ends = leases.or_else(|| state.memories().map(|memory| memory.until).max());
    let fence = if facts.owes_fence(facts.wall) { facts.fence - facts.wall } else { 0 };
    ends.map_or(0, |ends| ends.saturating_sub(facts.clock)).max(fence)
}

/// Replies without what the scripts reckon otherwise: how long rows have been there, and the lengths
/// of holds.
fn plain(mut replies: Replies) -> Replies {
    for reply in &mut replies.replies {
        if let Reply::Snapshot(seen) = reply {
            seen.recent = RecentHolds::NONE;
            seen.holders.iter_mut().for_each(|row| row.held_for = 0);
            seen.waiters.iter_mut().for_each(|row| row.waiting_for = 0);
            // Which holders are listed if there are more is nowhere said.
            if seen.holders.len() < seen.holders_total as usize {
                seen.holders.clear();
            }
        }
    }
    replies
}

fn is_for_all_or_none(batch: &Batch) -> bool {
    matches!(&batch.requests[..], [Request::Acquire(want)] if want.enqueue == Enqueue::No)
}
