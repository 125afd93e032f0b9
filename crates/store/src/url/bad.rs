//! The reason why a text is no URL of a store.

use thiserror::Error;

use super::KNOWN;

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
