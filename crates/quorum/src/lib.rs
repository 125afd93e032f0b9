//! Permits kept by a majority of several independent Redis or Valkey servers.
//!
//! ```text
//!   Batch ──▶ call ──▶ gather ──▶ node ─┬─▶ server 1: node script (a ledger that grants nothing by itself)
//!              │  ▲                     ├─▶ server 2
//!              │  └── ballot, tally ◀───┴─▶ server 3        pure: what the answers say together
//!              └──▶ table: what this client holds and waits for; it asks again by itself
//! ```
//!
//! The proof that no more than the limit are ever held, and that fences grow:
//! docs/decisions/quorum.md. The keys on each node, and the limits of the promises:
//! docs/internals/stores/quorum.md.
//!
//! The connections to the servers are those of [`seinpaal_redis::node`]. The script that each node
//! executes is in `src/lua`.

#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod answer;
mod attach;
mod ballot;
mod call;
mod examine;
mod gather;
mod judge;
mod line;
mod matter;
mod mend;
mod node;
mod open;
mod poll;
mod reply;
mod settings;
mod store;
mod table;
mod tally;
#[doc(hidden)]
pub mod wakeup;
mod words;

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use seinpaal_proto::{
    Batch, Inbox, Name, Renew, Reply, Request, Slots, Snapshot, Whom,
    time::{Micros, micros},
};
use tokio::{
    sync::{Mutex as Turn, Notify},
    task::AbortHandle,
    time::Instant,
};

use self::{
    gather::Gathering,
    matter::CallHeader,
    node::{Envelope, QuorumNode},
    table::TicketTable,
};
use seinpaal_store::{Certainty, NewsSender, Reading, StoreError, StoreErrorKind, url::QuorumUrl};

/// The target of log events, named after the place where users of the crate `seinpaal` find this
/// store.
const TARGET: &str = "seinpaal::store::quorum";

/// By how much fences are ahead of the nodes' clocks. A node takes no fence that is behind its own
/// clock, and its clock goes on while a request is on its way.
const AHEAD: Micros = 100_000;
/// How many waiters a listed snapshot shows at most.
const LISTED_WAITERS: u32 = 64;
/// How long a request that this store sends by itself may be on its way.
const LIFE: Micros = 5_000_000;

/// Permits kept by a quorum, as one client sees them.
pub struct QuorumStore {
    quorum: Arc<Quorum>,
    first_reading: Reading,
    tasks: Vec<AbortHandle>,
}

/// The nodes, and this client's knowledge of them.
struct Quorum {
    nodes: Vec<Arc<QuorumNode>>,
    inbox: Inbox,
    news: NewsSender,
    guard: Micros,
    now: Option<Arc<AtomicU64>>,
    clock: Mutex<FenceClock>,
    table: Mutex<TicketTable>,
    /// A desk for each name at which calls are made. Calls take turns there, whether the session
    /// makes them or this store makes them for a waiter.
    desks: Mutex<HashMap<Name, Arc<Turn<()>>>>,
    /// Rung when a waiter may be asked for again.
    hint: Notify,
    /// The state of [`Quorum::share`].
    dice: AtomicU64,
}

/// The facts that fences are made of.
#[derive(Default)]
struct FenceClock {
    /// The latest of the nodes' clocks, and when it was heard.
    heard: Option<(Micros, Instant)>,
    /// The greatest fence or version that was given or seen.
    last: u64,
}

impl QuorumStore {
    /// Connects to the servers of a `redis+quorum://` URL, to a majority of them at least. Must be
    /// called inside a tokio runtime, which keeps the connections from then on.
    ///
    /// # Errors
    /// As [`RedisStore::open`](seinpaal_redis::RedisStore::open), if fewer nodes than a majority
    /// can be used. Also if two nodes are the same server, or if a node was set up with another
    /// `restart-guard`.
    pub async fn open(
        url: QuorumUrl,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_with_clock(url, inbox, news, None).await
    }

    async fn snapshots(&self, prefix: &str) -> Result<Vec<(Name, Snapshot)>, StoreError> {
        let mut found = Vec::new();
        for name in self.quorum.names(prefix).await? {
            let requests = vec![Request::Inspect { rows: LISTED_WAITERS }];
            let batch = Batch { name: name.clone(), inbox: None, fence_seen: 0, requests };
            let mut replies = self.quorum.execute(&batch).await?.replies;
            let Some(Reply::Snapshot(mut snapshot)) = replies.pop() else { continue };
            // A list shows no holders.
            snapshot.holders.clear();
            if snapshot.is_worth_listing() {
                found.push((name, snapshot));
            }
        }
        Ok(found)
    }
}

impl Drop for QuorumStore {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl fmt::Debug for QuorumStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes: Vec<_> = self.quorum.nodes.iter().map(|node| node.shown()).collect();
        f.debug_struct("QuorumStore").field("nodes", &nodes).finish()
    }
}

