//! The Redis and Valkey store: one script a call, one connection, wakeups pushed to this client's
//! inbox.
//!
//! ```text
//!   Batch ──▶ encode ──▶ connection ──▶ server: Lua ledger ──▶ decode ──▶ Replies
//!                                           ▲                │
//!              News ◀── wakeup ◀── link ◀───┘   PUBLISH ◀────┘
//! ```
//!
//! The keys on the server, and the contract of the scripts: docs/internals/stores/redis.md.

#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod cluster;
mod connection;
#[doc(hidden)]
pub mod decode;
mod diagnose;
mod encode;
mod endpoint;
#[doc(hidden)]
pub mod error;
mod examine;
mod greeting;
#[doc(hidden)]
pub mod keys;
#[doc(hidden)]
pub mod layout;
mod link;
mod list;
mod many;
mod need;
pub mod node;
mod open;
#[doc(hidden)]
pub mod queue;
mod replicas;
mod script;
#[doc(hidden)]
pub mod sentinel;
mod servers;
mod transport;
#[doc(hidden)]
pub mod wakeup;
#[doc(hidden)]
pub mod write;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use redis::Value;
use seinpaal_proto::{
    Batch, Inbox, Name, Replies, Reply, Request, Snapshot, queue as queue_ledger,
    time::{Micros, micros},
};

use self::{
    decode::Answer,
    encode::{RowsWanted, Setting},
    keys::Keys,
    need::{ReplicaNeed, need_of},
    script::Script,
    servers::{ExecutedAt, Servers},
};
use seinpaal_store::{
    Abilities, BoxFuture, Bundles, Certainty, Diagnosis, Examination, OneStep, Presence, Reading,
    Store, StoreError, StoreErrorKind, Written, guarded::GuardedWrite, url::RestartGuard,
};

/// The target of log events, named after the place where users of the crate `seinpaal` find this
/// store.
const TARGET: &str = "seinpaal::store::redis";

/// How many bytes an answer may have besides rows.
const ANSWER_ROOM: usize = 8 << 20;
/// A row of a snapshot: its labels, at most four thousand bytes, and numbers.
const ROW_ROOM: usize = 8 << 10;

/// Permits and queues kept on a Redis or Valkey server, on the master behind sentinels, or in a
/// cluster.
#[derive(Debug)]
pub struct RedisStore {
    servers: Servers,
    keys: Keys,
    guard: Option<RestartGuard>,
    inbox: Inbox,
    now: Option<Arc<AtomicU64>>,
    first_reading: Reading,
    /// The server's clock when it was last heard, and our clock at that moment.
    heard: Mutex<Option<(u64, u64)>>,
}

#[doc(hidden)]
pub use self::{open::TestHooks, script::EditLua};

impl RedisStore {
    async fn execute(&self, batch: &Batch) -> Result<Replies, StoreError> {
        refuse_too_much(batch)?;
        let keys = self.keys_of([&batch.name]);
        let arguments = self.arguments_of(vec![encode::argument(batch, self.setting())?]);
        // The client listens before the batch goes out, so that it misses no wakeup about the
        // tickets of the batch.
        self.servers.expect(batch).await?;
        let room = room_of(batch);
        let (answer, proof) = self.run(encode::script_of(batch), &keys, &arguments, room).await?;
        let replies = self.read(&answer, batch).await?;
        // The replicas are asked last, because the batch was executed whatever they answer.
        let need = replies.replies.iter().map(need_of).max().unwrap_or(ReplicaNeed::Nothing);
        self.meet(need, proof).await?;
        Ok(replies)
    }

    /// Runs a script of names. What the first script leaves to the second is put to that.
    async fn run(
        &self,
        script: Script,
        keys: &[String],
        arguments: &[Vec<u8>],
        room: usize,
    ) -> Result<(Value, ExecutedAt), StoreError> {
        let done = self.servers.evaluate(script, keys, arguments, room).await?;
        match decode::is_left(&done.0) {
            true => self.servers.evaluate(Script::Admin, keys, arguments, room).await,
            false => Ok(done),
        }
    }

    /// Reads the answer to a batch, and the further pages of an inspection.
    async fn read(&self, answer: &Value, batch: &Batch) -> Result<Replies, StoreError> {
        let Answer { mut replies, mut next_page } = decode::answer(answer, batch)?;
        self.hear(replies.now);
        self.servers.take_note(batch, &replies);
        if let (Some(Request::Inspect { rows }), Some(Reply::Snapshot(snapshot))) =
            (batch.requests.last(), replies.replies.last_mut())
        {
            while let Some(cursor) = next_page.take() {
                next_page = self.read_page(batch, *rows, &cursor, snapshot).await?;
            }
            snapshot.holders.sort_by_key(|row| (row.fence, row.ticket));
            snapshot.holders.dedup_by_key(|row| row.ticket);
            snapshot.holders.truncate(*rows as usize);
        }
        Ok(replies)
    }

