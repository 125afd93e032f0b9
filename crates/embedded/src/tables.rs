//! The tables that a store has. Many stores only ever have a few small names. SQLite reads the
//! definition of every table when a program opens the database, which took a short `run` longer
//! than its calls. So a new store has the tables for small names alone. The first large name, or
//! the first call about a queue, makes the other tables in its own transaction. They stay.

use rusqlite::{Connection, Result};

use super::rows::{SCHEMA, schema_large};

/// The version of a database that has every table. All databases had this version before [`FEW`]
/// existed.
pub(super) const ALL: i32 = 10;
/// The version of a database that has the tables for small names alone.
pub(super) const FEW: i32 = 11;

/// Returns the definitions of every table, for tests without a store.
pub fn schema() -> String {
    format!("{SCHEMA}{}", schema_large())
}

/// Returns the statements that make the tables of a new store.
pub(super) fn definitions_of_few() -> String {
    format!("PRAGMA user_version = {FEW}; {SCHEMA}")
}

/// Returns whether the tables for large names and for queues are there.
pub(super) fn are_all_there(db: &Connection) -> Result<bool> {
    let mut query = db.prepare_cached("PRAGMA user_version")?;
    let version: i32 = query.query_row([], |row| row.get(0))?;
    Ok(version != FEW)
}

/// Makes the tables for large names and for queues if they are not there. Call it only inside the
/// gate and a transaction.
pub(super) fn make_all(db: &Connection) -> Result<()> {
    if are_all_there(db)? {
        return Ok(());
    }
    db.execute_batch(&format!("{} PRAGMA user_version = {ALL};", schema_large()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(db: &Connection) -> i64 {
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'";
        db.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn the_other_tables_are_made_once_and_whole_or_not_at_all() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(&definitions_of_few()).unwrap();
        assert!(!are_all_there(&db).unwrap());
        let few = tables(&db);
        db.execute_batch("BEGIN").unwrap();
        make_all(&db).unwrap();
        assert!(are_all_there(&db).unwrap());
        db.execute_batch("ROLLBACK").unwrap();
        assert!(!are_all_there(&db).unwrap());
        assert_eq!(tables(&db), few);
        make_all(&db).unwrap();
        make_all(&db).unwrap();
        let all = tables(&db);
        assert!(all > few + 9, "{all}");
        let full = Connection::open_in_memory().unwrap();
        full.execute_batch(&schema()).unwrap();
        assert_eq!(tables(&full), all);
    }
}
