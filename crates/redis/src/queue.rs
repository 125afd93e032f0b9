//! Queues: one script for all batches, on two keys of their own beside those of a semaphore of the
//! same name.

mod decode;
mod encode;
pub mod layout;

use std::collections::BTreeMap;

use futures_util::future::join_all;
use redis::{ToRedisArgs, Value};
use seinpaal_proto::{
    Name,
    queue::{Batch, MAX_PAYLOAD_BYTES, MOST_PAYLOAD, Replies, Reply, Request, Snapshot},
};

use self::decode::Answer;
pub use self::decode::replies;
use super::{
    ROW_ROOM, RedisStore, ReplicaNeed,
    list::{AT_ONCE, take_look},
    script::Script,
    servers::ExecutedAt,
};
use seinpaal_store::StoreError;

impl RedisStore {
    pub(super) async fn execute_queue(&self, batch: &Batch) -> Result<Replies, StoreError> {
        encode::refuse_too_much(batch)?;
        let arguments = encode::arguments(batch, self.setting())?;
        self.servers.expect_at_queue(batch).await?;
        let (answer, proof) = self.evaluate_queue(batch, &arguments).await?;
        let Answer { mut replies, more } = decode::answer(answer, batch)?;
        self.servers.take_note_of_queue(batch);
        let need = replies.replies.iter().map(need_of).max().unwrap_or(ReplicaNeed::Nothing);
        self.meet(need, proof).await?;
        if let (Some(Request::Inspect { rows }), Some(Reply::Snapshot(snapshot))) =
            (batch.requests.last(), replies.replies.last_mut())
        {
            for cursor in more {
                self.read_on(batch, *rows, cursor, snapshot).await?;
            }
        }
        Ok(replies)
    }

    async fn evaluate_queue(
        &self,
        batch: &Batch,
        arguments: &[impl ToRedisArgs],
    ) -> Result<(Value, ExecutedAt), StoreError> {
        let keys = self.keys.of_queue(&batch.name);
        self.servers.evaluate(Script::Queue, &keys, arguments, room_of(batch)).await
    }

    /// Adds the pages behind this cursor to an inspection, as many rows as were asked for.
    async fn read_on(
        &self,
        batch: &Batch,
        rows: u32,
        mut cursor: Vec<u8>,
        snapshot: &mut Snapshot,
    ) -> Result<(), StoreError> {
        while !cursor.is_empty() {
            let is_of_groups = cursor.starts_with(b"c");
            let read = if is_of_groups { snapshot.groups.len() } else { snapshot.work.len() };
            let missing = rows.saturating_sub(u32::try_from(read).unwrap_or(rows));
            if missing == 0 {
                break;
            }
            let argument = encode::page(batch, missing, &cursor, self.setting())?;
            let (answer, _) = self.evaluate_queue(batch, &[argument]).await?;
            cursor = decode::page(answer, &cursor, snapshot)?;
        }
        Ok(())
    }

    pub(super) async fn queue_snapshots(
        &self,
        prefix: &str,
    ) -> Result<Vec<(Name, Snapshot)>, StoreError> {
        let (pattern, mut listed) = (self.keys.queue_pattern(prefix), BTreeMap::new());
        for server in self.servers.scanned().await? {
            let mut cursor = Some(0);
            while let Some(at) = cursor {
                let (next, keys) = server.page(&pattern, at).await?;
                let names: Vec<_> = keys.iter().filter_map(|key| self.keys.queue_of(key)).collect();
                self.look_at_queues(&names, &mut listed).await?;
                cursor = next;
            }
        }
        Ok(listed.into_iter().collect())
    }

    async fn look_at_queues(
        &self,
        names: &[Name],
        listed: &mut BTreeMap<Name, Snapshot>,
    ) -> Result<(), StoreError> {
        for names in names.chunks(AT_ONCE) {
            let looks = join_all(names.iter().map(|name| self.inspect_queue(name))).await;
            for (name, look) in names.iter().zip(looks) {
                take_look(name, look, listed)?;
            }
        }
        Ok(())
    }

    async fn inspect_queue(&self, name: &Name) -> Result<Option<Snapshot>, StoreError> {
        let batch = Batch {
            name: name.clone(),
            session: self.inbox,
            // An inspection does no harm if it is executed twice, so it needs no number.
            number: 0,
            not_after: 0,
            seen: 0,
            requests: vec![Request::Inspect { rows: 0 }],
        };
        let replies = self.execute_queue(&batch).await?.replies;
        let Some(Reply::Snapshot(snapshot)) = replies.into_iter().next() else { return Ok(None) };
        Ok(Some(snapshot).filter(Snapshot::is_worth_listing))
    }
}

/// How many bytes the answer to a batch may have: the payloads of one pop, the texts that describe
/// its items, and the rows that were asked for.
fn room_of(batch: &Batch) -> usize {
    let rows = batch.requests.iter().map(|request| match request {
        Request::Inspect { rows } | Request::List { rows, .. } => *rows as usize,
        _ => 0,
    });
    let items = MOST_PAYLOAD + MAX_PAYLOAD_BYTES + Batch::MOST_ITEMS as usize * ROW_ROOM;
    (2 * items).saturating_add(rows.sum::<usize>().saturating_mul(4 * ROW_ROOM))
}

/// The proof that a reply needs from the replicas. A client that hears that an item is in the
/// queue, is its own or is done relies on that. A fail-over cannot undo a refusal or a mere look.
fn need_of(reply: &Reply) -> ReplicaNeed {
    match reply {
        Reply::Late
        | Reply::Left
        | Reply::Lost { .. }
        | Reply::Unknown { .. }
        | Reply::Snapshot(_)
        | Reply::Items { .. } => ReplicaNeed::Nothing,
        Reply::Popped { items, .. } if items.is_empty() => ReplicaNeed::Nothing,
        _ => ReplicaNeed::Confirmed,
    }
}
