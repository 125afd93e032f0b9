//! URLs of stores: one line that fits into a flag, a variable or a configuration file.
//!
//! A URL may carry a password. So no error and no `Debug` repeats any part of a URL that could be
//! one. They name only the scheme, and an option that stands where no password can be.

mod bad;
mod cluster;
mod duration;
mod guard;
mod options;
mod quorum;
mod redis;
mod sentinel;
#[cfg(test)]
mod tests;
mod zookeeper;

use std::{fmt, path::PathBuf, str::FromStr, time::Duration};

pub use bad::BadStoreUrl;
pub use cluster::ClusterUrl;
pub use duration::{BadDuration, LONGEST_DURATION, parse_duration};
pub use guard::RestartGuard;
use options::UrlQuery;
pub use options::decoded;
pub use options::{ClockBound, RedisOptions};
pub use quorum::QuorumUrl;
pub use redis::show_host;
pub use redis::{Password, RedisAddress, RedisUrl};
pub use sentinel::SentinelUrl;
pub use zookeeper::ZookeeperUrl;

/// The URL of the default store: this user's embedded store on this machine.
pub const DEFAULT_URL: &str = "file:";

const KNOWN: &str = "file:, memory:, redis://, rediss://, unix://, valkey://, valkeys://, \
    redis+sentinel://, rediss+sentinel://, redis+cluster://, rediss+cluster://, \
    redis+quorum://, rediss+quorum://, zookeeper://";

/// A store URL, parsed. Its text form has no password in it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum StoreUrl {
    /// `file:` or `file:///DIR`: the embedded store on this machine, without a server. `None`: this
    /// user's default directory.
    Embedded(Option<PathBuf>),
    /// `memory:` or `memory:LABEL`: a store in this process only. All clients that state the same
    /// label share it.
    Memory(String),
    /// `redis://`, `rediss://`, `unix://`, `valkey://`, `valkeys://`.
    Redis(RedisUrl),
    /// `redis+cluster://`, `rediss+cluster://`.
    Cluster(ClusterUrl),
    /// `redis+quorum://` and, with TLS, `rediss+quorum://`: several servers that know nothing of
    /// each other.
    Quorum(QuorumUrl),
    /// `redis+sentinel://`, `rediss+sentinel://`, and both schemes with `valkey`.
    Sentinel(SentinelUrl),
    /// `zookeeper://`.
    Zookeeper(ZookeeperUrl),
}

impl StoreUrl {
    /// Parses a store URL.
    ///
    /// # Errors
    /// [`BadStoreUrl`] says what is wrong and what would be right. It repeats no password.
    pub fn parse(text: &str) -> Result<Self, BadStoreUrl> {
        let (scheme, rest) = split_scheme(text)?;
        match scheme.as_str() {
            "file" => parse_file(rest),
            "memory" => parse_memory(rest),
            "unix" => RedisUrl::parse_unix(rest).map(Self::Redis),
            "redis" | "valkey" => RedisUrl::parse(rest, false).map(Self::Redis),
            "rediss" | "valkeys" => RedisUrl::parse(rest, true).map(Self::Redis),
            "redis+cluster" => ClusterUrl::parse(rest, false).map(Self::Cluster),
            "rediss+cluster" => ClusterUrl::parse(rest, true).map(Self::Cluster),
            "redis+quorum" => QuorumUrl::parse(rest, false).map(Self::Quorum),
            "rediss+quorum" => QuorumUrl::parse(rest, true).map(Self::Quorum),
            "redis+sentinel" | "valkey+sentinel" => {
                SentinelUrl::parse(rest, false).map(Self::Sentinel)
            }
            "rediss+sentinel" | "valkeys+sentinel" => {
                SentinelUrl::parse(rest, true).map(Self::Sentinel)
            }
            "zookeeper" => ZookeeperUrl::parse(rest).map(Self::Zookeeper),
            _ => Err(BadStoreUrl::UnknownScheme(scheme)),
        }
    }
}

impl StoreUrl {
    /// Returns whether the URL has a password, which its text form leaves out.
    #[must_use]
    pub fn has_password(&self) -> bool {
        match self {
            Self::Redis(url) => url.password.is_some(),
            Self::Sentinel(url) => url.password.is_some() || url.sentinel_password.is_some(),
            Self::Cluster(url) => url.password.is_some(),
            Self::Quorum(url) => url.nodes.iter().any(|node| node.password.is_some()),
            Self::Zookeeper(url) => url.login.is_some(),
            Self::Memory(_) | Self::Embedded(_) => false,
        }
    }

