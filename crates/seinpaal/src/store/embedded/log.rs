//! Waits until SQLite's log is on the disk, by SQLite's own descriptor of it: nobody else ever has one
//! (`database.rs`). The only unsafe code of this crate, with its proof.
#![allow(unsafe_code)]

use std::{
    ffi::c_int,
    io,
    path::{Path, PathBuf},
    ptr,
};

use rusqlite::{Connection, ffi};

use super::database;

/// A connection that is used for nothing but this, by one thread.
#[derive(Debug)]
pub(super) struct Log {
    db: Connection,
}

impl Log {
    /// Of the database at a path without symbolic links.
    pub(super) fn open(database: &Path) -> io::Result<Self> {
        let db = database::connect(database).map_err(io::Error::other)?;
        // The log is opened by whatever reads first.
        db.query_row("PRAGMA user_version", [], |_| Ok(())).map_err(io::Error::other)?;
        Ok(Self { db })
    }

    /// Waits until all that any connection has written to the log is on the disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        let mut file: *mut ffi::sqlite3_file = ptr::null_mut();
        // SAFETY: `db` is open for as long as `self` is borrowed, and `&mut self` lets nobody else use it
        // meanwhile. For this operation SQLite writes one pointer to where the last argument points, which is a
        // pointer of that type. The file that it names belongs to the connection and stays open as long as it: a
        // connection leaves its log only when it is closed or changes the journal mode, and this one does neither.
        // `xSync` is called with that file, as SQLite calls it, with flags that it knows.
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
            Some(_) => Err(io::Error::last_os_error()),
            None => Err(io::Error::other("SQLite has no log open")),
        }
    }
}

/// What waits for the log of this database; opened by the first wait.
pub(super) fn syncing(database: PathBuf) -> super::keeper::Sync {
    let mut log = None;
    Box::new(move || {
        if log.is_none() {
            // The names of the files must be on the disk as well.
            let dir = database.parent().unwrap_or_else(|| Path::new("/"));
            std::fs::File::open(dir)?.sync_all()?;
            log = Some(Log::open(&database)?);
        }
        log.as_mut().map_or(Ok(()), Log::sync)
    })
}
