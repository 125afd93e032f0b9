//! The Redis store behind sentinels: a master with two replicas, shared by all cases.

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use seinpaal::store::{
    BoxFuture, NewsSender, Store,
    redis::{RedisStore, TestHooks},
    url::StoreUrl,
};
use seinpaal_proto::{Contact, Inbox};

use super::{Ability, Harness, memory::BEGINNING, until_noticed};
use seinpaal_rig::SentinelServers;

/// How long replicas may take to confirm a write. They share the machine with other cases.
const REPLICATION_TIMEOUT: Duration = Duration::from_secs(5);

/// Servers that cases share, whose scripts get the time from each case.
#[derive(Debug)]
pub struct SentinelHarness {
    servers: Arc<SentinelServers>,
    url: StoreUrl,
    clock: Arc<AtomicU64>,
}

impl SentinelHarness {
    /// Starts servers, or uses the servers of another case.
    ///
    /// # Panics
    /// If a server is missing or does not start.
    #[must_use]
    pub fn new() -> Self {
        Self::with("")
    }

    /// As [`new`](Self::new), with a store that answers only after both replicas have the write.
    ///
    /// # Panics
    /// If a server is missing or does not start.
    #[must_use]
    pub fn replicated() -> Self {
        Self::with("?replicated=2")
    }

    fn with(options: &str) -> Self {
        let servers = SentinelServers::shared();
        let url = StoreUrl::parse(&servers.url(options)).expect("the URL of sentinels");
        Self { servers, url, clock: Arc::new(AtomicU64::new(BEGINNING)) }
    }

    /// Returns whether the master still has a subscription of this client.
    fn is_subscribed(&self, inbox: Inbox) -> bool {
        let channels =
            self.servers.ask(self.servers.master(), &format!("PUBSUB CHANNELS *{inbox}*"));
        !channels.expect("the master").is_empty()
    }
}

impl Default for SentinelHarness {
    fn default() -> Self {
        Self::new()
    }
}

impl Harness for SentinelHarness {
    fn open(&self, inbox: Inbox, news: NewsSender) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async move {
            // A session would repeat a call that fails, but the cases have no session. So replicas
            // get more time here, because the machine is busy with other cases.
            let hooks = TestHooks {
                now: Some(Arc::clone(&self.clock)),
                replication_timeout: Some(REPLICATION_TIMEOUT),
                ..TestHooks::default()
            };
            let store = RedisStore::open_with_hooks(self.url.clone(), inbox, news, hooks).await;
            let store = store.unwrap_or_else(|error| panic!("{error}"));
            assert!(self.is_subscribed(inbox), "an open client can be reached");
            store as Arc<dyn Store>
        })
    }

    fn vanish(&self, inbox: Inbox, store: Arc<dyn Store>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            drop(store);
            until_noticed("its subscription ends with it", || !self.is_subscribed(inbox)).await;
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
