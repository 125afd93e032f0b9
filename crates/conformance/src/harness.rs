//! What a store must bring to be put through the cases.

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
    cluster::ClusterHarness, embedded::EmbeddedHarness, memory::MemoryHarness,
    quorum::QuorumHarness, redis::RedisHarness, sentinel::SentinelHarness,
    zookeeper::ZookeeperHarness,
};

/// One store, made for one case.
pub trait Harness: fmt::Debug + Send + Sync {
    /// Opens the store for a client. When this returns the client is reachable.
    fn open(&self, inbox: Inbox, news: NewsSender) -> BoxFuture<'_, Arc<dyn Store>>;

    /// Lets the client die without a word: nothing is sent, its connections and locks just end. When
    /// this returns the store can know. In one process the presence goes with the store, as the kernel
    /// takes it from a process that is killed.
    fn vanish(&self, _inbox: Inbox, store: Arc<dyn Store>) -> BoxFuture<'_, ()> {
        Box::pin(async move { drop(store) })
    }

    /// Takes the client's subscription away or gives it back; it lives on. Only with
    /// [`Ability::LosesSubscriptions`].
    fn set_hears(&self, _inbox: Inbox, _hears: bool) {
        panic!("not promised")
    }

    /// The clock that the store goes by, for all clients at once.
    fn clock(&self) -> &AtomicU64;

    /// What the store knows of a client that is open.
    fn contact(&self) -> Contact;

    /// Why the store has not got an ability, or `None` if it has.
    fn lacks(&self, ability: Ability) -> Option<&'static str>;

    /// How many queues cost the store anything, if it can be asked.
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

/// What some cases need and not every store has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Ability {
    /// The death of a client frees what it holds at once.
    NoticesDeath,
    /// The lease of a client that is silent or slow runs out though its process lives.
    EndsLivingLeases,
    /// The lease of a client lasts for as long as its process lives.
    VouchesForLife,
    /// Waiters are served in one order, and the ledger's own one: every answer is as the ledger would give it.
    KeepsOrder,
    /// The harness can take away the subscription of a client that lives on.
    LosesSubscriptions,
    /// Somebody who asks a holder to hand over reaches it.
    PassesAsks,
    /// It keeps queues.
    KeepsQueues,
    /// It keeps names for slots, and wishes for them.
    NamesSlots,
}
