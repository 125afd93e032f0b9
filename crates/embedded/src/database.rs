//! The database: how it is opened, made or refused.
//!
//! Only SQLite ever has a descriptor of the database files. SQLite protects them with POSIX locks,
//! and the kernel drops all such locks of a process when the process closes any descriptor of the
//! file. Without the locks, a database shell that comes and goes takes the log for left over and
//! deletes it. So facts about the files are asked for by name (`statat`, `accessat`), and SQLite
//! reads their content (docs/decisions/embedded.md).

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig, hooks::Wal};
use rustix::fs::{FileType, stat};

use super::{
    directory::Directory,
    tables::{self, ALL, FEW},
    trouble,
};
use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

pub(super) const FILE: &str = "seinpaal.db";
/// The log and its index, which SQLite makes beside the database.
pub(super) const BESIDE: [&str; 2] = ["seinpaal.db-wal", "seinpaal.db-shm"];
/// "SPaa": the mark that tells our databases from others.
const APPLICATION: i32 = 0x5350_6161;

/// How long a call waits for a foreign program that has the database locked.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// An open database.
#[derive(Debug)]
pub(super) struct Database {
    /// The path that people know.
    pub(super) path: PathBuf,
    /// The path without symbolic links.
    pub(super) true_path: PathBuf,
    pub(super) db: Connection,
    log_pages: Arc<AtomicU32>,
}

impl Database {
    /// Returns how many pages the log had when this connection last committed.
    pub(super) fn log_pages(&self) -> u32 {
        self.log_pages.load(Ordering::Relaxed)
    }
}

/// Refuses files that are not ours, or not ours to write, before anything is written. Returns
/// whether there is a database.
pub(super) fn check(dir: &Directory) -> Result<bool, StoreError> {
    let check = |file| {
        let is_there = dir.look(file, FileType::RegularFile)?.is_some();
        if is_there { dir.check_access(file).map(|()| true) } else { Ok(false) }
    };
    let is_database = check(FILE)?;
    BESIDE.into_iter().try_for_each(|file| check(file).map(drop))?;
    // If there is a gate, the content is checked inside, and all other files are made already.
    if is_database && dir.look("gate", FileType::RegularFile)?.is_none() {
        check_content(dir)?;
    }
    Ok(is_database)
}

fn check_content(dir: &Directory) -> Result<(), StoreError> {
    let path = dir.join(FILE);
    let trouble = |error| trouble::sql(&path, Certainty::NotExecuted, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = Connection::open_with_flags(dir.true_path()?.join(FILE), flags).map_err(trouble)?;
    is_made(&path, &db).map(drop)
}

/// Opens the database, or makes it. Call it only inside the gate.
pub(super) fn open(
    dir: &Directory,
    unique: &str,
    busy_timeout: Duration,
) -> Result<Database, StoreError> {
    dir.ensure(FILE, unique)?;
    let path = dir.join(FILE);
    let trouble = |error| trouble::sql(&path, Certainty::NotExecuted, error);
    let true_path = dir.true_path()?.join(FILE);
    let mut db = connect(&true_path, busy_timeout).map_err(trouble)?;
    if !is_made(&path, &db)? {
        create(&db).map_err(trouble)?;
    }
    keep_log(&db).map_err(trouble)?;
    // SQLite gives these files the rights of the database, but the group only if we are root.
    BESIDE.iter().for_each(|file| dir.rights().bestow_group(dir.fd(), file));
    refuse_if_moved(dir)?;
    let log_pages = watch_log(&mut db).map_err(trouble)?;
    Ok(Database { path, true_path, db, log_pages })
}

/// Connects to the database at a path without symbolic links. Only foreign programs can be in the
/// way, because our clients meet at the gate. `busy_timeout` is how long to wait for such programs.
pub(super) fn connect(path: &Path, busy_timeout: Duration) -> rusqlite::Result<Connection> {
    // The file exists with its rights, and SQLite gives the same rights to the files beside it.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(busy_timeout)?;
    db.set_prepared_statement_cache_capacity(128);
    // Without this, the last client to leave writes the log back, and waits for the disk.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Without this, most statements are compiled anew whenever another value is bound, which takes
    // twice the time.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // No commit writes the log back, because that waits for the disk, and a commit is inside the
    // gate (`backlog.rs`).
    db.execute_batch(
        "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 0;",
    )?;
    Ok(db)
}

/// Notes the length of the log after each commit.
fn watch_log(db: &mut Connection) -> rusqlite::Result<Arc<AtomicU32>> {
    let pages = Arc::new(AtomicU32::new(0));
    let noted = Arc::clone(&pages);
    db.wal_hook(Some(move |_: &mut Wal, pages: i32| {
        noted.store(pages.unsigned_abs(), Ordering::Relaxed);
        Ok(())
    }))?;
    Ok(pages)
}

/// Returns whether the tables are there, in a database that is ours. An empty database becomes
/// ours.
fn is_made(path: &Path, db: &Connection) -> Result<bool, StoreError> {
    let trouble = |error| trouble::sql(path, Certainty::NotExecuted, error);
    match marks(db).map_err(trouble)? {
        (APPLICATION, ALL | FEW) => Ok(true),
        (0, 0) if is_empty(db).map_err(trouble)? => Ok(false),
        (APPLICATION, version) => Err(other_version(path, version)),
        _ => Err(trouble::foreign(path)),
    }
}

fn marks(db: &Connection) -> rusqlite::Result<(i32, i32)> {
    let number = |pragma: &str| db.query_row(pragma, [], |row| row.get(0));
    Ok((number("PRAGMA application_id")?, number("PRAGMA user_version")?))
}

fn is_empty(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

fn create(db: &Connection) -> rusqlite::Result<()> {
    // The journal is set before the transaction, because SQLite does not change it inside one.
    keep_log(db)?;
    db.execute_batch(&format!(
        "BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION}; {} COMMIT;",
        tables::definitions_of_few()
    ))
}

/// Sets the kind of journal. Another program may have changed it while no client was here.
fn keep_log(db: &Connection) -> rusqlite::Result<()> {
    let kind: String = db.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    if kind == "wal" { Ok(()) } else { db.pragma_update(None, "journal_mode", "WAL") }
}

/// Refuses a database whose directory was moved. SQLite opened it by a path. If the path leads
/// elsewhere by now, SQLite opened another file.
fn refuse_if_moved(dir: &Directory) -> Result<(), StoreError> {
    let by_path = stat(&dir.true_path()?).map_err(trouble::at(&dir.path))?;
    let by_descriptor = rustix::fs::fstat(dir.fd()).map_err(trouble::at(&dir.path))?;
    let place = |file: &rustix::fs::Stat| (file.st_dev, file.st_ino);
    if place(&by_path) == place(&by_descriptor) {
        return Ok(());
    }
    let message = format!("{} was moved while it was opened; try again", dir.path.display());
    Err(StoreError::new(StoreErrorKind::Unreachable, Certainty::NotExecuted, message))
}

fn other_version(path: &Path, version: i32) -> StoreError {
    let message = format!(
        "cannot use {}: it was made by another version of Seinpaal (format {version}, this one has \
         {ALL} and {FEW}); use that version or choose another directory",
        path.display()
    );
    StoreError::new(StoreErrorKind::OtherVersion, Certainty::NotExecuted, message)
}

/// Runs a statement whose rows, if it has any, do not matter.
pub(super) fn run(db: &Connection, sql: &str) -> rusqlite::Result<()> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}
