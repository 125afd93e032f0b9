//! One independent server, for a store that is built on several. The store of a quorum
//! (`seinpaal-quorum`) uses only this module of the crate.
//!
//! A [`Node`] is a connection to one server, and runs a [`Script`] of the caller there. The caller also
//! reads what its script publishes.

#[doc(no_inline)]
pub use redis::Value;
use seinpaal_proto::{Inbox, Name};
use seinpaal_store::{Diagnosis, NewsSender, StoreError, url::RedisUrl};

use crate::{
    connection::Connection, endpoint::RedisEndpoint, link::ConnectOptions, open::keys_of,
    replicas::REPLICATION_TIMEOUT, script::hash_of, servers::Scanned,
};
#[doc(hidden)]
pub use crate::{
    diagnose::{KEPT_ON_DISK, together},
    keys::Keys,
    link::ReadNews,
};

/// A connection to one server, which may begin while the server is down, and is opened again
/// whenever it is lost.
#[derive(Debug)]
pub struct Node {
    connection: Connection,
    keys: Keys,
    shown: String,
}

/// The text of a script, and its hash.
#[derive(Debug)]
pub struct Script {
    pub(crate) hash: String,
    pub(crate) source: String,
}

impl Node {
    /// Begins to connect. A task of the current tokio runtime opens the connection in its own time,
    /// and sends to `news` what the server publishes for `inbox`, as `read_news` reads it.
    ///
    /// # Errors
    /// [`Misconfigured`](seinpaal_store::StoreErrorKind::Misconfigured) if the option `prefix` has
    /// braces in it.
    pub fn begin(
        url: RedisUrl,
        inbox: Inbox,
        news: NewsSender,
        read_news: ReadNews,
    ) -> Result<Self, StoreError> {
        let (keys, shown) = (keys_of(&url.options)?, url.to_string());
        let connection = Connection::begin(ConnectOptions {
            endpoint: RedisEndpoint::Server(url),
            keys: keys.clone(),
            inbox,
            news,
            read_news,
            replication_timeout: REPLICATION_TIMEOUT,
        });
        Ok(Self { connection, keys, shown })
    }

    /// The address, without a password.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Waits for the first try to connect.
    ///
    /// # Errors
    /// The error of the first try.
    pub async fn first_try(&self) -> Result<(), StoreError> {
        self.connection.first_try().await
    }

    /// Returns whether there is a connection now. If there is none, the next try to make one comes
    /// soon.
    pub fn is_up(&self) -> bool {
        self.connection.is_up()
    }

    /// Asks the server about itself.
    ///
    /// # Errors
    /// If there is no connection, if a right is missing, or if no answer comes in time.
    pub async fn diagnose(&self) -> Result<Diagnosis, StoreError> {
        self.connection.diagnose().await
    }

    /// The key with the prefix of the URL. It must not begin with a brace or with `guard`, as the
    /// keys of names and of the restart guard do.
    pub fn key(&self, key: &str) -> String {
        format!("{}{key}", self.keys.prefix())
    }

    /// The two keys of a name, which the [`Script`] expects first.
    pub fn keys_of(&self, name: &Name) -> [String; 2] {
        self.keys.of(name)
    }

    /// Takes note that a waiter of this client depends on what the server publishes, so that the
    /// connection is tried now and then.
    pub fn expect_news(&self) {
        self.connection.expect_news();
    }

    /// Runs a script, whose answer has at most `room` bytes. The script is loaded if the server
    /// does not know it.
    ///
    /// # Errors
    /// If there is no connection, if the server refuses the call, or if no answer comes in time.
    pub async fn run(
        &self,
        script: &Script,
        keys: &[String],
        arguments: &[String],
        room: usize,
    ) -> Result<Value, StoreError> {
        self.connection.evaluate_script(script, keys, arguments, room).await
    }

    /// The names at this server that begin with `prefix`. A name may come twice, or be gone by now.
    ///
    /// # Errors
    /// As [`Node::run`].
    pub async fn names(&self, prefix: &str) -> Result<Vec<Name>, StoreError> {
        let (server, pattern) = (Scanned::One(&self.connection), self.keys.pattern(prefix));
        let (mut names, mut cursor) = (Vec::new(), Some(0));
        while let Some(at) = cursor {
            let (next, keys) = server.page(&pattern, at).await?;
            names.extend(keys.iter().filter_map(|key| self.keys.name_of(key)));
            cursor = next;
        }
        Ok(names)
    }
}

impl Script {
    /// A script with this text.
    pub fn new(source: String) -> Self {
        Self { hash: hash_of(&source), source }
    }
}
