//! SQLite's log and the disk: waiting until the log is there, and writing it back into the
//! database.
//!
//! The wait goes by SQLite's own descriptor of the log, since nobody else ever has one
//! (`database.rs`). That takes unsafe code, which is here with its proof, and otherwise only in
//! `index.rs`.
#![allow(unsafe_code)]

use std::{
    ffi::c_int,
    fs::File,
    io,
    path::{Path, PathBuf},
    ptr,
};

use rusqlite::{Connection, ErrorCode, Row, ffi};

use super::{
    database,
    disk::{Disk, DiskFailure},
};

/// Calls go on while the log is written back, and what they append is left to the next pass. Each
/// is shorter than the one before it. The log begins anew once a pass leaves nothing.
const PASSES: u32 = 3;

const WRITE_BACK: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// A connection that is used for nothing but this, by one thread.
#[derive(Debug)]
pub(super) struct LogConnection {
    db: Connection,
}

impl LogConnection {
    /// Opens the log of the database at a path without symbolic links.
    pub(super) fn open(database: &Path) -> io::Result<Self> {
        let db = database::connect(database, database::BUSY_TIMEOUT).map_err(io::Error::other)?;
        // The log is opened by whatever reads first.
        db.query_row("PRAGMA user_version", [], |_| Ok(())).map_err(io::Error::other)?;
        Ok(Self { db })
    }

    /// Waits until all that any connection has written to the log is on the disk.
    pub(super) fn sync(&mut self) -> Result<(), DiskFailure> {
        let mut file: *mut ffi::sqlite3_file = ptr::null_mut();
        // SAFETY: `db` is open for as long as `self` is borrowed, and `&mut self` lets nobody else
        // use it meanwhile. For this operation SQLite writes one pointer to where the last argument
        // points, which is a pointer of that type. The file that it names belongs to the connection
        // and stays open as long as it: a connection leaves its log only when it is closed or
        // changes the journal mode, and this one does neither. `xSync` is called with that file, as
        // SQLite calls it, with flags that it knows.
        let done = unsafe {
            let target = ptr::from_mut(&mut file).cast();
            let told = ffi::sqlite3_file_control(
                self.db.handle(),
                c"main".as_ptr(),
                ffi::SQLITE_FCNTL_JOURNAL_POINTER,
                target,
            );
            match file.as_ref().and_then(|file| file.pMethods.as_ref()) {
                Some(methods) if told == ffi::SQLITE_OK => {
                    methods.xSync.map(|sync| sync(file, ffi::SQLITE_SYNC_NORMAL as c_int))
                }
                _ => None,
            }
        };
        match done {
            Some(ffi::SQLITE_OK) => Ok(()),
            Some(_) => Err(DiskFailure::NotDone(io::Error::last_os_error())),
            None => Err(DiskFailure::NotAsked(io::Error::other("SQLite has no log open"))),
        }
    }

    /// Writes the log back into the database, as far as nobody is in the way. Returns
    /// whether nothing is left, or somebody else is at it.
    fn write_back(&mut self) -> Result<bool, DiskFailure> {
        let mut pass = self.db.prepare_cached(WRITE_BACK).map_err(not_asked)?;
        let left = |row: &Row<'_>| {
            let (busy, pages, written): (bool, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(busy || pages == written)
        };
        match pass.query_row([], left) {
            // The kernel says once that it gave up pages, and it has said so here.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) => {
                Err(DiskFailure::NotDone(io::Error::other(error)))
            }
            Err(error) => {
                tracing::debug!(target: crate::TARGET, %error, "the log could not be written back");
                Ok(true)
            }
            Ok(is_done) => Ok(is_done),
        }
    }
}

fn not_asked(error: rusqlite::Error) -> DiskFailure {
    DiskFailure::NotAsked(io::Error::other(error))
}

/// The log of a database at a path without symbolic links; opened when it is first needed.
#[derive(Debug)]
pub(super) struct LogOnDisk {
    database: PathBuf,
    log: Option<LogConnection>,
    /// Whether the names of the files are on the disk as well.
    has_names: bool,
}

impl LogOnDisk {
    pub(super) fn new(database: PathBuf) -> Self {
        Self { database, log: None, has_names: false }
    }

    fn log(&mut self) -> Result<&mut LogConnection, DiskFailure> {
        let log = match self.log.take() {
            Some(log) => log,
            None => LogConnection::open(&self.database).map_err(DiskFailure::NotAsked)?,
        };
        Ok(self.log.insert(log))
    }

    fn keep_names(&mut self) -> Result<(), DiskFailure> {
        let dir = self.database.parent().unwrap_or_else(|| Path::new("/"));
        let dir = File::open(dir).map_err(DiskFailure::NotAsked)?;
        dir.sync_all().map_err(DiskFailure::NotDone)?;
        self.has_names = true;
        Ok(())
    }
}

impl Disk for LogOnDisk {
    fn sync(&mut self) -> Result<(), DiskFailure> {
        if !self.has_names {
            self.keep_names()?;
        }
        self.log()?.sync()
    }

    fn write_back(&mut self) -> Result<(), DiskFailure> {
        let log = self.log()?;
        for _ in 0..PASSES {
            if log.write_back()? {
                break;
            }
        }
        Ok(())
    }
}
