//! Indices that contradict their tables.

use std::path::Path;

use rusqlite::Connection;
use seinpaal_proto::{
    Batch, Configure, Enqueue, Inbox, Kind, Limit, LimitRule, Name, OnMismatch, Permits, Request,
    Ticket, execute, time::SECOND,
};
use seinpaal_store::{Certainty, StoreErrorKind};

use super::{super::Rows, Oracle, Random, database};
use crate::trouble;

/// Changes rows without changing an index of them.
fn contradict(db: &Connection, index: &str, change: &str) {
    let schema = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE name";
    db.execute_batch(&format!(
        "CREATE TEMP TABLE kept AS {schema} = '{index}';
         PRAGMA writable_schema = ON;
         DELETE FROM sqlite_schema WHERE name = '{index}';
         PRAGMA writable_schema = RESET;
         {change};
         PRAGMA writable_schema = ON;
         INSERT INTO sqlite_schema SELECT * FROM kept;
         PRAGMA writable_schema = RESET;"
    ))
    .unwrap();
}

/// Looks at the name once a second for a minute, and returns the first failure. Work that is left
/// over is done at once, as a session does it, but only up to a bound.
fn trouble_in_a_minute(db: &Connection, name: &Name, who: Oracle) -> Option<StoreErrorKind> {
    for second in 0..60 {
        let batch = Batch { name: name.clone(), inbox: None, fence_seen: 0, requests: Vec::new() };
        for call in 0.. {
            let mut rows = Rows::open(db, name).unwrap();
            match execute(&mut rows, &mut who.clone(), (10 + second) * SECOND, &batch) {
                Ok(outcome) if !outcome.replies.backlog => break,
                Ok(_) => assert!(call < 100, "there is always some work left over"),
                Err(error) => {
                    let error = trouble::sql(Path::new("x"), Certainty::NotExecuted, error);
                    return Some(error.kind());
                }
            }
        }
    }
    None
}

#[test]
fn an_index_that_contradicts_its_table_is_damage_and_no_endless_work() {
    let name = Name::new("n").unwrap();
    let (alive, listening) = (Oracle(3 << 5), Oracle(7 << 5));
    for (index, change, who) in [
        ("lease_by_end", "UPDATE lease SET ends = ends + 3600000000", &alive),
        ("lease_by_wall", "UPDATE lease SET ends_wall = ends_wall + 3600000000", &alive),
        ("entry_by_lease", "UPDATE entry SET lease = x'01' WHERE fence IS NOT NULL", &listening),
        ("waiter_by_rank", "UPDATE entry SET rank = rank + 1 WHERE rank IS NOT NULL", &listening),
        (
            "waiter_by_rank",
            "UPDATE entry SET fence = 7, slots = '7', rank = NULL WHERE rank IS NOT NULL",
            &listening,
        ),
        ("memory_by_end", "UPDATE memory SET until = until + 1", &alive),
    ] {
        let db = database();
        let mut random = Random::new(7);
        for ticket in 1..=4 {
            let mut want = random.acquire();
            // The first ticket ends at once, and the others stand under one lease.
            (want.ticket, want.permits) = (Ticket(ticket.min(2) << 32 | ticket), Permits::ONE);
            (want.ttl, want.margin) = (20 * SECOND, 5 * SECOND);
            want.limit = (ticket == 1).then_some(LimitRule {
                limit: Limit::new(2).unwrap(),
                on_mismatch: OnMismatch::Set,
            });
            (want.kind, want.enqueue) = (Kind::Semaphore, Enqueue::Yes { max_waiting: None });
            let release = Request::Release { ticket: Ticket(1 << 32 | 1), slots: None };
            let requests = vec![Request::Acquire(want), release];
            let batch =
                Batch { name: name.clone(), inbox: Some(Inbox(5)), fence_seen: 0, requests };
            let mut rows = Rows::open(&db, &name).unwrap();
            execute(&mut rows, &mut who.clone(), 9 * SECOND, &batch).unwrap();
        }
        contradict(&db, index, change);
        let trouble = trouble_in_a_minute(&db, &name, who.clone());
        assert_eq!(trouble, Some(StoreErrorKind::Corrupt), "{index}");
    }
}

#[test]
fn lengths_of_holds_that_no_ledger_has_kept_are_damage() {
    let name = Name::new("n").unwrap();
    let keep = Request::Configure(Configure::Limit(Limit::new(2).unwrap()));
    let batch = Batch { name: name.clone(), inbox: None, fence_seen: 0, requests: vec![keep] };
    for (recent, is_damage) in [(1_i64, false), (128, true), (1 << 49, true), (-1, true)] {
        let db = database();
        execute(&mut Rows::open(&db, &name).unwrap(), &mut Oracle(0), 9 * SECOND, &batch).unwrap();
        assert_eq!(db.execute("UPDATE name SET recent = ?1", [recent]).unwrap(), 1);
        let trouble = trouble_in_a_minute(&db, &name, Oracle(0));
        assert_eq!(trouble, is_damage.then_some(StoreErrorKind::Corrupt), "{recent}");
    }
}