    /// Returns the feature of this crate that the store needs, if it is not enabled.
    #[must_use]
    pub fn missing_feature(&self) -> Option<&'static str> {
        let (feature, is_enabled) = match self {
            Self::Memory(_) => return None,
            Self::Embedded(_) => ("embedded", cfg!(feature = "embedded")),
            Self::Redis(_) | Self::Cluster(_) | Self::Quorum(_) | Self::Sentinel(_) => {
                ("redis", cfg!(feature = "redis"))
            }
            Self::Zookeeper(_) => ("zookeeper", cfg!(feature = "zookeeper")),
        };
        (!is_enabled).then_some(feature)
    }

    /// Returns the options of a Redis store, of any kind; `None` for other stores.
    #[must_use]
    pub fn redis_options(&self) -> Option<&RedisOptions> {
        match self {
            Self::Redis(url) => Some(&url.options),
            Self::Sentinel(url) => Some(&url.options),
            Self::Cluster(url) => Some(&url.options),
            Self::Quorum(url) => Some(&url.options),
            Self::Memory(_) | Self::Embedded(_) | Self::Zookeeper(_) => None,
        }
    }

    /// Returns how long connecting may take, if the URL says so.
    #[must_use]
    pub fn connect_timeout(&self) -> Option<Duration> {
        match self {
            Self::Zookeeper(url) => url.connect_timeout,
            other => other.redis_options().and_then(|options| options.connect_timeout),
        }
    }

    /// Returns the options of a Redis store, to change them.
    pub fn redis_options_mut(&mut self) -> Option<&mut RedisOptions> {
        match self {
            Self::Redis(url) => Some(&mut url.options),
            Self::Sentinel(url) => Some(&mut url.options),
            Self::Cluster(url) => Some(&mut url.options),
            Self::Quorum(url) => Some(&mut url.options),
            Self::Memory(_) | Self::Embedded(_) | Self::Zookeeper(_) => None,
        }
    }
}

impl Default for StoreUrl {
    fn default() -> Self {
        Self::Embedded(None)
    }
}

impl FromStr for StoreUrl {
    type Err = BadStoreUrl;

    fn from_str(text: &str) -> Result<Self, BadStoreUrl> {
        Self::parse(text)
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded(None) => f.write_str(DEFAULT_URL),
            Self::Embedded(Some(directory)) => {
                write!(f, "file://{}", options::encode(&directory.to_string_lossy(), &[]))
            }
            // The parser refuses a label with a path, or with a part that may be a password. So `/`
            // and `@` are encoded.
            Self::Memory(label) => write!(f, "memory:{}", options::encode(label, &['/', '@'])),
            Self::Redis(url) => url.fmt(f),
            Self::Cluster(url) => url.fmt(f),
            Self::Quorum(url) => url.fmt(f),
            Self::Sentinel(url) => url.fmt(f),
            Self::Zookeeper(url) => url.fmt(f),
        }
    }
}

fn split_scheme(text: &str) -> Result<(String, &str), BadStoreUrl> {
    let (scheme, rest) = text.split_once(':').ok_or(BadStoreUrl::NoScheme)?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let scheme = scheme.to_ascii_lowercase();
    // If no slashes follow the scheme, "pass:word@host" may be a login without a scheme, and its
    // first half must not be repeated. These schemes need no slashes, and none of their errors
    // repeats the rest of the URL.
    let needs_slashes = !matches!(scheme.as_str(), "file" | "unix" | "memory");
    let may_be_secret = needs_slashes && text.contains('@') && !rest.starts_with("//");
    if !is_scheme || may_be_secret {
        return Err(BadStoreUrl::NoScheme);
    }
    Ok((scheme, rest))
}

fn parse_file(rest: &str) -> Result<StoreUrl, BadStoreUrl> {
    let (place, query) = UrlQuery::split(rest)?;
    query.finish("file:", &[])?;
    let path = place.strip_prefix("//").unwrap_or(place);
    // `file:` is this user's own directory. `file://` names no directory.
    if path.is_empty() && place.is_empty() {
        return Ok(StoreUrl::Embedded(None));
    }
    if !path.starts_with('/') {
        return Err(BadStoreUrl::NotAbsolute);
    }
    Ok(StoreUrl::Embedded(Some(PathBuf::from(options::decode(path)?))))
}

fn parse_memory(rest: &str) -> Result<StoreUrl, BadStoreUrl> {
    let (place, query) = UrlQuery::split(rest)?;
    query.finish("memory:", &[])?;
    let label = place.strip_prefix("//").unwrap_or(place);
    if label.contains('/') || label.contains('@') {
        return Err(BadStoreUrl::BadMemoryLabel);
    }
    Ok(StoreUrl::Memory(options::decode(label)?))
}
