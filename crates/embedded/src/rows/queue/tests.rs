//! Rows against B-trees: the same random history through both, compared answer by answer and row by
//! row.

mod history;

use std::collections::BTreeMap;

use rusqlite::{Connection, types::FromSql};
use seinpaal_proto::{
    Inbox, Name,
    queue::{Batch, ItemId, MemoryQueue, State, execute},
    time::SECOND,
};

use super::{QueueRows, groups, inbox_of, items, memories, places};
use history::{Oracle, Random};

const TABLES: [&str; 7] = ["queue", "item", "payload", "item_group", "place", "session", "dedup"];

fn database() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    db.set_prepared_statement_cache_capacity(128);
    db.execute_batch(&crate::tables::schema()).unwrap();
    db
}

fn column<T: FromSql>(db: &Connection, sql: &str, queue: i64) -> Vec<T> {
    let mut find = db.prepare_cached(sql).unwrap();
    find.query_map([queue], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Reads all rows of a queue into B-trees.
fn read_all(db: &Connection, rows: &mut QueueRows<'_>) -> MemoryQueue {
    let mut all = MemoryQueue::default();
    let Some(queue) = rows.id else { return all };
    let Ok(()) = all.set_head(&rows.head().unwrap());
    for id in column::<i64>(db, "SELECT id FROM item WHERE queue = ?1", queue) {
        let id = ItemId(id.unsigned_abs());
        let Ok(()) = all.put_item(&rows.item(id).unwrap().unwrap());
    }
    for id in column::<i64>(db, "SELECT id FROM payload WHERE queue = ?1", queue) {
        let id = ItemId(id.unsigned_abs());
        let Ok(()) = all.put_payload(id, &rows.payload(id).unwrap());
    }
    for group in column::<String>(db, "SELECT name FROM item_group WHERE queue = ?1", queue) {
        let group = Name::new(&group).unwrap();
        let Ok(()) = all.put_group(&group, &rows.group(&group).unwrap());
    }
    read_clients(db, rows, &mut all, queue);
    all
}

fn read_clients(db: &Connection, rows: &mut QueueRows<'_>, all: &mut MemoryQueue, queue: i64) {
    for inbox in column(db, "SELECT inbox FROM place WHERE queue = ?1", queue) {
        let Ok(()) = all.put_place(&rows.place(inbox_of(inbox)).unwrap().unwrap());
    }
    for inbox in column(db, "SELECT inbox FROM session WHERE queue = ?1", queue) {
        let Ok(()) = all.put_session(&rows.session(inbox_of(inbox)).unwrap().unwrap());
    }
    for key in column::<String>(db, "SELECT key FROM dedup WHERE queue = ?1", queue) {
        let key = Name::new(&key).unwrap();
        let Ok(()) = all.put_key(&rows.key(&key).unwrap().unwrap());
    }
}

fn run_history(seed: u64, steps: u32) {
    let (mut random, db) = (Random::new(seed), database());
    let mut queues: BTreeMap<Name, MemoryQueue> = BTreeMap::new();
    let mut now = 1_000_000 * SECOND;
    for step in 0..steps {
        now = random.next_time(now);
        let batch = random.batch(now);
        let oracle = Oracle(random.below(u64::MAX));
        let memory = queues.entry(batch.name.clone()).or_default();
        let Ok(expected) = execute(memory, &mut oracle.clone(), now, &batch);
        let mut rows = QueueRows::open(&db, &batch.name).unwrap();
        let found = execute(&mut rows, &mut oracle.clone(), now, &batch).unwrap();
        assert_eq!(found, expected, "seed {seed}, step {step}: {batch:?}");
        assert_eq!(read_all(&db, &mut rows), *memory, "seed {seed}, step {step}: {batch:?}");
        random.learn(&batch, &found.replies.replies);
    }
}

#[test]
fn rows_and_b_trees_give_the_same_answers_to_random_histories() {
    for seed in 0..20 {
        run_history(seed, 400);
    }
}

#[test]
fn a_queue_that_fell_idle_leaves_no_rows() {
    let db = database();
    let (mut random, name) = (Random::new(7), Name::new("a").unwrap());
    let mut now = 1_000_000 * SECOND;
    for _ in 0..200 {
        now += SECOND;
        let batch = Batch { name: name.clone(), ..random.batch(now) };
        execute(&mut QueueRows::open(&db, &name).unwrap(), &mut Oracle(0), now, &batch).unwrap();
    }
    for requests in random.emptying() {
        now += 4_000 * SECOND;
        let session = Inbox(0);
        let batch =
            Batch { name: name.clone(), session, number: 0, not_after: now, seen: 0, requests };
        execute(&mut QueueRows::open(&db, &name).unwrap(), &mut Oracle(0), now, &batch).unwrap();
    }
    for table in TABLES {
        let sql = format!("SELECT count(*) FROM {table}");
        let count: i64 = db.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(count, 0, "rows left in {table}");
    }
}

#[test]
fn every_statement_finds_its_rows_by_an_index() {
    let db = database();
    for sql in [
        &*super::head::QUEUE.find,
        items::BY_ID,
        items::FIRST_OPEN,
        items::FIRST_OF_GROUP,
        items::FIRST_DELAYED,
        items::FIRST_BY_END,
        items::FIRST_BY_WALL,
        items::OPEN,
        items::GROUPED,
        items::DELAYED,
        items::IN_WORK,
        items::DEAD,
        items::NEXT_WORKER,
        items::PAYLOAD,
        items::DELETE,
        items::DELETE_PAYLOAD,
        groups::BY_NAME,
        groups::FULL_AFTER,
        groups::ALL,
        places::BY_INBOX,
        places::IN_LINE,
        places::FIRST_CALLED,
        memories::SESSION,
        memories::FIRST_SESSION,
        memories::KEY,
        memories::FIRST_KEY,
    ] {
        let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let mut plan = String::new();
        let mut rows = explain.raw_query();
        while let Some(row) = rows.next().unwrap() {
            plan = format!("{plan}{}; ", row.get::<_, String>(3).unwrap());
        }
        assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{sql}\n{plan}");
    }
}
