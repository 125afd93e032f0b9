//! Turns the errors of the kernel and of SQLite into one line that says what to do.

use std::{
    io::{Error, ErrorKind},
    path::Path,
};

use rusqlite::ErrorCode;
use rustix::{
    fs::{Access, access},
    io::Errno,
};

use super::rights::Stranger;
use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

/// Makes the error for a path about which the kernel refused something. Nothing of a batch was
/// executed.
pub(super) fn io(path: &Path, error: impl Into<Error>) -> StoreError {
    let error = error.into();
    let (kind, advice) = advice(&error);
    let message = format!("cannot use {}: {advice}", path.display());
    StoreError::new(kind, Certainty::NotExecuted, message).caused_by(error)
}

/// Makes errors as [`io`] does, for use in `map_err`.
pub(super) fn at<E: Into<Error>>(path: &Path) -> impl FnOnce(E) -> StoreError + '_ {
    move |error| io(path, error)
}

fn advice(error: &Error) -> (StoreErrorKind, String) {
    use StoreErrorKind::{Forbidden, Full, Misconfigured, Unreachable};
    let (kind, advice) = match error.kind() {
        ErrorKind::PermissionDenied => {
            (Forbidden, "no permission; make it writable for this user or choose another directory")
        }
        ErrorKind::ReadOnlyFilesystem => {
            (Forbidden, "the file system is read-only; choose another directory")
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            (Full, "no space left; make room there and try again")
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            (Misconfigured, "it is not a directory; choose another one")
        }
        ErrorKind::NotFound => (Misconfigured, "it does not exist; create it"),
        _ => return (Unreachable, format!("{error}; try again")),
    };
    (kind, advice.to_owned())
}

/// Makes the error for a directory or a file that is not used because of its owner or its kind.
pub(super) fn strange(path: &Path, stranger: Stranger) -> StoreError {
    let why = match stranger {
        Stranger::Owner(user) => format!(
            "it belongs to user {user}; choose a directory of your own, or have its owner share it with a group \
             (chgrp GROUP DIR; chmod 2770 DIR)"
        ),
        Stranger::Group(group) => format!(
            "it is shared with group {group}, which this user is not in; join that group or choose another \
             directory"
        ),
        Stranger::InPublic(user) => format!(
            "user {user} made it where everybody can make something; choose a directory that only you or root \
             can have made"
        ),
        Stranger::Kind => {
            "it is a symbolic link, or no plain file or directory; remove it or choose another \
                           directory"
                .to_owned()
        }
    };
    let message = format!("cannot use {}: {why}", path.display());
    StoreError::new(StoreErrorKind::Forbidden, Certainty::NotExecuted, message)
}

/// Makes the error for a database about which SQLite refused something.
pub fn sql(path: &Path, certainty: Certainty, error: rusqlite::Error) -> StoreError {
    let (kind, advice) = sql_advice(path, &error);
    let message = format!("cannot use {}: {advice}", path.display());
    StoreError::new(kind, certainty, message).caused_by(error)
}

fn sql_advice(path: &Path, error: &rusqlite::Error) -> (StoreErrorKind, String) {
    let (kind, advice) = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => (StoreErrorKind::Full, FULL),
        Some(ErrorCode::SystemIoFailure) if is_full(path) => (StoreErrorKind::Full, FULL),
        Some(ErrorCode::SystemIoFailure) if is_unwritten(error) => {
            (StoreErrorKind::Full, UNWRITTEN)
        }
        Some(ErrorCode::CannotOpen) if is_ours_to_use(path) => {
            (StoreErrorKind::Unreachable, NOT_OPENED)
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => (
            StoreErrorKind::Forbidden,
            "no permission; make it and the files beside it writable for this user",
        ),
        Some(ErrorCode::NotADatabase) => return (StoreErrorKind::Corrupt, not_ours()),
        Some(code) if is_damage(code, error) => (StoreErrorKind::Corrupt, DAMAGED),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            StoreErrorKind::Unreachable,
            "another program keeps it locked; close that program (a database browser?)",
        ),
        Some(_) => return (StoreErrorKind::Unreachable, format!("{error}; try again")),
        None => (StoreErrorKind::Corrupt, DAMAGED),
    };
    (kind, advice.to_owned())
}

/// Returns whether the database is damaged. Our statements break no constraint and read no wrong
/// type from rows that we wrote, and a file that ends too early was cut off.
fn is_damage(code: ErrorCode, error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_IOERR_CORRUPTFS, SQLITE_IOERR_DATA, SQLITE_IOERR_SHORT_READ};
    let extended = error.sqlite_error().map_or(0, |error| error.extended_code);
    let cut_off = [SQLITE_IOERR_SHORT_READ, SQLITE_IOERR_CORRUPTFS, SQLITE_IOERR_DATA];
    cut_off.contains(&extended)
        || matches!(
            code,
            ErrorCode::DatabaseCorrupt
                | ErrorCode::ConstraintViolation
                | ErrorCode::TypeMismatch
                | ErrorCode::TooBig
                | ErrorCode::InternalMalfunction
        )
}

/// Returns whether the disk could not be written. A quota, a limit on the size of files and a
/// failing disk have no error codes of their own here. None of them passes by itself.
fn is_unwritten(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_WRITE};
    let extended = error.sqlite_error().map_or(0, |error| error.extended_code);
    [SQLITE_IOERR_WRITE, SQLITE_IOERR_SHMSIZE].contains(&extended)
}

/// Returns whether we may use the directory, the database and the files of SQLite beside it, as far
/// as they exist. SQLite does not say why it could not open one.
fn is_ours_to_use(path: &Path) -> bool {
    let may = Access::READ_OK | Access::WRITE_OK;
    let beside = ["", "-wal", "-shm"].map(|end| format!("{}{end}", path.display()));
    path.parent().is_some_and(|dir| access(dir, may | Access::EXEC_OK).is_ok())
        && beside.iter().all(|file| matches!(access(file, may), Ok(()) | Err(Errno::NOENT)))
}

const NOT_OPENED: &str = "it could not be opened, though this user may; this program or this machine may have too many files \
                          open (`ulimit -n`)";
const UNWRITTEN: &str = "it could not be written (no space, a quota, a limit on the size of files, or a failing \
                         disk); make room there and try again";
const FULL: &str = "no space left; make room there and try again";
const DAMAGED: &str = "it is damaged; stop what uses it, move it and the files beside it away \
                       (who holds, who waits, the limits set and the items of queues are forgotten), \
                       and try again";

/// Returns whether the disk is full. SQLite reports that under several names, so the file system is
/// asked.
fn is_full(path: &Path) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|fs| fs.f_bavail < 64)
}

/// Returns the advice about a foreign file.
pub(super) fn not_ours() -> String {
    "it is not a Seinpaal database; move it away or choose another directory".to_owned()
}

/// Makes the error for a database at `path` that another program made.
pub(super) fn foreign(path: &Path) -> StoreError {
    let message = format!("cannot use {}: {}", path.display(), not_ours());
    StoreError::new(StoreErrorKind::Corrupt, Certainty::NotExecuted, message)
}
