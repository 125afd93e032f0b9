//! The interface through which a store is put through the cases.

mod cluster;
mod embedded;
mod memory;
mod quorum;
mod redis;
mod sentinel;
mod zookeeper;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use seinpaal::store::{BoxFuture, NewsSender, Store};
use seinpaal_proto::{Contact, Inbox, time::Micros};

pub use self::{
    cluster::ClusterHarness,
    embedded::{EmbeddedHarness, forbid_scans},
    memory::MemoryHarness,
    quorum::QuorumHarness,
    redis::RedisHarness,
    sentinel::SentinelHarness,
    zookeeper::ZookeeperHarness,
};

/// How long a server may take to notice the end of a connection. No verdict depends on this time.
const BOUND: Duration = Duration::from_secs(30);

/// Waits until a server has noticed a change. Connections and sessions come and go in tasks of
/// their own.
async fn until_noticed(what: &str, is_so: impl Fn() -> bool) {
    let noticed = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(BOUND, noticed).await.expect(what);
}

/// One store, made for one case.
pub trait Harness: fmt::Debug + Send + Sync {
    /// Opens the store for a client. When this returns the client is reachable.
    fn open(&self, inbox: Inbox, news: NewsSender) -> BoxFuture<'_, Arc<dyn Store>>;

    /// Lets the client die without telling the store: nothing is sent, and the client's connections
    /// and locks end. When this method returns, the store can notice the death. A store in this
    /// process ends the client's presence when it is dropped, as the kernel does for a process that
    /// is killed.
    fn vanish(&self, _inbox: Inbox, store: Arc<dyn Store>) -> BoxFuture<'_, ()> {
        Box::pin(async move { drop(store) })
    }

    /// Takes the client's subscription away, or gives it back, while the client lives on. Needs
    /// [`Ability::LosesSubscriptions`].
    fn set_hears(&self, _inbox: Inbox, _hears: bool) {
        panic!("not promised")
    }

    /// The clock that the store goes by, for all clients at once.
    fn clock(&self) -> &AtomicU64;

    /// The contact that the store's ledger sees for a client that is open.
    fn contact(&self) -> Contact;

    /// The reason for which the store lacks an ability. `None` if the store has the ability.
    fn lacks(&self, ability: Ability) -> Option<&'static str>;

    /// The number of queues for which the store keeps anything, if the store can tell.
    fn queues(&self) -> Option<usize> {
        None
    }

    /// The store's time.
    fn now(&self) -> Micros {
        self.clock().load(Ordering::SeqCst)
    }

    /// Sets the store's time.
    fn set_now(&self, now: Micros) {
        self.clock().store(now, Ordering::SeqCst);
    }

    /// Moves the store's time forward.
    fn advance(&self, time: Duration) {
        self.set_now(self.now() + seinpaal_proto::time::micros(time));
    }
}

/// An ability that some cases need and some stores lack.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Ability {
    /// The death of a client frees what it holds at once.
    NoticesDeath,
    /// The lease of a client that is silent or slow runs out although its process lives.
    EndsLivingLeases,
    /// The lease of a client lasts for as long as its process lives.
    VouchesForLife,
    /// Waiters are served in one order, the ledger's own, so every answer equals the ledger's.
    KeepsOrder,
    /// The harness can take away the subscription of a client that lives on.
    LosesSubscriptions,
    /// The store keeps queues.
    KeepsQueues,
    /// The store keeps names for slots, and wishes for them.
    NamesSlots,
}
