//! The Redis store on a cluster that all cases of a program share. Each case has a prefix of its
//! own.

use std::sync::{Arc, atomic::AtomicU64};

use seinpaal::store::{
    BoxFuture, NewsSender, Store,
    redis::{RedisStore, TestHooks},
    url::StoreUrl,
};
use seinpaal_proto::{Contact, Inbox};

use super::{Ability, Harness, memory::BEGINNING, until_noticed};
use seinpaal_rig::RedisCluster;

use crate::stage::random;

/// A prefix of its own on three masters and their replicas, whose scripts get the time from the
/// case.
#[derive(Debug)]
pub struct ClusterHarness {
    cluster: Arc<RedisCluster>,
    url: StoreUrl,
    clock: Arc<AtomicU64>,
}

impl ClusterHarness {
    /// Starts the cluster, or uses the one that this program has started.
    ///
    /// # Panics
    /// If the program `redis-server` is missing or does not start.
    #[must_use]
    pub fn new() -> Self {
        let cluster = RedisCluster::shared();
        let url = format!("{}?prefix=case-{:032x}:", cluster.url(), random());
        let url = StoreUrl::parse(&url).expect("the URL of a cluster");
        Self { cluster, url, clock: Arc::new(AtomicU64::new(BEGINNING)) }
    }

    /// Returns whether any node still has a subscription of this client.
    fn is_subscribed(&self, inbox: Inbox) -> bool {
        let pattern = format!("*{inbox}*");
        let mut nodes = self.cluster.nodes().iter();
        nodes.any(|node| !node.say(&["PUBSUB", "SHARDCHANNELS", &pattern]).is_empty())
    }
}

impl Default for ClusterHarness {
    fn default() -> Self {
        Self::new()
    }
}

impl Harness for ClusterHarness {
    fn open(&self, inbox: Inbox, news: NewsSender) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async move {
            let hooks = TestHooks { now: Some(Arc::clone(&self.clock)), ..TestHooks::default() };
            let store = RedisStore::open_with_hooks(self.url.clone(), inbox, news, hooks).await;
            store.unwrap_or_else(|error| panic!("{error}")) as Arc<dyn Store>
        })
    }

    fn vanish(&self, inbox: Inbox, store: Arc<dyn Store>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            drop(store);
            until_noticed("its subscriptions end with it", || !self.is_subscribed(inbox)).await;
        })
    }

    fn clock(&self) -> &AtomicU64 {
        &self.clock
    }

    fn contact(&self) -> Contact {
        Contact::Listening
    }

    fn lacks(&self, ability: Ability) -> Option<&'static str> {
        super::redis::servers_lack(ability)
    }
}
