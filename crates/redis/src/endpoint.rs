//! The address of the server, and how to connect to it. Each opening of a link asks anew.

use std::{fmt, time::Duration};

use super::sentinel;
use seinpaal_store::{
    StoreError,
    url::{RedisOptions, RedisUrl, SentinelUrl},
};

/// How long connecting may take if the URL does not say.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The way to find the server's address.
#[derive(Clone, Debug)]
pub(super) enum RedisEndpoint {
    /// The server is always at the same address.
    Server(RedisUrl),
    /// The server is at the address that the sentinels give.
    Sentinels(SentinelUrl),
}

impl RedisEndpoint {
    /// The server to connect to now.
    pub(super) async fn find(&self) -> Result<RedisUrl, StoreError> {
        match self {
            Self::Server(url) => Ok(url.clone()),
            Self::Sentinels(url) => sentinel::find_master(url, self.connect_timeout()).await,
        }
    }

    /// How long sentinels wait for a silent master. `None`: there are none, or none answers.
    pub(super) async fn fails_over_after(&self) -> Option<Duration> {
        match self {
            Self::Server(_) => None,
            Self::Sentinels(url) => sentinel::down_after(url, self.connect_timeout()).await,
        }
    }

    pub(super) fn options(&self) -> &RedisOptions {
        match self {
            Self::Server(url) => &url.options,
            Self::Sentinels(url) => &url.options,
        }
    }

    /// As in [`Abilities`](seinpaal_store::Abilities).
    pub(super) fn scheme(&self) -> &'static str {
        match self {
            Self::Server(_) => "redis",
            Self::Sentinels(_) => "redis+sentinel",
        }
    }

    /// Returns whether the server may move. Then the server that is found must prove to be a
    /// master.
    pub(super) fn may_move(&self) -> bool {
        matches!(self, Self::Sentinels(_))
    }

    pub(super) fn connect_timeout(&self) -> Duration {
        self.options().connect_timeout.unwrap_or(CONNECT_TIMEOUT)
    }
}

/// Without its password.
impl fmt::Display for RedisEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(url) => url.fmt(f),
            Self::Sentinels(url) => url.fmt(f),
        }
    }
}