impl Quorum {
    fn majority(&self) -> usize {
        self.nodes.len() / 2 + 1
    }

    fn table(&self) -> MutexGuard<'_, TicketTable> {
        self.table.lock().unwrap_or_else(|held| held.into_inner())
    }

    fn clock(&self) -> MutexGuard<'_, FenceClock> {
        self.clock.lock().unwrap_or_else(|held| held.into_inner())
    }

    fn desk(&self, name: &Name) -> Arc<Turn<()>> {
        let mut desks = self.desks.lock().unwrap_or_else(|held| held.into_inner());
        // A desk without a caller is dropped, so that a name that is no longer used costs nothing.
        desks.retain(|other, desk| Arc::strong_count(desk) > 1 || other == name);
        Arc::clone(desks.entry(name.clone()).or_default())
    }

    fn envelope(&self, header: &CallHeader<'_>) -> Envelope {
        Envelope {
            name: header.name.clone(),
            inbox: header.inbox,
            fence_seen: header.fence_seen,
            now: self.test_now(),
            guard: format!("{} go", self.guard),
        }
    }

    fn test_now(&self) -> Option<Micros> {
        self.now.as_ref().map(|now| now.load(Ordering::SeqCst))
    }

    /// Makes a fence that is greater than every fence given or seen before, and no less than the
    /// nodes' clocks.
    fn next_fence(&self, seen: u64) -> u64 {
        // A clock that a test sets stands still between two calls.
        let has_test_clock = self.now.is_some();
        let mut clock = self.clock();
        let passed = |at: Instant| if has_test_clock { 0 } else { micros(at.elapsed()) };
        let now = clock.heard.map_or(0, |(now, at)| now + passed(at) + AHEAD);
        clock.last = (clock.last.max(seen) + 1).max(now);
        clock.last
    }

    /// The instant after which no node may execute a request that is sent now, by any node's clock.
    fn not_after(&self) -> Option<Micros> {
        let has_test_clock = self.now.is_some();
        let passed = |at: Instant| if has_test_clock { 0 } else { micros(at.elapsed()) };
        self.clock().heard.map(|(now, at)| now + passed(at) + LIFE)
    }

    fn see_fence(&self, fence: u64) {
        let mut clock = self.clock();
        clock.last = clock.last.max(fence);
    }

    /// Takes note of the nodes' clocks.
    fn learn(&self, gathering: &Gathering) {
        let now = gathering.answers().flatten().map(|answer| answer.now).max();
        if let Some(now) = now {
            self.clock().heard = Some((now, Instant::now()));
        }
    }

    /// A number from 0 to 1, different for every client and call.
    fn share(&self) -> f64 {
        // SplitMix64, which needs no lock.
        let mut x = self.dice.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Chooses this many of the slots, from a random place on, so that another client that proposes
    /// at the same time is likely to begin elsewhere.
    fn some_of(&self, free: &Slots, permits: u32) -> Option<Slots> {
        let total = free.count();
        if total < permits {
            return None;
        }
        let mut rest = free.clone();
        let before = rest.split_lowest((f64::from(total - permits + 1) * self.share()) as u32);
        let mut some = rest.split_lowest(permits);
        if some.count() < permits {
            // After the last free slot the choice goes on with the first.
            some.extend(&before.clone().split_lowest(permits - some.count()));
        }
        Some(some)
    }

    fn refuse_what_outlasts_the_guard(&self, batch: &Batch) -> Result<(), StoreError> {
        let ttl = batch.requests.iter().filter_map(|request| match request {
            Request::Acquire(ask) => Some(ask.ttl),
            Request::Attach(ask) => Some(ask.ttl),
            Request::Detach { ttl, .. } => Some(*ttl),
            // Tickets of a lease that is renewed as a whole were acquired with its ttl, or only
            // wait.
            Request::Renew(Renew { ttl, whom: Whom::Tickets(_), .. }) => Some(*ttl),
            _ => None,
        });
        // The guard's clock moves by a fifth of the guard a call at most, so a lease may last for
        // the other four fifths (docs/decisions/quorum.md).
        let (longest, most) = (ttl.max().unwrap_or(0), self.guard / 5 * 4);
        if self.guard == 0 || longest <= most {
            return Ok(());
        }
        let (ttl, most) = (Duration::from_micros(longest), Duration::from_micros(most));
        let needed = Duration::from_micros(longest / 4 * 5);
        Err(misconfigured(&format!(
            "a ttl of {ttl:?} is longer than the restart guard allows ({most:?}): use restart-guard={}s \
             everywhere, or a shorter ttl",
            needed.as_secs() + 1
        )))
    }
}

fn misconfigured(message: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
}
