//! Requests about queues, before and after rows are damaged.

use rusqlite::{Connection, Result};
use seinpaal_proto::{
    Fence, Inbox, Limit, Name, Priority,
    queue::{
        Batch, Configure, Dedup, Delivery, Due, FailureReason, How, ItemId, ItemPosition,
        ItemState, Pop, Purge, Push, Renew, Reply, Request, execute,
    },
    time::SECOND,
};

use seinpaal_embedded::{list, rows::queue::QueueRows, tables};

use super::{Cells, MOST_CALLS, NOW, ThreeKindsOfContact, endless};

pub(super) const CELLS: [Cells; 7] = [
    ("queue", &["name"]),
    (
        "item",
        &[
            "id",
            "priority",
            "of_group",
            "most",
            "bytes",
            "dedup",
            "about",
            "pushed",
            "rank",
            "attempt",
            "history",
            "open",
            "due",
            "died",
            "fence",
            "worker",
            "worker_about",
            "since",
            "ttl",
            "ends",
            "ends_wall",
        ],
    ),
    ("payload", &["id", "bytes"]),
    ("item_group", &["name", "in_work", "ready", "front"]),
    ("place", &["inbox", "want", "drains", "until", "called"]),
    ("session", &["inbox", "number", "until", "replies"]),
    ("dedup", &["key", "id", "until"]),
];

/// Fills a database with items of every standing, workers in line and called, and all kinds of
/// memories.
pub(super) fn fill(db: &Connection) -> Result<()> {
    db.execute_batch(&tables::schema())?;
    let limits = [Configure::Limit(limit(4)), Configure::GroupLimit(limit(1))];
    send(db, 0, 1, limits.map(Request::Configure).to_vec())?;
    send(db, 0, 2, (0..12).map(|n| Request::Push(push(n))).collect())?;
    let popped = send(db, 1, 3, vec![Request::Pop(pop(3))])?;
    let deliveries = deliveries(&popped);
    let fail = How::Fail { delay: 0, reason: FailureReason::new("no") };
    let finish = deliveries.first().map(|first| Request::Finish { delivery: *first, how: fail });
    send(db, 2, 3, finish.into_iter().collect())?;
    for worker in 4..7 {
        send(db, 2, worker, vec![Request::Pop(pop(9))])?;
    }
    send(db, 3, 2, vec![Request::Push(push(0))]).map(drop)
}

/// Makes the requests of an ordinary day: pushing, working, steering, looking, and the ends of
/// leases.
pub(super) fn use_it(db: &Connection) -> Result<()> {
    let rows = |rows| Request::Inspect { rows };
    send(db, 4, 9, [rows(9)].into_iter().chain(ItemState::ALL.map(list)).collect())?;
    let popped = send(db, 5, 4, vec![Request::Pop(pop(3)), Request::Push(push(1))])?;
    let deliveries = deliveries(&popped);
    let renew = Renew { ttl: 30 * SECOND, margin: SECOND, deliveries: deliveries.clone() };
    send(db, 6, 5, vec![Request::Renew(renew), Request::Configure(Configure::GroupLimit(None))])?;
    let how = [How::Acknowledge, How::GiveBack { delay: SECOND }];
    let finish = deliveries.into_iter().zip(how);
    let finish = finish.map(|(delivery, how)| Request::Finish { delivery, how });
    send(db, 7, 4, finish.collect())?;
    let id = ItemId(NOW + 3);
    let ends = vec![
        Request::Cancel { id, spares_work: false },
        Request::Replay { id },
        Request::Drop { id },
    ];
    send(db, 8, 6, ends)?;
    send(db, 9, 6, vec![Request::Leave])?;
    list::queues(db, "")?;
    let name = a_name();
    QueueRows::open(db, &name)?.workers(None, 8)?;
    QueueRows::open(db, &name)?.first_idle(8)?;
    for later in [20, 31, 50, 90, 300] {
        send(db, later, 9, Vec::new())?;
    }
    let purges = vec![Request::Purge(Purge::Waiting), Request::Purge(Purge::Dead)];
    send(db, 301, 9, purges).map(drop)
}

fn list(state: ItemState) -> Request {
    Request::List { after: ItemPosition::before(state), rows: 9 }
}

/// Sends a batch, and then settles what is due.
fn send(db: &Connection, after: u64, worker: u128, requests: Vec<Request>) -> Result<Vec<Reply>> {
    let now = NOW + after * SECOND;
    let mut batch = Batch {
        name: a_name(),
        session: Inbox(worker),
        number: 1 + after,
        not_after: now + SECOND,
        seen: 0,
        requests,
    };
    let mut replies = None;
    for _ in 0..MOST_CALLS {
        let mut rows = QueueRows::open(db, &batch.name)?;
        let done = execute(&mut rows, &mut ThreeKindsOfContact, now, &batch)?.replies;
        let replies = replies.get_or_insert(done.replies);
        if !done.backlog {
            return Ok(std::mem::take(replies));
        }
        (batch.number, batch.requests) = (0, Vec::new());
    }
    endless(db)?;
    Ok(replies.unwrap_or_default())
}

fn deliveries(replies: &[Reply]) -> Vec<Delivery> {
    match replies.first() {
        Some(Reply::Popped { items, .. }) => items.iter().map(|item| item.delivery).collect(),
        _ => vec![Delivery { id: ItemId(NOW), fence: Fence(NOW) }],
    }
}

fn a_name() -> Name {
    name("mail")
}

fn name(text: &str) -> Name {
    Name::new(text).expect("that is a name")
}

fn limit(limit: u32) -> Option<Limit> {
    Limit::new(limit).ok()
}

fn push(n: u64) -> Push {
    Push {
        payload: vec![b'x'; n as usize * 200],
        priority: Priority::default(),
        due: if n % 5 == 4 { Due::In(n * 4 * SECOND) } else { Due::Now },
        group: (n % 2 == 1).then(|| name(["a", "b"][n as usize % 4 / 2])),
        dedup: (n == 0).then(|| Dedup { key: name("k"), window: 60 * SECOND }),
        most: 1 + n as u32 % 3,
        about: "maker".into(),
    }
}

fn pop(items: u32) -> Pop {
    let (ttl, margin) = (30 * SECOND, 8 * SECOND);
    Pop { items, ttl, margin, wait: true, drains: items % 2 == 1, about: "worker".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_goes_well_over_whole_rows_and_they_are_of_every_kind() {
        let db = Connection::open_in_memory().unwrap();
        fill(&db).unwrap();
        for (table, _) in CELLS {
            let sql = format!("SELECT count(*) FROM {table}");
            let rows: i64 = db.query_row(&sql, [], |row| row.get(0)).unwrap();
            assert!(rows > 0, "no row in {table}");
        }
        for kind in ["open", "due", "died", "fence"] {
            let sql = format!("SELECT count(*) FROM item WHERE {kind} IS NOT NULL");
            let rows: i64 = db.query_row(&sql, [], |row| row.get(0)).unwrap();
            assert!(rows > 0, "no item with {kind}");
        }
        use_it(&db).unwrap();
    }
}
