//! A Redis or Valkey cluster: finds the node that owns a name's hash slot, and listens there.
//!
//! ```text
//!   call ──▶ hash slot ──▶ map ──▶ node ──▶ answer
//!             ▲        ▲        │ MOVED: another node from now on · ASK: this once
//!             └────────┴────────┘ TRYAGAIN, CLUSTERDOWN, nobody there: look at the map again
//! ```
//!
//! A request is sent to another node only if it was certainly not executed. A request that was
//! handed over and not answered may have been executed. The session finds out by asking again with
//! the same tickets.

mod call;
mod confirm;
mod diagnose;
mod ears;
mod failures;
mod hash_slots;
mod listening;
mod map;
mod node;
mod routing;

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use redis::{Cmd, ToRedisArgs, Value};
use seinpaal_proto::{Batch, Inbox, Replies, Reply, queue};
use tokio::{sync::Notify, task::AbortHandle};

pub(super) use self::confirm::ExecutedOnNode;
pub use self::hash_slots::{HashSlotMap, NodeAddress};

use self::{
    call::{NodeTask, ScriptCall},
    ears::Ears,
    failures::SharedFailures,
    listening::keep,
    node::ClusterNode,
};
use super::{
    keys::{Keys, hash_slot_of},
    script::{EditLua, Script, Scripts},
};
use seinpaal_store::{Certainty, NewsSender, Reading, StoreError, StoreErrorKind, url::ClusterUrl};

/// All nodes of a cluster, as one client uses them.
pub(super) struct Cluster {
    shared: Arc<ClusterLinks>,
    /// The task that keeps the subscriptions. It ends with this value.
    keeper: AbortHandle,
}

/// Everything that connecting needs, and where to send wakeups.
pub(super) struct ClusterOptions {
    pub(super) url: ClusterUrl,
    pub(super) keys: Keys,
    pub(super) inbox: Inbox,
    pub(super) news: NewsSender,
    pub(super) edit: Option<EditLua>,
}

struct ClusterLinks {
    /// For the callbacks of links, which must not keep the cluster alive.
    me: Weak<Self>,
    url: ClusterUrl,
    keys: Keys,
    inbox: Inbox,
    news: NewsSender,
    scripts: Arc<Scripts>,
    map: Mutex<HashSlotMap>,
    /// How often the map was looked at. A caller that waited for `looking` compares this number to
    /// see whether another caller has looked meanwhile.
    looks: AtomicU64,
    /// The map may be out of date.
    is_doubtful: AtomicBool,
    looking: tokio::sync::Mutex<()>,
    failed_looks: SharedFailures,
    nodes: Mutex<HashMap<NodeAddress, Arc<ClusterNode>>>,
    ears: Ears,
    /// The clock of the first node that showed its map.
    first_reading: OnceLock<Reading>,
    /// Wakeups may have been missed, so the session is to look again at everything.
    has_missed: AtomicBool,
    /// A ticket waits for a wakeup, so the links are tried.
    is_awaited: AtomicBool,
    /// Whether there were as many replicas as are wanted at any time so far.
    had_replicas: AtomicBool,
    /// Rung when a subscription is missing or wakeups may have been missed, so that the keeper acts
    /// at once.
    hurry: Notify,
}

impl Cluster {
    /// Asks the nodes of the URL for the map, and asks the node that answers for its clock.
    /// Afterwards a task of the current runtime keeps the subscriptions.
    pub(super) async fn open(options: ClusterOptions) -> Result<(Self, Reading), StoreError> {
        let shared = Arc::new_cyclic(|me| ClusterLinks::new(options, me.clone()));
        // The first look is made here, so that a URL that is wrong is an error of the opening.
        shared.look(0).await?;
        let keeper = tokio::spawn(keep(shared.clone())).abort_handle();
        let cluster = Self { shared, keeper };
        let reading = cluster.shared.first_reading.get().copied();
        reading.map(|reading| (cluster, reading)).ok_or_else(no_reading)
    }

    /// Makes sure that wakeups for a batch are heard before it goes out.
    pub(super) async fn expect(&self, batch: &Batch) -> Result<(), StoreError> {
        if batch.inbox == Some(self.shared.inbox) && ears::may_gain(batch) {
            self.shared.listen(batch).await?;
        }
        Ok(())
    }

    /// Makes sure that wakeups for a batch about a queue are heard before it goes out.
    pub(super) async fn expect_at_queue(&self, batch: &queue::Batch) -> Result<(), StoreError> {
        match ears::listens_for(batch) {
            Some(lasts) if batch.session == self.shared.inbox => {
                self.shared.listen_at_queue(&batch.name, lasts).await
            }
            _ => Ok(()),
        }
    }

