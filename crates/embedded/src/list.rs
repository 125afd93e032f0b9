//! Listing names and queues.

use rusqlite::Connection;
use seinpaal_proto::{Batch, Inbox, Name, Replies, Reply, Request, Snapshot, queue, time::Micros};

use super::{rows::read_name, tables};

/// The most waiters that a snapshot lists.
const ROWS: u32 = 64;

/// Returns the names that start with `prefix`, in order.
pub fn names(db: &Connection, prefix: &str) -> rusqlite::Result<Vec<Name>> {
    let small = "SELECT name FROM small WHERE name >= ?1 ORDER BY name";
    let all = "SELECT name FROM name WHERE name >= ?1 UNION ALL
        SELECT name FROM small WHERE name >= ?1 ORDER BY name";
    starting_with(prefix, db, if tables::are_all_there(db)? { all } else { small })
}

/// Returns the queues whose names start with `prefix`, in order.
pub fn queues(db: &Connection, prefix: &str) -> rusqlite::Result<Vec<Name>> {
    if !tables::are_all_there(db)? {
        return Ok(Vec::new());
    }
    starting_with(prefix, db, "SELECT name FROM queue WHERE name >= ?1 ORDER BY name")
}

/// Returns the names of a query that start with `prefix`. The query has them in order, from
/// `prefix` on.
fn starting_with(prefix: &str, db: &Connection, sql: &str) -> rusqlite::Result<Vec<Name>> {
    let mut find = db.prepare_cached(sql)?;
    let mut found = Vec::new();
    for name in find.query_map([prefix], |row| read_name(row, 0))? {
        let name = name?;
        if !name.starts_with(prefix) {
            break;
        }
        found.push(name);
    }
    Ok(found)
}

/// Returns the batch that looks at one name.
pub(super) fn look(name: Name, me: Inbox) -> Batch {
    let requests = vec![Request::Inspect { rows: ROWS }];
    Batch { name, inbox: Some(me), fence_seen: 0, requests }
}

/// Returns the row of a name in a list, if the name has one.
pub(super) fn shown(name: Name, replies: Replies) -> Option<(Name, Snapshot)> {
    let Some(Reply::Snapshot(mut snapshot)) = replies.replies.into_iter().next() else {
        return None;
    };
    snapshot.holders.clear();
    snapshot.is_worth_listing().then_some((name, snapshot))
}

/// Returns the batch that looks at one queue. It belongs to no session: if an idle worker sent it,
/// the ledger would assume that the worker has heard when to look next.
pub(super) fn look_at_queue(name: Name) -> queue::Batch {
    let (requests, session) = (vec![queue::Request::Inspect { rows: 0 }], Inbox(0));
    queue::Batch { name, session, number: 0, not_after: Micros::MAX, seen: 0, requests }
}

/// Returns the row of a queue in a list, if the queue has one.
pub(super) fn shown_of_queue(
    name: Name,
    replies: queue::Replies,
) -> Option<(Name, queue::Snapshot)> {
    let Some(queue::Reply::Snapshot(snapshot)) = replies.replies.into_iter().next() else {
        return None;
    };
    snapshot.is_worth_listing().then_some((name, snapshot))
}
