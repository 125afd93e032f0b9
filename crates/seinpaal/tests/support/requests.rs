//! Requests in a short form, for tests.
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::sync::Arc;

use redis::{AsyncConnectionConfig, aio::MultiplexedConnection};
use seinpaal::store::{Certainty, News, Store, StoreError, redis::RedisStore, url::StoreUrl};
use seinpaal_proto::{
    Acquire, Batch, Enqueue, Inbox, Kind, Limit, LimitRule, Name, OnMismatch, Permits, Priority,
    Reply, Request, Ticket,
    time::{MILLISECOND, SECOND},
};
use tokio::sync::mpsc;

/// Short enough that a test can wait for its end.
pub const TTL: u64 = 100 * MILLISECOND;

/// One client: its store, its inbox and its news.
pub struct Client {
    pub store: Arc<RedisStore>,
    pub inbox: Inbox,
    pub news: mpsc::UnboundedReceiver<News>,
}

impl Client {
    pub async fn connect(url: &str, inbox: u128) -> Self {
        Self::try_connect(url, inbox).await.unwrap()
    }

    pub async fn try_connect(url: &str, inbox: u128) -> Result<Self, StoreError> {
        let (sender, news) = mpsc::unbounded_channel();
        let inbox = Inbox(inbox);
        let store = RedisStore::open(StoreUrl::parse(url).unwrap(), inbox, sender).await?;
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

    pub async fn acquire(&self, name: &str, ticket: u128) -> Reply {
        self.ask(name, acquire(ticket)).await.unwrap()
    }

    pub async fn release(&self, name: &str, ticket: u128) -> Reply {
        self.ask(name, release(ticket)).await.unwrap()
    }
}

/// The password in the URLs of tests. No error may contain it.
pub const SECRET: &str = "s3cret";

/// The error of a URL that must be refused. The error has one line, and does not contain the
/// password.
pub async fn refusal(url: &str) -> StoreError {
    let Err(error) = Client::try_connect(url, 1).await else { panic!("{url} was accepted") };
    let text = format!("{error} {error:?}");
    assert!(!text.contains(SECRET), "{text}");
    assert!(!error.to_string().contains('\n'), "{error}");
    assert_eq!(error.certainty(), Certainty::NotExecuted);
    error
}

/// A request for a mutex, with a lease of a minute. It waits if the mutex is held.
pub fn acquire(ticket: u128) -> Request {
    Request::Acquire(acquisition(ticket, 60 * SECOND))
}

/// The ticket with this number. Each stands in a series of its own, so that any client may ask for it.
pub fn ticket(number: u128) -> Ticket {
    Ticket(number << 32 | 1)
}

pub fn acquisition(number: u128, ttl: u64) -> Acquire {
    Acquire {
        ticket: ticket(number),
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: seinpaal_proto::SlotNames::none(),
        limit: Some(LimitRule { limit: Limit::ONE, on_mismatch: OnMismatch::Refuse }),
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::default(),
        ttl,
        margin: ttl / 4,
        waiter_ttl: 15 * SECOND,
        not_after: None,
        about: "a test".into(),
    }
}

pub fn release(number: u128) -> Request {
    Request::Release { ticket: ticket(number), slots: None }
}

pub fn is_granted(reply: &Reply) -> bool {
    matches!(reply, Reply::Granted(_))
}

/// A plain connection that reads the server's data without the store. It waits for as long as the
/// server takes.
pub async fn plain(url: &str) -> MultiplexedConnection {
    let config =
        AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
    let client = redis::Client::open(url).unwrap();
    client.get_multiplexed_async_connection_with_config(&config).await.unwrap()
}
