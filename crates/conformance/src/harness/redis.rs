//! The Redis store under test, on a server of its own.

use std::{
    io::{self, BufRead, BufReader, Write},
    net::TcpStream,
    sync::{Arc, atomic::AtomicU64},
};

use seinpaal::store::{
    BoxFuture, NewsSender, Store,
    redis::{RedisStore, TestHooks},
    url::StoreUrl,
};
use seinpaal_proto::{Contact, Inbox};

use super::{Ability, Harness, memory::BEGINNING, until_noticed};
use seinpaal_rig::RedisServer;

/// A server of its own, whose scripts get the time from the case.
#[derive(Debug)]
pub struct RedisHarness {
    server: RedisServer,
    url: StoreUrl,
    clock: Arc<AtomicU64>,
}

impl RedisHarness {
    /// Starts a server.
    ///
    /// # Panics
    /// If the server is missing or does not start.
    #[must_use]
    pub fn new() -> Self {
        let server = RedisServer::start();
        let url = StoreUrl::parse(&server.url("")).expect("the URL of a server");
        Self { server, url, clock: Arc::new(AtomicU64::new(BEGINNING)) }
    }

    /// Returns whether the server still has a subscription of this client.
    fn is_subscribed(&self, inbox: Inbox) -> io::Result<bool> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.server.port()))?;
        write!(stream, "PUBSUB CHANNELS *{inbox}*\r\n")?;
        let mut count = String::new();
        BufReader::new(stream).read_line(&mut count)?;
        Ok(count.trim_end() != "*0")
    }
}

impl Default for RedisHarness {
    fn default() -> Self {
        Self::new()
    }
}

impl Harness for RedisHarness {
    fn open(&self, inbox: Inbox, news: NewsSender) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async move {
            let hooks = TestHooks { now: Some(Arc::clone(&self.clock)), ..TestHooks::default() };
            let store = RedisStore::open_with_hooks(self.url.clone(), inbox, news, hooks).await;
            let store = store.unwrap_or_else(|error| panic!("{error}"));
            assert!(self.is_subscribed(inbox).unwrap(), "an open client can be reached");
            store as Arc<dyn Store>
        })
    }

    fn vanish(&self, inbox: Inbox, store: Arc<dyn Store>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            drop(store);
            until_noticed("its subscription ends with it", || !self.is_subscribed(inbox).unwrap())
                .await;
        })
    }

    fn clock(&self) -> &AtomicU64 {
        &self.clock
    }

    fn contact(&self) -> Contact {
        Contact::Listening
    }

    fn lacks(&self, ability: Ability) -> Option<&'static str> {
        servers_lack(ability)
    }
}

/// The abilities that every store on Redis servers lacks, with the reasons: one server, a cluster
/// and a master behind sentinels.
pub(super) fn servers_lack(ability: Ability) -> Option<&'static str> {
    match ability {
        Ability::NoticesDeath => {
            Some("a server cannot tell a dead client from a cut connection: the ttl decides")
        }
        Ability::VouchesForLife => Some("no server can vouch for a process elsewhere"),
        Ability::LosesSubscriptions => {
            Some("a connection that is cut is opened again at once: the store's own tests cut it")
        }
        Ability::EndsLivingLeases
        | Ability::KeepsOrder
        | Ability::KeepsQueues
        | Ability::NamesSlots => None,
    }
}