    /// Takes note that an answer about a name of this hash slot is overdue. If the link to the hash
    /// slot's owner was silent for so long, the next call there opens a new one.
    pub(super) fn reassure(&self, hash_slot: u16, silence: Duration) {
        let owner = self.shared.map().owner(hash_slot).cloned();
        if let Some(owner) = owner {
            self.shared.node(&owner).doubt(silence);
        }
    }

    /// Takes note that a ticket of this client waits for a wakeup, so that the links are tried now
    /// and then.
    pub(super) fn expect_news(&self) {
        self.shared.is_awaited.store(true, Ordering::Relaxed);
    }

    /// Runs a script at the owner of its first key.
    pub(super) async fn evaluate(
        &self,
        script: Script,
        keys: &[impl ToRedisArgs],
        arguments: &[impl ToRedisArgs],
        room: usize,
    ) -> Result<(Value, ExecutedOnNode), StoreError> {
        // The arguments are written once, although several nodes may be tried in turn.
        let (keys, arguments) = (keys.to_redis_args(), arguments.to_redis_args());
        let hash_slot = keys.first().map(|key| hash_slot_of(key)).unwrap_or_default();
        let call = ScriptCall { script, keys, arguments, room };
        match self.shared.route(hash_slot, &NodeTask::Evaluate(&call)).await {
            Ok(done) => Ok((done.answer, ExecutedOnNode(done.at))),
            Err(error) => Err(self.shared.with_the_right_named(hash_slot, error).await),
        }
    }

    /// Learns from the replies which names need no wakeups any more.
    pub(super) fn take_note(&self, batch: &Batch, replies: &Replies) {
        let channel = self.shared.keys.channel_at(&batch.name, self.shared.inbox);
        let over = if batch.inbox == Some(self.shared.inbox) {
            ears::lost(batch, replies)
        } else {
            // Another client has gained these tickets, so they are no longer ours.
            ears::gained(batch)
        };
        self.shared.ears.release(&channel, &over);
        if replies.replies.iter().any(|reply| matches!(reply, Reply::Queued { .. })) {
            self.expect_news();
        }
    }

    /// All masters, by a map that is read anew.
    pub(super) async fn masters(&self) -> Result<Vec<Master>, StoreError> {
        // Keys on a master that an older map does not know would be missed.
        let looks = self.shared.looks.load(Ordering::Relaxed);
        self.shared.look(looks).await?;
        let masters = self.shared.map().masters();
        Ok(masters.iter().map(|address| Master(self.shared.node(address))).collect())
    }
}

/// One master, for commands that are not about a name.
pub(super) struct Master(Arc<ClusterNode>);

impl Master {
    pub(super) async fn command(&self, command: &Cmd, room: usize) -> Result<Value, StoreError> {
        self.0.command(command, room).await
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("url", &self.shared.url.to_string()).finish()
    }
}

impl ClusterLinks {
    fn new(options: ClusterOptions, me: Weak<Self>) -> Self {
        Self {
            me,
            url: options.url,
            keys: options.keys,
            inbox: options.inbox,
            news: options.news,
            scripts: Arc::new(Scripts::new(options.edit)),
            map: Mutex::default(),
            looks: AtomicU64::new(0),
            is_doubtful: AtomicBool::new(false),
            looking: tokio::sync::Mutex::default(),
            failed_looks: SharedFailures::default(),
            nodes: Mutex::default(),
            ears: Ears::default(),
            first_reading: OnceLock::new(),
            has_missed: AtomicBool::new(false),
            is_awaited: AtomicBool::new(false),
            had_replicas: AtomicBool::new(false),
            hurry: Notify::new(),
        }
    }

    /// A poisoned lock does no harm, since nothing panics while the map is half changed.
    fn map(&self) -> MutexGuard<'_, HashSlotMap> {
        self.map.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn nodes(&self) -> MutexGuard<'_, HashMap<NodeAddress, Arc<ClusterNode>>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all_nodes(&self) -> Vec<Arc<ClusterNode>> {
        self.nodes().values().cloned().collect()
    }

    fn node(&self, address: &NodeAddress) -> Arc<ClusterNode> {
        let mut nodes = self.nodes();
        if let Some(node) = nodes.get(address) {
            return node.clone();
        }
        let url = self.url.node(&address.host, address.port);
        let on_heard = self.on_heard(address.clone());
        let node = Arc::new(ClusterNode::new(address.clone(), url, self.scripts.clone(), on_heard));
        nodes.insert(address.clone(), node.clone());
        node
    }
}

fn no_reading() -> StoreError {
    let message = "a cluster was opened without a look at it: please report this";
    StoreError::new(StoreErrorKind::Internal, Certainty::NotExecuted, message)
}

#[cfg(test)]
mod tests;
