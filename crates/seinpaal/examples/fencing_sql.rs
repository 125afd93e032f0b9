//! A SQL table that refuses a late holder. The highest fence stands in the database, and every
//! transaction of a holder begins by comparing its own fence with it. The example uses SQLite, and
//! the statements also work in PostgreSQL.
//!
//! Ends with status 0 only if the late holder was refused.
//! `cargo run -p seinpaal --example fencing_sql`

use std::error::Error;

use rusqlite::{Connection, Transaction, params};
use seinpaal::{
    Fence,
    blocking::{Seinpaal, wait},
};

const TABLES: &str = "
    CREATE TABLE fences (name TEXT PRIMARY KEY, fence INTEGER NOT NULL);
    CREATE TABLE accounts (owner TEXT PRIMARY KEY, balance INTEGER NOT NULL);
    INSERT INTO accounts VALUES ('ann', 100), ('bob', 0);";

/// Takes the row if this fence is not lower than the fence in the row. Otherwise changes no row.
const CLAIM: &str = "
    INSERT INTO fences VALUES (?1, ?2)
    ON CONFLICT (name) DO UPDATE SET fence = excluded.fence WHERE fences.fence <= excluded.fence";

/// Does `work` in one transaction. If a later holder has written already, does nothing and returns
/// `false`.
fn fenced(
    database: &mut Connection,
    name: &str,
    fence: Fence,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
) -> Result<bool, Box<dyn Error>> {
    let transaction = database.transaction()?;
    let claimed = transaction.execute(CLAIM, params![name, i64::try_from(fence.0)?])?;
    if claimed == 0 {
        return Ok(false); // dropped, so rolled back
    }
    work(&transaction)?;
    transaction.commit()?;
    Ok(true)
}

fn transfer(amount: i64) -> impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()> {
    move |transaction| {
        let add = "UPDATE accounts SET balance = balance + ?1 WHERE owner = ?2";
        transaction.execute(add, params![-amount, "ann"])?;
        transaction.execute(add, params![amount, "bob"]).map(drop)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut database = Connection::open_in_memory()?;
    database.execute_batch(TABLES)?;
    let seinpaal = Seinpaal::connect("memory:")?;
    let transfers = seinpaal.semaphore("transfers").limit(1);

    let old = transfers.acquire()?;
    assert!(old.is_held(), "the old holder looks at its permit, and is stopped before it writes");
    // Meanwhile its lease ends. Evicting it is quicker than waiting for that, and has the same
    // effect.
    wait(transfers.asynchronous().evict(old.ticket()))?;

    let new = transfers.acquire()?;
    let is_new_accepted = fenced(&mut database, "transfers", new.fence(), transfer(30))?;
    println!("fence {}: {}", new.fence(), if is_new_accepted { "written" } else { "refused" });

    // The old holder goes on where it was stopped.
    let is_old_accepted = fenced(&mut database, "transfers", old.fence(), transfer(50))?;
    println!("fence {}: {}", old.fence(), if is_old_accepted { "written" } else { "refused" });

    let left: i64 =
        database
            .query_row("SELECT balance FROM accounts WHERE owner = 'ann'", [], |row| row.get(0))?;
    if is_new_accepted && !is_old_accepted && left == 70 {
        println!("ann has {left}: the late holder changed nothing");
        return Ok(());
    }
    Err(format!("ann has {left}: the late holder was not refused").into())
}
