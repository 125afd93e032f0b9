//! Requests in a short form, for tests of the ZooKeeper store.
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::sync::{Arc, atomic::AtomicU64};

use seinpaal::store::{News, Store, StoreError, url::StoreUrl, zookeeper::ZookeeperStore};
use seinpaal_proto::{
    Acquire, Batch, Enqueue, Grant, Inbox, Kind, Name, Permits, Priority, Reply, Request, Ticket,
    time::{SECOND, WAITER_TTL},
};
use tokio::sync::mpsc;
use zookeeper_client::{Acls, Client as Plain, CreateMode};

use seinpaal_rig::ZookeeperEnsemble;

/// One client: its store, its inbox and its news.
pub struct Client {
    pub store: Arc<ZookeeperStore>,
    pub inbox: Inbox,
    pub news: mpsc::UnboundedReceiver<News>,
}

impl Client {
    pub async fn connect(url: &str, inbox: u128) -> Self {
        Self::try_connect(url, inbox, None).await.unwrap()
    }

    pub async fn try_connect(
        url: &str,
        inbox: u128,
        now: Option<Arc<AtomicU64>>,
    ) -> Result<Self, StoreError> {
        let (sender, news) = mpsc::unbounded_channel();
        let inbox = Inbox(inbox);
        let StoreUrl::Zookeeper(url) = StoreUrl::parse(url).unwrap() else { panic!("{url}") };
        let store = ZookeeperStore::open_with(url, inbox, sender, now).await?;
        Ok(Self { store, inbox, news })
    }

    pub async fn ask(&self, name: &str, request: Request) -> Result<Reply, StoreError> {
        let batch = self.batch(name, vec![request]);
        Ok(self.store.call(&batch).await?.replies.remove(0))
    }

    pub fn batch(&self, name: &str, requests: Vec<Request>) -> Batch {
        let name = Name::new(name).unwrap();
        Batch { name, inbox: Some(self.inbox), fence_seen: 0, requests }
    }

    pub async fn settle(&self, name: &str) {
        while self.store.call(&self.batch(name, vec![])).await.unwrap().backlog {}
    }

    pub async fn told(&mut self) -> News {
        let news = tokio::time::timeout(std::time::Duration::from_secs(60), self.news.recv());
        news.await.expect("news in time").expect("the store keeps its sender")
    }
}

/// The ticket with this number. Each is of a series of its own, so that any client may ask for it.
pub const fn ticket(number: u128) -> Ticket {
    Ticket(number << 32 | 1)
}

/// A request for one permit for a minute. It waits if the permit is held.
pub fn acquire(number: u128) -> Request {
    Request::Acquire(Acquire {
        ticket: ticket(number),
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: seinpaal_proto::SlotNames::none(),
        limit: None,
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::default(),
        ttl: 60 * SECOND,
        margin: 1 << 53,
        waiter_ttl: WAITER_TTL,
        not_after: None,
        about: String::new(),
    })
}

pub fn release(number: u128) -> Request {
    Request::Release { ticket: ticket(number), slots: None }
}

pub fn granted(reply: Reply) -> Grant {
    match reply {
        Reply::Granted(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

/// A plain session that reads the server's data without the store.
pub async fn plain() -> Plain {
    let url = ZookeeperEnsemble::shared().url();
    Plain::connect(url.trim_start_matches("zookeeper://")).await.unwrap()
}

pub async fn children(path: &str) -> Vec<String> {
    plain().await.list_children(path).await.unwrap()
}

pub async fn put(path: &str, data: &[u8]) {
    let options = CreateMode::Persistent.with_acls(Acls::anyone_all());
    plain().await.create(path, data, &options).await.unwrap();
}

/// Deletes the children of a znode, which have no children of their own.
pub async fn delete_children(path: &str) {
    let plain = plain().await;
    for child in children(path).await {
        plain.delete(&format!("{path}/{child}"), None).await.unwrap();
    }
}

/// Appends to the data of a znode.
pub async fn append(path: &str, more: &[u8]) {
    let plain = plain().await;
    let (data, _) = plain.get_data(path).await.unwrap();
    plain.set_data(path, &[&data, more].concat(), None).await.unwrap();
}
