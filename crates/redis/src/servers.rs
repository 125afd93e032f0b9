//! The servers of a store: one, or the nodes of a cluster.

use std::time::Duration;

use redis::{Cmd, ToRedisArgs, Value};
use seinpaal_proto::{Batch, Replies, Reply, queue};

use super::{
    cluster::{self, Cluster, Master},
    connection::{self, Connection},
    keys::hash_slot_of,
    misconfigured,
    script::{Script, Scripts},
};
use seinpaal_store::{Diagnosis, StoreError};

/// How many bytes a page of `SCAN` may have: a thousand keys or a few more, of up to two thousand
/// bytes each.
const PAGE_ROOM: usize = 16 << 20;

/// The servers of a store.
#[derive(Debug)]
pub(super) enum Servers {
    One { connection: Connection, scripts: Box<Scripts> },
    Cluster(Cluster),
}

/// The place where a script was executed, so that the replicas there can be asked about it.
pub(super) enum ExecutedAt {
    One(connection::ExecutedOnLink),
    Node(cluster::ExecutedOnNode),
}

impl Servers {
    /// As in [`Abilities`](seinpaal_store::Abilities).
    pub(super) fn scheme(&self) -> &'static str {
        match self {
            Self::One { connection, .. } => connection.scheme(),
            Self::Cluster(_) => "redis+cluster",
        }
    }

    /// Asks the servers about themselves, in a cluster each master.
    pub(super) async fn diagnose(&self) -> Result<Diagnosis, StoreError> {
        match self {
            Self::One { connection, .. } => connection.diagnose().await,
            Self::Cluster(cluster) => cluster.diagnose().await,
        }
    }

    /// Makes sure that wakeups for a batch are heard before it goes out.
    pub(super) async fn expect(&self, batch: &Batch) -> Result<(), StoreError> {
        match self {
            // The inbox listens for all names from the moment when the link was opened.
            Self::One { .. } => Ok(()),
            Self::Cluster(cluster) => cluster.expect(batch).await,
        }
    }

    /// As [`Store::reassure`](seinpaal_store::Store::reassure), for the name with this first key.
    pub(super) async fn reassure(&self, key: &str, silence: Duration) {
        match self {
            Self::One { connection, .. } => connection.reassure(silence).await,
            Self::Cluster(cluster) => cluster.reassure(hash_slot_of(key.as_bytes()), silence),
        }
    }

    /// Runs the script of an operation. Its answer has at most `room` bytes.
    pub(super) async fn evaluate(
        &self,
        operation: Script,
        keys: &[impl ToRedisArgs],
        arguments: &[impl ToRedisArgs],
        room: usize,
    ) -> Result<(Value, ExecutedAt), StoreError> {
        match self {
            Self::One { connection, scripts } => {
                let evaluated =
                    connection.evaluate(scripts, operation, keys, arguments, room).await?;
                Ok((evaluated.0, ExecutedAt::One(evaluated.1)))
            }
            Self::Cluster(cluster) => {
                let evaluated = cluster.evaluate(operation, keys, arguments, room).await?;
                Ok((evaluated.0, ExecutedAt::Node(evaluated.1)))
            }
        }
    }

    /// Makes sure that as many replicas as the URL asks for have everything that was written there
    /// until now. If too few have it, a fail-over could undo it, and this is an error.
    pub(super) async fn confirm(&self, proof: ExecutedAt) -> Result<(), StoreError> {
        match (self, proof) {
            (Self::One { connection, .. }, ExecutedAt::One(proof)) => {
                connection.confirm(proof).await
            }
            (Self::Cluster(cluster), ExecutedAt::Node(proof)) => cluster.confirm(proof).await,
            // A proof comes back to the servers that gave it, so these pairs never occur.
            _ => Ok(()),
        }
    }

    /// Returns how many replicas have everything that was written there until now. Waits a while
    /// for as many as the URL asks for.
    pub(super) async fn replicas_of(&self, proof: ExecutedAt) -> Result<u32, StoreError> {
        match (self, proof) {
            (Self::One { connection, .. }, ExecutedAt::One(proof)) => {
                connection.replicas_of(proof).await
            }
            (Self::Cluster(cluster), ExecutedAt::Node(proof)) => cluster.replicas_of(proof).await,
            _ => Ok(0),
        }
    }

    /// The slot of a key, or `None` outside a cluster.
    pub(super) fn hash_slot_of(&self, key: &str) -> Option<u16> {
        matches!(self, Self::Cluster(_)).then(|| hash_slot_of(key.as_bytes()))
    }

    /// Tells the connections which wakeups this client needs after the replies to a batch.
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

    /// As [`Servers::expect`], for a batch about a queue.
    pub(super) async fn expect_at_queue(&self, batch: &queue::Batch) -> Result<(), StoreError> {
        match self {
            Self::One { .. } => Ok(()),
            Self::Cluster(cluster) => cluster.expect_at_queue(batch).await,
        }
    }

    /// Takes note that a worker of this client waits in line for a call, if the batch says so.
    pub(super) fn take_note_of_queue(&self, batch: &queue::Batch) {
        let waits =
            |request: &queue::Request| matches!(request, queue::Request::Pop(pop) if pop.wait);
        if !batch.requests.iter().any(waits) {
            return;
        }
        match self {
            Self::One { connection, .. } => connection.expect_news(),
            Self::Cluster(cluster) => cluster.expect_news(),
        }
    }

    /// Returns whether the keys of one script have to be in one slot.
    pub(super) fn has_slots(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }

    /// The servers that have all keys between them.
    pub(super) async fn scanned(&self) -> Result<Vec<Scanned<'_>>, StoreError> {
        match self {
            Self::One { connection, .. } => Ok(vec![Scanned::One(connection)]),
            Self::Cluster(cluster) => {
                Ok(cluster.masters().await?.into_iter().map(Scanned::Master).collect())
            }
        }
    }
}

/// A server whose keys are searched.
pub(super) enum Scanned<'a> {
    One(&'a Connection),
    Master(Master),
}

impl Scanned<'_> {
    async fn command(&self, command: &Cmd) -> Result<Value, StoreError> {
        match self {
            Self::One(connection) => connection.command(command, PAGE_ROOM).await,
            Self::Master(master) => master.command(command, PAGE_ROOM).await,
        }
    }

    /// The keys of a page that match, and the place where the next page begins. A key may come
    /// twice, or be gone by now.
    pub(super) async fn page(
        &self,
        pattern: &str,
        cursor: u64,
    ) -> Result<(Option<u64>, Vec<String>), StoreError> {
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(1000);
        let page = self.command(&scan).await?;
        let (next, keys): (u64, Vec<Vec<u8>>) = redis::from_redis_value(page)
            .map_err(|_| misconfigured("SCAN answered something else: is there a proxy?"))?;
        let keys = keys.into_iter().filter_map(|key| String::from_utf8(key).ok()).collect();
        Ok((Some(next).filter(|next| *next != 0), keys))
    }
}
