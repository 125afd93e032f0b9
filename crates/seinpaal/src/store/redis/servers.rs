//! Who answers: one server, or the nodes of a cluster.

use redis::{Cmd, Value};
use seinpaal_proto::{Batch, Replies, Reply};

use super::{
    cluster::{Cluster, Master},
    connection::Connection,
    keys::slot_of,
    misconfigured,
    script::{Operation, Scripts},
};
use crate::store::StoreError;

/// The servers of a store.
#[derive(Debug)]
pub(super) enum Servers {
    One { connection: Connection, scripts: Scripts },
    Cluster(Cluster),
}

impl Servers {
    /// Runs the script of an operation.
    pub(super) async fn evaluate(
        &self,
        batch: &Batch,
        operation: Operation,
        keys: &[String],
        arguments: &[String],
    ) -> Result<Value, StoreError> {
        match self {
            Self::One { connection, scripts } => {
                connection.evaluate(scripts, operation, keys, arguments).await
            }
            Self::Cluster(cluster) => cluster.evaluate(batch, operation, keys, arguments).await,
        }
    }

    /// Runs the script of several names, which one server has all of.
    pub(super) async fn evaluate_together(
        &self,
        keys: &[String],
        arguments: &[String],
    ) -> Result<Value, StoreError> {
        match self {
            Self::One { connection, scripts } => {
                connection.evaluate(scripts, Operation::Together, keys, arguments).await
            }
            Self::Cluster(_) => Err(misconfigured("names of a cluster are in no one place")),
        }
    }

    /// The slot of a key, if there are slots.
    pub(super) fn slot_of(&self, key: &str) -> Option<u16> {
        matches!(self, Self::Cluster(_)).then(|| slot_of(key))
    }

    /// What the replies to a batch mean for the connections.
    pub(super) fn take_note(&self, batch: &Batch, replies: &Replies) {
        match self {
            Self::One { connection, .. } => {
                if replies.replies.iter().any(|reply| matches!(reply, Reply::Queued { .. })) {
                    connection.expect_news();
                }
            }
            Self::Cluster(cluster) => cluster.take_note(batch, replies),
        }
    }

    /// All keys that match, some perhaps more than once.
    pub(super) async fn keys_like(&self, pattern: &str) -> Result<Vec<String>, StoreError> {
        match self {
            Self::One { connection, .. } => scan(&Scanned::One(connection), pattern).await,
            Self::Cluster(cluster) => {
                let mut keys = Vec::new();
                for master in cluster.masters().await? {
                    keys.extend(scan(&Scanned::Master(master), pattern).await?);
                }
                Ok(keys)
            }
        }
    }
}

enum Scanned<'a> {
    One(&'a Connection),
    Master(Master),
}

impl Scanned<'_> {
    async fn command(&self, command: &Cmd) -> Result<Value, StoreError> {
        match self {
            Self::One(connection) => connection.command(command).await,
            Self::Master(master) => master.command(command).await,
        }
    }
}

/// `SCAN` may name a key twice, or one that is gone.
async fn scan(server: &Scanned<'_>, pattern: &str) -> Result<Vec<String>, StoreError> {
    let (mut found, mut cursor) = (Vec::new(), 0);
    loop {
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(1000);
        let page = server.command(&scan).await?;
        let (next, keys): (u64, Vec<Vec<u8>>) = redis::from_redis_value(page)
            .map_err(|_| misconfigured("SCAN answered something else: is there a proxy?"))?;
        found.extend(keys.into_iter().filter_map(|key| String::from_utf8(key).ok()));
        cursor = next;
        if cursor == 0 {
            return Ok(found);
        }
    }
}
