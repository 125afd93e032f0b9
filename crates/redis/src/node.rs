//! One independent server, for a store that is built on several. The store of a quorum
//! (`seinpaal-quorum`) uses only this module of the crate.
//!
//! A [`Node`] is a connection to one server, and runs a [`Script`] there. The script is the ledger of
//! names, in which Lua of the caller replaces what shall be different on a node. The items after
//! them are the words of that script: they read and write what the scripts of a
//! [`RedisStore`](crate::RedisStore) do.

#[doc(no_inline)]
pub use redis::Value;
use seinpaal_proto::{Inbox, Name};
use seinpaal_store::{Diagnosis, NewsSender, StoreError, url::RedisUrl};

use crate::{
    connection::Connection,
    endpoint::RedisEndpoint,
    head,
    keys::Keys,
    link::ConnectOptions,
    open::keys_of,
    replicas::REPLICATION_TIMEOUT,
    script::{NODE_END, NODE_LEDGER, hash_of},
    servers::Scanned,
};
#[doc(hidden)]
pub use crate::{
    diagnose::{NOTHING_KEPT, together},
    list::{inspection, listed},
    refuse_too_much,
    reply::{ReplyWords, number, reply},
    script::{MOST_FENCE_SEEN, acquire_line, attach_words, line},
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
    /// and sends to `news` what the server publishes for `inbox`.
    ///
    /// # Errors
    /// [`Misconfigured`](seinpaal_store::StoreErrorKind::Misconfigured) if the option `prefix` has
    /// braces in it.
    pub fn begin(url: RedisUrl, inbox: Inbox, news: NewsSender) -> Result<Self, StoreError> {
        let (keys, shown) = (keys_of(&url.options)?, url.to_string());
        let connection = Connection::begin(ConnectOptions {
            endpoint: RedisEndpoint::Server(url),
            keys: keys.clone(),
            inbox,
            news,
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
    /// The script that executes a batch about one name, with `own` pieces of Lua behind the ledger
    /// and its operations. They may replace functions of the table `ledger`, add operations to
    /// `ledger.operations`, and use further keys.
    ///
    /// The arguments of the script are the clock if a test sets it, the asker, the fence that was
    /// seen, and one line for each request.
    pub fn with(own: &str) -> Self {
        let source = head::NAMES.expand(&[NODE_LEDGER, own, NODE_END].concat());
        Self { hash: hash_of(&source), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_head_are_in_their_places() {
        assert!(NODE_LEDGER.contains("FIELDS_OF_HEAD"));
        let source = Script::with("").source;
        for word in ["OF_HEAD", "HEAD_WITH", "UNTOUCHED_HEAD", "HEAD_AS_PACKED"] {
            assert!(!source.contains(word), "{word}");
        }
    }
}
