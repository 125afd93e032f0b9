//! Stores whose clock and scripts a test changes. They exist only with the feature `rigged`, which
//! no build for users has.

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use seinpaal_proto::Inbox;
use seinpaal_store::{
    NewsSender, StoreError,
    url::{ClusterUrl, RedisUrl, SentinelUrl},
};

use crate::{RedisStore, endpoint::RedisEndpoint, open::Overrides};

/// The parts of a store that a test replaces.
#[derive(Clone, Debug, Default)]
pub struct RedisRig {
    /// Microseconds, in place of the server's clock.
    pub now: Option<Arc<AtomicU64>>,
    /// A piece of every script's source, and the text that replaces it.
    pub mutations: Vec<(String, String)>,
    /// How long replicas may take to confirm a write, in place of half a second.
    pub replication_timeout: Option<Duration>,
}

impl From<RedisRig> for Overrides {
    fn from(rig: RedisRig) -> Self {
        let RedisRig { now, mutations, replication_timeout } = rig;
        Self { now, mutations, replication_timeout }
    }
}

impl RedisStore {
    /// As [`open`](Self::open).
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_rigged(
        url: RedisUrl,
        inbox: Inbox,
        news: NewsSender,
        rig: RedisRig,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_at(RedisEndpoint::Server(url), inbox, news, rig.into()).await
    }

    /// As [`open_behind`](Self::open_behind).
    ///
    /// # Errors
    /// As [`open_behind`](Self::open_behind).
    pub async fn open_behind_rigged(
        url: SentinelUrl,
        inbox: Inbox,
        news: NewsSender,
        rig: RedisRig,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_at(RedisEndpoint::Sentinels(url), inbox, news, rig.into()).await
    }

    /// As [`open_cluster`](Self::open_cluster).
    ///
    /// # Errors
    /// As [`open_cluster`](Self::open_cluster).
    pub async fn open_cluster_rigged(
        url: ClusterUrl,
        inbox: Inbox,
        news: NewsSender,
        rig: RedisRig,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_cluster_with(url, inbox, news, rig.into()).await
    }
}
