//! The quorum store under test, on three servers that the cases of a process share.

use std::{
    io::{self, BufRead, BufReader, Write},
    net::TcpStream,
    sync::{Arc, Mutex, Weak, atomic::AtomicU64},
};

use seinpaal::store::{
    BoxFuture, NewsSender, Store,
    quorum::QuorumStore,
    url::{QuorumUrl, StoreUrl},
};
use seinpaal_proto::{Contact, Inbox};

use super::{Ability, Harness, memory::BEGINNING, until_noticed};
use seinpaal_rig::RedisServer;

use crate::stage::random;

type QuorumServers = [RedisServer; 3];

/// Three servers, a prefix of its own on them, and a clock that the case sets.
#[derive(Debug)]
pub struct QuorumHarness {
    servers: Arc<QuorumServers>,
    url: QuorumUrl,
    clock: Arc<AtomicU64>,
}

impl QuorumHarness {
    /// Starts the servers, unless another case has them.
    ///
    /// # Panics
    /// If the server program is missing or does not start.
    #[must_use]
    pub fn new() -> Self {
        let servers = servers();
        let ports = servers.each_ref().map(|server| format!("127.0.0.1:{}", server.port()));
        let prefix = format!("{:x}:", random());
        let text = format!("redis+quorum://{}?prefix={prefix}&restart-guard=off", ports.join(","));
        let Ok(StoreUrl::Quorum(url)) = StoreUrl::parse(&text) else {
            panic!("not the URL of a quorum: {text}")
        };
        Self { servers, url, clock: Arc::new(AtomicU64::new(BEGINNING)) }
    }

    /// How many servers have a subscription of this client.
    fn subscriptions(&self, inbox: Inbox) -> io::Result<usize> {
        let mut count = 0;
        for server in self.servers.iter() {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port()))?;
            write!(stream, "PUBSUB CHANNELS *{inbox}*\r\n")?;
            let mut answer = String::new();
            BufReader::new(stream).read_line(&mut answer)?;
            count += usize::from(answer.trim_end() != "*0");
        }
        Ok(count)
    }

    async fn until_subscribed(&self, inbox: Inbox, count: usize) {
        let are_there = || self.subscriptions(inbox).unwrap() == count;
        until_noticed("subscriptions come and go with the client", are_there).await;
    }
}

/// The servers, which end with the last case that uses them.
fn servers() -> Arc<QuorumServers> {
    static SHARED: Mutex<Weak<QuorumServers>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(|held| held.into_inner());
    shared.upgrade().unwrap_or_else(|| {
        let servers = Arc::new(std::array::from_fn(|_| RedisServer::start()));
        *shared = Arc::downgrade(&servers);
        servers
    })
}

impl Default for QuorumHarness {
    fn default() -> Self {
        Self::new()
    }
}

impl Harness for QuorumHarness {
    fn open(&self, inbox: Inbox, news: NewsSender) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async move {
            let (url, clock) = (self.url.clone(), Arc::clone(&self.clock));
            let store = QuorumStore::open_with_clock(url, inbox, news, Some(clock)).await;
            let store = store.unwrap_or_else(|error| panic!("{error}"));
            self.until_subscribed(inbox, 3).await;
            store as Arc<dyn Store>
        })
    }

    fn vanish(&self, inbox: Inbox, store: Arc<dyn Store>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            drop(store);
            self.until_subscribed(inbox, 0).await;
        })
    }

    fn clock(&self) -> &AtomicU64 {
        &self.clock
    }

    fn contact(&self) -> Contact {
        Contact::Listening
    }

    fn lacks(&self, ability: Ability) -> Option<&'static str> {
        match ability {
            Ability::NoticesDeath => {
                Some("a server cannot tell a dead client from a cut connection: the ttl decides")
            }
            Ability::VouchesForLife => Some("no server can vouch for a process elsewhere"),
            Ability::LosesSubscriptions => Some(
                "a connection that is cut is opened again at once: the store's own tests cut it",
            ),
            Ability::KeepsOrder => Some(
                "each node has a queue of its own, and the order is kept only as far as they agree",
            ),
            Ability::KeepsQueues => Some(
                "no two nodes need have the same first item, and payloads on each are as many copies",
            ),
            Ability::NamesSlots => {
                Some("each node decides a slot by itself: names for slots are refused")
            }
            Ability::EndsLivingLeases => None,
        }
    }
}
