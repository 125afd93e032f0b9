//! How a store is opened: from a URL, at one server, behind sentinels, or in a cluster.

use std::{
    sync::{Arc, Mutex, atomic::AtomicU64},
    time::Duration,
};

use seinpaal_proto::Inbox;
use seinpaal_store::{
    NewsSender, StoreError,
    url::{ClusterUrl, RedisOptions, RedisUrl, SentinelUrl, StoreUrl},
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
    script::{self, Mutation, Scripts, Wire},
    servers::Servers,
};

/// The parts of a store that a test replaces: see `rigged.rs`.
#[derive(Default)]
pub(crate) struct Overrides {
    pub(crate) now: Option<Arc<AtomicU64>>,
    pub(crate) mutations: Vec<(String, String)>,
    pub(crate) replication_timeout: Option<Duration>,
}

impl RedisStore {
    /// Connects to the server at a `redis://`, `rediss://`, `unix://`, `valkey://` or `valkeys://`
    /// URL, to the master of a `redis+sentinel://` or `rediss+sentinel://` one, or to the cluster
    /// of a `redis+cluster://` or `rediss+cluster://` one. Must be called inside a tokio runtime,
    /// which keeps the connection from then on.
    ///
    /// # Errors
    /// [`Misconfigured`] if the URL, an option of it or the server cannot be used, [`Forbidden`] if
    /// the login is refused, [`Unreachable`] if no server that takes writes answers within
    /// `connect-timeout`. No error repeats the password.
    ///
    /// [`Misconfigured`]: seinpaal_store::StoreErrorKind::Misconfigured
    /// [`Forbidden`]: seinpaal_store::StoreErrorKind::Forbidden
    /// [`Unreachable`]: seinpaal_store::StoreErrorKind::Unreachable
    pub async fn connect(
        url: &str,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        match StoreUrl::parse(url) {
            Ok(StoreUrl::Redis(url)) => Self::open(url, inbox, news).await,
            Ok(StoreUrl::Cluster(url)) => Self::open_cluster(url, inbox, news).await,
            Ok(StoreUrl::Sentinel(url)) => Self::open_behind(url, inbox, news).await,
            Ok(_) => Err(misconfigured("not the URL of a Redis or Valkey server")),
            Err(bad) => Err(misconfigured(&bad.to_string())),
        }
    }

    /// As [`connect`](Self::connect), with a parsed URL.
    ///
    /// # Errors
    /// As [`RedisStore::connect`].
    pub async fn open(
        url: RedisUrl,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_at(RedisEndpoint::Server(url), inbox, news, Overrides::default()).await
    }

    /// Connects to the master that the sentinels of a `redis+sentinel://` URL know, and follows it
    /// when it moves.
    ///
    /// # Errors
    /// As [`RedisStore::connect`], and [`Misconfigured`] if no sentinel knows such a master.
    ///
    /// [`Misconfigured`]: seinpaal_store::StoreErrorKind::Misconfigured
    pub async fn open_behind(
        url: SentinelUrl,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_at(RedisEndpoint::Sentinels(url), inbox, news, Overrides::default()).await
    }

    pub(crate) async fn open_at(
        endpoint: RedisEndpoint,
        inbox: Inbox,
        news: NewsSender,
        overrides: Overrides,
    ) -> Result<Arc<Self>, StoreError> {
        let keys = keys_of(endpoint.options())?;
        let guard = endpoint.options().restart_guard;
        let replication_timeout = overrides.replication_timeout.unwrap_or(REPLICATION_TIMEOUT);
        let options =
            ConnectOptions { endpoint, keys: keys.clone(), inbox, news, replication_timeout };
        let (connection, first_reading) = Connection::open(options).await?;
        let scripts = Box::new(Scripts::new(Wire::Single, guard, mutations_of(&overrides)?));
        let servers = Servers::One { connection, scripts };
        let heard = Mutex::new(None);
        Ok(Arc::new(Self { servers, keys, guard, inbox, now: overrides.now, first_reading, heard }))
    }

    /// Connects to a cluster.
    ///
    /// # Errors
    /// As [`RedisStore::connect`].
    pub async fn open_cluster(
        url: ClusterUrl,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_cluster_with(url, inbox, news, Overrides::default()).await
    }

    pub(crate) async fn open_cluster_with(
        url: ClusterUrl,
        inbox: Inbox,
        news: NewsSender,
        overrides: Overrides,
    ) -> Result<Arc<Self>, StoreError> {
        let (keys, guard) = (keys_of(&url.options)?, url.options.restart_guard);
        let mutations = mutations_of(&overrides)?;
        let options = cluster::ClusterOptions { url, keys: keys.clone(), inbox, news, mutations };
        let (cluster, first_reading) = Cluster::open(options).await?;
        let servers = Servers::Cluster(cluster);
        let heard = Mutex::new(None);
        Ok(Arc::new(Self { servers, keys, guard, inbox, now: overrides.now, first_reading, heard }))
    }
}

pub(crate) fn keys_of(options: &RedisOptions) -> Result<Keys, StoreError> {
    let prefix = options.prefix.as_deref().unwrap_or(DEFAULT_PREFIX);
    Keys::new(prefix).ok_or_else(|| {
        misconfigured("the store option prefix must not have braces in it: choose another prefix")
    })
}

/// Refuses a mutation whose text no script has. It would change nothing, and a test would take that
/// for a proof.
fn mutations_of(overrides: &Overrides) -> Result<Vec<Mutation>, StoreError> {
    let known = |(from, to): (String, String)| match script::is_anywhere(&from) {
        true => Ok(Mutation { from, to }),
        false => Err(misconfigured(&format!("no script has the text to be changed: {from}"))),
    };
    overrides.mutations.iter().cloned().map(known).collect()
}
