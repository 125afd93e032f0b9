//! URLs of stores: one line that fits into a flag, a variable or a configuration file.
//!
//! A URL may carry a password. So no error and no `Debug` repeats any part of a URL that could be
//! one. They name only the scheme, and an option that stands where no password can be.

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

use std::{fmt, path::PathBuf, str::FromStr};

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
use thiserror::Error;
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

/// The reason why a text is not a store URL. No variant repeats a password.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum BadStoreUrl {
    /// The URL does not start with a scheme.
    #[error("not a store URL: it starts with none of {KNOWN}")]
    NoScheme,
    /// The scheme is unknown.
    #[error("unknown store scheme {0:?}: known are {KNOWN}")]
    UnknownScheme(String),
    /// A `file:` URL has a relative path or a host.
    #[error("a file: URL names an absolute directory, like file:///var/lib/seinpaal")]
    NotAbsolute,
    /// A `memory:` URL has a path, or a part that may be a login.
    #[error(
        "a memory: URL has a label, no path and no login: write memory:LABEL (a / in a label is written %2F, an @ %40)"
    )]
    BadMemoryLabel,
    /// A `%` is not followed by two hexadecimal digits, or the bytes are not UTF-8.
    #[error("a % in a store URL is followed by two hexadecimal digits (write % as %25)")]
    BadEscape,
    /// A `?` or `#` stands in what is probably a password.
    #[error("a ? or # in a password is written %3F or %23 (an @ in an option: %40)")]
    UnescapedPassword,
    /// The URL has a fragment.
    #[error("a store URL has no # part (in a password, # is written %23)")]
    Fragment,
    /// The host is missing or malformed.
    #[error(
        "a host is missing or malformed: write redis://HOST:PORT, an IPv6 address in brackets, a host between all commas"
    )]
    BadHost,
    /// The port is not a number from 1 to 65535.
    #[error("a port is a number from 1 to 65535 (a / in a password is written %2F)")]
    BadPort,
    /// This many nodes are no quorum.
    #[error(
        "a quorum is an odd number of servers, 3 to 9, not {0}: redis+quorum://HOST:PORT,HOST:PORT,HOST:PORT"
    )]
    BadQuorum(usize),
    /// A server is named twice, and would have two votes.
    #[error("the quorum names {0} twice: every node is a server of its own")]
    SameNodeTwice(String),
    /// The URL of a Unix socket has no path.
    #[error("a unix: URL names an absolute path, like unix:///run/redis/redis.sock")]
    BadSocket,
    /// A Sentinel URL does not name its master.
    #[error("a Sentinel URL names its master: write redis+sentinel://HOST:26379,HOST:26379/MASTER")]
    BadMaster,
    /// The login has a user without a password, or a password without a user.
    #[error("a login is USER:PASSWORD@ with both parts, or nothing")]
    HalfALogin,
    /// ZooKeeper would not accept the chroot.
    #[error("the path of a zookeeper: URL is a znode, like /apps/seinpaal")]
    BadChroot,
    /// The database index is not a number.
    #[error("the path of a Redis URL is the database index, a number from 0 up")]
    BadDatabase,
    /// A cluster URL has a database index.
    #[error("a cluster has only the database 0: leave the number out of the store URL")]
    ClusterDatabase,
    /// The option is unknown.
    #[error("unknown option {option:?} of a {store} store: {known}")]
    UnknownOption {
        /// The option.
        option: String,
        /// The scheme of the URL.
        store: &'static str,
        /// The known options, for people.
        known: String,
    },
    /// An unknown option stands behind a password, and may be the rest of that password. The text
    /// lists the known options.
    #[error("unknown option behind the password: {0} (an & in a password is written %26)")]
    OptionAfterPassword(String),
    /// An option is given twice.
    #[error("the store option {0:?} is given twice")]
    TwiceGiven(&'static str),
    /// The option cannot have this value.
    #[error("the store option {option:?} is {wanted}")]
    BadOption {
        /// The option.
        option: &'static str,
        /// The values that the option can have.
        wanted: &'static str,
    },
}
