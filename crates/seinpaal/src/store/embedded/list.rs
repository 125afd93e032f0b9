//! Listing names.

use rusqlite::Connection;
use seinpaal_proto::{Batch, Inbox, Name, Replies, Reply, Request, Snapshot};

use super::turn::read_name;

/// The most waiters that a snapshot lists.
const ROWS: u32 = 64;

/// The names that start with `prefix`, in order.
pub(super) fn names(db: &Connection, prefix: &str) -> rusqlite::Result<Vec<Name>> {
    let mut find = db.prepare_cached("SELECT name FROM name WHERE name >= ?1 ORDER BY name")?;
    let mut found = Vec::new();
    for name in find.query_map([prefix], read_name)? {
        let name = name?;
        if !name.starts_with(prefix) {
            break;
        }
        found.push(name);
    }
    Ok(found)
}

/// The batch that looks at one name.
pub(super) fn look(name: Name, me: Inbox) -> Batch {
    let requests = vec![Request::Inspect { rows: ROWS }];
    Batch { name, inbox: Some(me), fence_seen: 0, requests }
}

/// What is listed of a name, if there is anything.
pub(super) fn shown(name: Name, replies: Replies) -> Option<(Name, Snapshot)> {
    let Some(Reply::Snapshot(mut snapshot)) = replies.replies.into_iter().next() else {
        return None;
    };
    snapshot.holders.clear();
    let used = snapshot.holders_total > 0 || snapshot.waiting_total > 0;
    (used || snapshot.pinned || snapshot.paused.is_some()).then_some((name, snapshot))
}
