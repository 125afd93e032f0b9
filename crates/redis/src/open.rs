//! How a store is opened: from a URL, at one server, behind sentinels, or in a cluster.

use std::{
    sync::{Arc, Mutex, atomic::AtomicU64},
    time::Duration,
};

use seinpaal_proto::Inbox;
use seinpaal_store::{
    NewsSender, StoreError,
    url::{ClusterUrl, RedisOptions, StoreUrl},
};

use crate::{
    RedisStore,
    cluster::{self, Cluster},
    connection::Connection,
    endpoint::RedisEndpoint,
    keys::{DEFAULT_PREFIX, Keys},
    link::ConnectOptions,
    misconfigured,
    replicas::REPLICATION_TIMEOUT,
    script::{EditLua, Scripts},
    servers::Servers,
    wakeup,
};

/// The parts of a store that a test replaces.
#[doc(hidden)]
#[derive(Clone, Default)]
#[allow(missing_debug_implementations, reason = "an edit is a function")]
pub struct TestHooks {
    /// Microseconds, in place of the server's clock.
    pub now: Option<Arc<AtomicU64>>,
    /// A change of the scripts' text.
    pub edit: Option<EditLua>,
    /// How long replicas may take to confirm a write, in place of half a second.
    pub replication_timeout: Option<Duration>,
}

impl RedisStore {
    /// Connects to the server at a `redis://`, `rediss://`, `unix://`, `valkey://` or `valkeys://`
    /// URL, to the master that the sentinels of a `redis+sentinel://` or `rediss+sentinel://` one
    /// know, which it follows when it moves, or to the cluster of a `redis+cluster://` or
    /// `rediss+cluster://` one. Must be called inside a tokio runtime, which keeps the connection
    /// from then on.
    ///
    /// # Errors
    /// [`Misconfigured`] if the URL is of another kind, if an option of it or the server cannot be
    /// used, or if no sentinel knows such a master, [`Forbidden`] if the login is refused,
    /// [`Unreachable`] if no server that takes writes answers within `connect-timeout`. No error
    /// repeats the password.
    ///
    /// [`Misconfigured`]: seinpaal_store::StoreErrorKind::Misconfigured
    /// [`Forbidden`]: seinpaal_store::StoreErrorKind::Forbidden
    /// [`Unreachable`]: seinpaal_store::StoreErrorKind::Unreachable
    pub async fn open(
        url: StoreUrl,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_with_hooks(url, inbox, news, TestHooks::default()).await
    }

    /// As [`open`](Self::open), for tests.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    #[doc(hidden)]
    pub async fn open_with_hooks(
        url: StoreUrl,
        inbox: Inbox,
        news: NewsSender,
        hooks: TestHooks,
    ) -> Result<Arc<Self>, StoreError> {
        let endpoint = match url {
            StoreUrl::Redis(url) => RedisEndpoint::Server(url),
            StoreUrl::Sentinel(url) => RedisEndpoint::Sentinels(url),
            StoreUrl::Cluster(url) => return Self::open_cluster(url, inbox, news, hooks).await,
            _ => return Err(misconfigured("not the URL of a Redis or Valkey server")),
        };
        Self::open_at(endpoint, inbox, news, hooks).await
    }

    async fn open_at(
        endpoint: RedisEndpoint,
        inbox: Inbox,
        news: NewsSender,
        hooks: TestHooks,
    ) -> Result<Arc<Self>, StoreError> {
        let keys = keys_of(endpoint.options())?;
        let guard = endpoint.options().restart_guard;
        let replication_timeout = hooks.replication_timeout.unwrap_or(REPLICATION_TIMEOUT);
        let options = ConnectOptions {
            endpoint,
            keys: keys.clone(),
            inbox,
            news,
            read_news: wakeup::read,
            replication_timeout,
        };
        let (connection, first_reading) = Connection::open(options).await?;
        let scripts = Box::new(Scripts::new(hooks.edit.clone()));
        let servers = Servers::One { connection, scripts };
        let heard = Mutex::new(None);
        Ok(Arc::new(Self { servers, keys, guard, inbox, now: hooks.now, first_reading, heard }))
    }

    async fn open_cluster(
        url: ClusterUrl,
        inbox: Inbox,
        news: NewsSender,
        hooks: TestHooks,
    ) -> Result<Arc<Self>, StoreError> {
        let (keys, guard) = (keys_of(&url.options)?, url.options.restart_guard);
        let edit = hooks.edit.clone();
        let options = cluster::ClusterOptions { url, keys: keys.clone(), inbox, news, edit };
        let (cluster, first_reading) = Cluster::open(options).await?;
        let servers = Servers::Cluster(cluster);
        let heard = Mutex::new(None);
        Ok(Arc::new(Self { servers, keys, guard, inbox, now: hooks.now, first_reading, heard }))
    }
}

pub(crate) fn keys_of(options: &RedisOptions) -> Result<Keys, StoreError> {
    let prefix = options.prefix.as_deref().unwrap_or(DEFAULT_PREFIX);
    Keys::new(prefix).ok_or_else(|| {
        misconfigured("the store option prefix must not have braces in it: choose another prefix")
    })
}
