//! The directory that users of the same names share, and the rights of what is put into it.
//!
//! ```text
//!   DIR/gate               locked by whoever is inside a call
//!   DIR/seinpaal.db        what is true (with -wal and -shm beside it)
//!   DIR/presence/<inbox>   a pipe that its client keeps open for reading for as long as it lives
//!   DIR/inbox/<inbox>      the socket on which a client is told things
//! ```
//! Whoever may write DIR may use the store: every file has the directory's rights, whatever the umask.

use std::{
    env, fs,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::DirBuilderExt,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{self as rfs, AtFlags, Mode, OFlags, RawMode},
    io::Errno,
};

use super::{network::network_file_system, trouble};
use crate::store::{Certainty, StoreError, StoreErrorKind};

/// An open directory of a store.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) path: PathBuf,
    fd: OwnedFd,
    mode: RawMode,
}

impl Directory {
    /// Opens `path`, or creates it for this user alone.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        create_private(path)?;
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let fd = rfs::open(path, flags, Mode::empty()).map_err(trouble::at(path))?;
        refuse_network(path, fd.as_fd())?;
        let mode = rfs::fstat(&fd).map_err(trouble::at(path))?.st_mode;
        Ok(Self { path: path.to_owned(), fd, mode })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(super) fn join(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// The rights of a file here.
    pub(super) fn file_mode(&self) -> Mode {
        Mode::from_raw_mode(self.mode & 0o666)
    }

    /// A file made if it is not there. It never exists with other rights than those of the directory,
    /// because somebody else may open it at once.
    pub(super) fn file(&self, name: &str, unique: &str) -> Result<OwnedFd, StoreError> {
        let open = || rfs::openat(&self.fd, name, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
        let made = match open() {
            Err(Errno::NOENT) => self.make(name, &format!("{name}.{unique}")).and_then(|()| open()),
            other => other,
        };
        made.map_err(trouble::at(&self.join(name)))
    }

    fn make(&self, name: &str, draft: &str) -> rustix::io::Result<()> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        let fd = rfs::openat(&self.fd, draft, flags, Mode::RUSR | Mode::WUSR)?;
        let linked = rfs::fchmod(&fd, self.file_mode())
            .and_then(|()| rfs::linkat(&self.fd, draft, &self.fd, name, AtFlags::empty()));
        rfs::unlinkat(&self.fd, draft, AtFlags::empty())?;
        // Another one was faster: its file is as good.
        if linked == Err(Errno::EXIST) { Ok(()) } else { linked }
    }

    /// A folder made if it is not there, with this directory's rights. Only inside the gate.
    pub(super) fn folder(&self, name: &str) -> Result<Self, StoreError> {
        let path = self.join(name);
        let made = match rfs::mkdirat(&self.fd, name, Mode::RWXU) {
            Ok(()) => rfs::chmodat(&self.fd, name, self.folder_mode(), AtFlags::empty()),
            Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error),
        };
        made.map_err(trouble::at(&path))?;
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = rfs::openat(&self.fd, name, flags, Mode::empty()).map_err(trouble::at(&path))?;
        Ok(Self { path, fd, mode: self.mode })
    }

    /// Without the sticky bit: anybody here may clear away what the dead left.
    fn folder_mode(&self) -> Mode {
        Mode::from_raw_mode(self.mode & 0o2777)
    }

    pub(super) fn unlink(&self, name: &str) {
        // What is gone already, or cannot be removed, only costs a little space.
        let _ = rfs::unlinkat(&self.fd, name, AtFlags::empty());
    }
}

fn refuse_network(path: &Path, fd: BorrowedFd<'_>) -> Result<(), StoreError> {
    let Some(kind) = network_file_system(fd).map_err(trouble::at(path))? else { return Ok(()) };
    let path = path.display();
    let message = format!(
        "cannot use {path}: it is on a network file system ({kind}), where locks and processes of \
         other machines cannot be seen; choose a local directory, or use redis:// between machines"
    );
    Err(StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message))
}

fn create_private(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Ok(());
    }
    let is_there = |dir: &&Path| dir.is_dir();
    let there = path.ancestors().find(is_there).map(Path::to_owned);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(trouble::at(path))?;
    for dir in path.ancestors().skip(1) {
        // What is in it survives a power loss only if its name does. Who may not read what it may write has
        // to do without.
        let _ = fs::File::open(dir).and_then(|dir| dir.sync_all());
        if there.as_deref() == Some(dir) {
            break;
        }
    }
    Ok(())
}

/// Where the store of this user is: `$XDG_STATE_HOME/seinpaal`, else `~/.local/state/seinpaal`. Not the
/// runtime directory, because cron jobs and shells have to agree. Made for this user alone if missing.
///
/// # Errors
/// `Misconfigured` if neither variable is an absolute path; otherwise why it could not be made.
pub fn default_dir() -> Result<PathBuf, StoreError> {
    let absolute = |key: &str| env::var_os(key).map(PathBuf::from).filter(|p| p.is_absolute());
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    let Some(state) = state else {
        let message = "neither XDG_STATE_HOME nor HOME is set; name a directory with file:///DIR";
        return Err(StoreError::new(
            StoreErrorKind::Misconfigured,
            Certainty::NotExecuted,
            message,
        ));
    };
    let dir = state.join("seinpaal");
    create_private(&dir)?;
    Ok(dir)
}