    /// Adds the next page of an inspection, if any of its rows are wanted.
    async fn read_page(
        &self,
        batch: &Batch,
        rows: u32,
        cursor: &[u8],
        snapshot: &mut Snapshot,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let missing = |listed: usize| rows.saturating_sub(u32::try_from(listed).unwrap_or(rows));
        let wanted = RowsWanted {
            waiters: missing(snapshot.waiters.len()),
            holders: missing(snapshot.holders.len()),
        };
        if wanted.waiters == 0 && wanted.holders == 0 {
            return Ok(None);
        }
        let keys = self.keys_of([&batch.name]);
        let page = encode::page(batch.inbox, wanted, cursor, self.setting())?;
        let arguments = self.arguments_of(vec![page]);
        let (answer, _) =
            self.servers.evaluate(Script::Admin, &keys, &arguments, room_of(batch)).await?;
        let inspection = list::inspection(&batch.name);
        let Answer { replies, next_page } = decode::answer(&answer, &inspection)?;
        if let Some(Reply::Snapshot(page)) = replies.replies.into_iter().next() {
            snapshot.holders.extend(page.holders);
            snapshot.waiters.extend(page.waiters);
        }
        Ok(next_page)
    }

    async fn meet(&self, need: ReplicaNeed, proof: ExecutedAt) -> Result<(), StoreError> {
        match need {
            ReplicaNeed::Nothing => Ok(()),
            ReplicaNeed::Asked => self.servers.replicas_of(proof).await.map(drop),
            ReplicaNeed::Confirmed => self.servers.confirm(proof).await,
        }
    }

    fn given_now(&self) -> Option<u64> {
        self.now.as_ref().map(|now| now.load(Ordering::SeqCst))
    }

    fn setting(&self) -> Setting {
        Setting { is_in_cluster: self.servers.has_slots(), now: self.given_now() }
    }

    /// The two keys of each name, and the marker of the restart guard if the URL asks for the guard.
    fn keys_of<'a>(&self, names: impl IntoIterator<Item = &'a Name>) -> Vec<String> {
        let mut keys: Vec<_> = names.into_iter().flat_map(|name| self.keys.of(name)).collect();
        if self.guard.is_some() {
            keys.push(self.keys.marker(self.servers.hash_slot_of(&keys[0])));
        }
        keys
    }

    /// The arguments of names, and the length of the restart guard behind them.
    fn arguments_of(&self, mut arguments: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let length = self.guard.map(|guard| micros(guard.length()).to_string().into_bytes());
        arguments.extend(length);
        arguments
    }
}

impl Store for RedisStore {
    fn abilities(&self) -> Abilities {
        Abilities::shared(self.servers.scheme(), false)
    }

    fn first_reading(&self) -> Reading {
        self.given_now().map_or(self.first_reading, Reading::take)
    }

    fn longest_ttl(&self) -> Option<Duration> {
        self.guard.map(RestartGuard::longest_ttl)
    }

    fn reassure<'a>(&'a self, name: &'a Name, silence: Duration) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let [records, _] = self.keys.of(name);
            self.servers.reassure(&records, silence).await;
        })
    }

    fn longest_lease(&self) -> Option<Micros> {
        None
    }

    fn presence(&self) -> Option<&dyn Presence> {
        None
    }

    fn call<'a>(&'a self, batch: &'a Batch) -> BoxFuture<'a, Result<Replies, StoreError>> {
        Box::pin(self.execute(batch))
    }

    fn call_in_place(&self, _batch: &Batch) -> Option<Result<Replies, StoreError>> {
        None
    }

    fn answers_in_place(&self) -> bool {
        false
    }

    fn guarded<'a>(&'a self, write: &'a GuardedWrite) -> Option<Written<'a>> {
        Some(Box::pin(self.write(write)))
    }

    // A cluster cannot do this, because the keys of a script have to be in one slot.
    fn one_step(&self) -> Option<&dyn OneStep> {
        matches!(self.servers, Servers::One { .. }).then_some(self as &dyn OneStep)
    }

    fn bundles(&self) -> Option<&dyn Bundles> {
        matches!(self.servers, Servers::One { .. }).then_some(self as &dyn Bundles)
    }

    fn call_queue<'a>(
        &'a self,
        batch: &'a queue_ledger::Batch,
    ) -> BoxFuture<'a, Result<queue_ledger::Replies, StoreError>> {
        Box::pin(self.execute_queue(batch))
    }

    fn list_queues<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, queue_ledger::Snapshot)>, StoreError>> {
        Box::pin(self.queue_snapshots(prefix))
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(Name, Snapshot)>, StoreError>> {
        Box::pin(self.snapshots(prefix))
    }

    fn diagnose(&self) -> BoxFuture<'_, Result<Diagnosis, StoreError>> {
        Box::pin(self.servers.diagnose())
    }

    fn examine(&self, most: usize) -> BoxFuture<'_, Result<Examination, StoreError>> {
        Box::pin(self.examine_ledgers(most))
    }
}

fn misconfigured(message: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
}

/// How many bytes the answer to a batch may have: slots and tickets of many thousands of permits,
/// and the rows that were asked for.
fn room_of(batch: &Batch) -> usize {
    let rows = batch.requests.iter().map(|request| match request {
        Request::Inspect { rows } => *rows as usize,
        _ => 0,
    });
    // The rows of holders and those of waiters each may be so many.
    ANSWER_ROOM.saturating_add(rows.sum::<usize>().saturating_mul(2 * ROW_ROOM))
}

/// More requests than a batch may have are refused before anything is sent.
fn refuse_too_much(batch: &Batch) -> Result<(), StoreError> {
    if batch.requests.len() <= Batch::MOST {
        return Ok(());
    }
    let message = format!("a batch has at most {} requests: please report this", Batch::MOST);
    Err(StoreError::new(StoreErrorKind::Internal, Certainty::NotExecuted, message))
}
