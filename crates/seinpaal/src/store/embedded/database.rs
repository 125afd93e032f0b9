//! The database: opened, made or refused.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};
use rustix::fs::{AtFlags, Mode, OFlags, openat, statat};

use super::{directory::Directory, trouble};
use crate::store::{Certainty, StoreError, StoreErrorKind};

const FILE: &str = "seinpaal.db";
/// "SPaa": tells our databases from others.
const APPLICATION: i32 = 0x5350_6161;
const VERSION: i32 = 4;
/// A call that finds this many pages in the log writes them back itself, idle or not. The first to open the
/// store after all had left reads the whole log, so programs that come and go want it short.
const MOST_LOG_PAGES: u32 = 256;

/// An open database.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) path: PathBuf,
    pub(super) db: Connection,
}

/// Refuses what is not ours, or not ours to write, before anything is written.
pub(super) fn check(dir: &Directory) -> Result<(), StoreError> {
    if statat(dir.fd(), FILE, AtFlags::empty()).is_err() {
        return Ok(());
    }
    let path = dir.join(FILE);
    let fd = openat(dir.fd(), FILE, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    let mut head = Vec::new();
    let file = File::from(fd.map_err(trouble::at(&path))?);
    file.take(16).read_to_end(&mut head).map_err(trouble::at(&path))?;
    let is_ours = head.is_empty() || head == b"SQLite format 3\0";
    if is_ours { Ok(()) } else { Err(trouble::foreign(&path)) }
}

/// Opens the database, or makes it. Only inside the gate.
pub(super) fn open(dir: &Directory, unique: &str) -> Result<Database, StoreError> {
    drop(dir.file(FILE, unique)?);
    let path = dir.join(FILE);
    let trouble = |error| trouble::sql(&path, Certainty::NotExecuted, error);
    let db = connect(&path).map_err(trouble)?;
    let (application, version) = marks(&db).map_err(trouble)?;
    match (application, version) {
        (APPLICATION, VERSION) => {}
        (0, 0) if is_empty(&db).map_err(trouble)? => create(&db).map_err(trouble)?,
        (APPLICATION, _) => return Err(other_version(&path, version)),
        _ => return Err(trouble::foreign(&path)),
    }
    Ok(Database { path, db })
}

pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    // The file exists with its rights, and SQLite gives the same to the files beside it.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    // Only foreign programs can be in the way: we meet at the gate.
    db.busy_timeout(Duration::from_secs(5))?;
    db.set_prepared_statement_cache_capacity(128);
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Without it, most statements are compiled anew whenever another value is bound: twice the time.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    db.execute_batch(&format!(
        "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; \
         PRAGMA wal_autocheckpoint = {MOST_LOG_PAGES};"
    ))?;
    Ok(db)
}

fn marks(db: &Connection) -> rusqlite::Result<(i32, i32)> {
    let number = |pragma: &str| db.query_row(pragma, [], |row| row.get(0));
    Ok((number("PRAGMA application_id")?, number("PRAGMA user_version")?))
}

fn is_empty(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

fn create(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.execute_batch(&format!(
        "BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; \
         {} COMMIT;",
        include_str!("schema.sql")
    ))
}

fn other_version(path: &Path, version: i32) -> StoreError {
    let message = format!(
        "cannot use {}: it was made by another version of Seinpaal (format {version}, this one has \
         {VERSION}); use that version or choose another directory",
        path.display()
    );
    StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
}
