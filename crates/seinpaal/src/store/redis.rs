//! The Redis and Valkey store: one script a call, one connection, wakeups pushed to this client's inbox.
//!
//! ```text
//!   Batch ──▶ script (line by line) ──▶ connection ──▶ server: Lua ledger ──▶ reply ──▶ Replies
//!                                           ▲                │
//!              News ◀── wakeup ◀── link ◀───┘   PUBLISH ◀────┘
//! ```
//!
//! What is kept there, and the contract of the scripts: docs/redis.md.

mod connection;
mod error;
mod keys;
mod link;
pub mod quorum;
mod reply;
mod script;
mod server;
mod wakeup;

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use seinpaal_proto::{Batch, Inbox, Name, Replies, Reply, Request, Snapshot};

use self::{
    connection::Connection,
    keys::{DEFAULT_PREFIX, Keys},
    link::Plan,
    script::{Mutation, Operation, Scripts},
};
use crate::store::{
    Abilities, BoxFuture, Certainty, NewsSender, Store, StoreError, StoreErrorKind,
    url::{RedisUrl, StoreUrl},
};

/// Waiters that a listed snapshot shows at most.
const LISTED_WAITERS: u32 = 64;

/// Permits kept on one Redis or Valkey server.
#[derive(Debug)]
pub struct RedisStore {
    connection: Connection,
    keys: Keys,
    scripts: Scripts,
    now: Option<Arc<AtomicU64>>,
}

/// What tests may change: the clock that scripts believe in, and the scripts themselves.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct Rig {
    /// Microseconds, in place of the server's clock.
    pub now: Option<Arc<AtomicU64>>,
    /// A piece of every script's source, and what stands there instead.
    pub mutation: Option<(String, String)>,
}

impl RedisStore {
    /// Connects to the server at a `redis://`, `rediss://`, `unix://`, `valkey://` or `valkeys://` URL.
    /// Must be called inside a tokio runtime, which keeps the connection from then on.
    ///
    /// # Errors
    /// [`StoreErrorKind::Misconfigured`] if the URL, an option of it or the server will not do,
    /// [`StoreErrorKind::Forbidden`] if the login will not, [`StoreErrorKind::Unreachable`] if no server
    /// that takes writes answers within `connect-timeout`. No error repeats the password.
    pub async fn connect(
        url: &str,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        match StoreUrl::parse(url) {
            Ok(StoreUrl::Redis(url)) => Self::open(url, inbox, news).await,
            Ok(_) => Err(misconfigured("not the URL of a Redis or Valkey server")),
            Err(bad) => Err(misconfigured(&bad.to_string())),
        }
    }

    /// The same with a URL that is parsed already.
    ///
    /// # Errors
    /// As [`RedisStore::connect`].
    pub async fn open(
        url: RedisUrl,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_rigged(url, inbox, news, Rig::default()).await
    }

    /// The same under a clock and with scripts that a test chooses.
    #[doc(hidden)]
    pub async fn open_rigged(
        url: RedisUrl,
        inbox: Inbox,
        news: NewsSender,
        rig: Rig,
    ) -> Result<Arc<Self>, StoreError> {
        refuse_what_is_not_here_yet(&url)?;
        let prefix = url.options.prefix.as_deref().unwrap_or(DEFAULT_PREFIX);
        let keys = Keys::new(prefix)
            .ok_or_else(|| misconfigured("the store option prefix has no braces in it"))?;
        let plan = Plan { url, keys: keys.clone(), inbox, news };
        let connection = Connection::open(plan).await?;
        let mutation = rig.mutation.map(|(from, to)| Mutation { from, to });
        let scripts = Scripts::mutated(mutation);
        Ok(Arc::new(Self { connection, keys, scripts, now: rig.now }))
    }

    async fn execute(&self, batch: &Batch) -> Result<Replies, StoreError> {
        refuse_too_much(batch)?;
        let now = self.now.as_ref().map(|now| now.load(Ordering::SeqCst));
        let operation = Operation::of(batch);
        let keys = self.keys.of(&batch.name);
        let arguments = script::arguments(batch, now);
        let answer = self.connection.evaluate(&self.scripts, operation, &keys, &arguments).await?;
        let replies = reply::parse(answer, operation.name(), batch.requests.len())?;
        if replies.replies.iter().any(|reply| matches!(reply, Reply::Queued { .. })) {
            self.connection.expect_news();
        }
        Ok(replies)
    }

    async fn snapshots(&self, prefix: &str) -> Result<Vec<(Name, Snapshot)>, StoreError> {
        let mut listed = Vec::new();
        for name in self.names(prefix).await? {
            match self.inspect(&name).await {
                Ok(Some(snapshot)) => listed.push((name, snapshot)),
                Ok(None) => {}
                Err(error) if error.kind() == StoreErrorKind::Corrupt => {
                    tracing::warn!(%name, %error, "passed over");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(listed)
    }

    /// `SCAN` may name a key twice, or one that is gone.
    async fn names(&self, prefix: &str) -> Result<BTreeSet<Name>, StoreError> {
        let (mut names, mut cursor) = (BTreeSet::new(), 0);
        loop {
            let mut scan = redis::cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(self.keys.pattern(prefix)).arg("COUNT").arg(1000);
            let page = self.connection.command(&scan).await?;
            let (next, keys): (u64, Vec<Vec<u8>>) = redis::from_redis_value(page)
                .map_err(|_| misconfigured("SCAN answered something else: is there a proxy?"))?;
            let keys = keys.into_iter().filter_map(|key| String::from_utf8(key).ok());
            names.extend(keys.filter_map(|key| self.keys.name_of(&key)));
            cursor = next;
            if cursor == 0 {
                return Ok(names);
            }
        }
    }

    async fn inspect(&self, name: &Name) -> Result<Option<Snapshot>, StoreError> {
        let requests = vec![Request::Inspect { rows: LISTED_WAITERS }];
        let batch = Batch { name: name.clone(), inbox: None, fence_seen: 0, requests };
        let replies = self.execute(&batch).await?.replies;
        let Some(Reply::Snapshot(mut snapshot)) = replies.into_iter().next() else {
            return Ok(None);
        };
        snapshot.holders.clear();
        let has_people = snapshot.holders_total > 0 || snapshot.waiting_total > 0;
        let is_configured = snapshot.pinned || snapshot.paused.is_some();
        Ok((has_people || is_configured).then_some(snapshot))
    }
}

impl Store for RedisStore {
    fn abilities(&self) -> Abilities {
        Abilities { scheme: "redis", notices_death: false, is_shared: true }
    }

    fn call<'a>(&'a self, batch: &'a Batch) -> BoxFuture<'a, Result<Replies, StoreError>> {
        Box::pin(self.execute(batch))
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, Snapshot)>, StoreError>> {
        Box::pin(self.snapshots(prefix))
    }
}

fn misconfigured(message: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
}

fn refuse_what_is_not_here_yet(url: &RedisUrl) -> Result<(), StoreError> {
    let option = match &url.options {
        options if options.replicated.is_some() => "replicated",
        options if options.restart_guard == Some(true) => "restart-guard",
        _ => return Ok(()),
    };
    Err(misconfigured(&format!(
        "the store option {option} is not available in this version: leave it out"
    )))
}

fn refuse_too_much(batch: &Batch) -> Result<(), StoreError> {
    if batch.requests.len() <= Batch::MOST {
        return Ok(());
    }
    let message = format!("a batch has at most {} requests: please report this", Batch::MOST);
    Err(StoreError::new(StoreErrorKind::Internal, Certainty::NotExecuted, message))
}
