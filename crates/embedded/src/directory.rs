//! The directory that the users of a store share, and the rights of the files in it.
//!
//! ```text
//!   DIR/gate               locked by the client that is inside a call
//!   DIR/seinpaal.db        the state (with -wal and -shm beside it)
//!   DIR/presence/<inbox>   a file that its client keeps locked for as long as it lives
//!                          (with .hangup beside it, the socket by which others hear of its end)
//!   DIR/inbox/<inbox>      the socket at which a client listens for news
//! ```
//! Every user who may write DIR may use the store. The files can be written by those users,
//! whatever the umask, and by nobody else (`rights.rs`). Everything is reached through the open
//! directory, and no symbolic link in it is followed.

use std::{
    env, fs,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::DirBuilderExt,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{self as rfs, Access, AtFlags, FileType, Mode, OFlags, Stat},
    io::Errno,
    process::geteuid,
};

use seinpaal_proto::Inbox;

use super::{
    network::network_file_system,
    rights::{Rights, Stranger},
    trouble,
};
use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

const FOLDER: OFlags =
    OFlags::DIRECTORY.union(OFlags::RDONLY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// An open directory of a store.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) path: PathBuf,
    fd: OwnedFd,
    rights: Rights,
}

impl Directory {
    /// Opens `path`. If it does not exist, creates it for this user alone.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        // The path has no slash at the end, which would follow a link.
        let path: PathBuf = path.components().collect();
        create_private(&path)?;
        let fd = open_unless_strange_link(&path)?;
        refuse_network(&path, fd.as_fd())?;
        let rights = Rights::of(&rfs::fstat(&fd).map_err(trouble::at(&path))?);
        let parent = rfs::statat(&fd, "..", AtFlags::empty()).map_err(trouble::at(&path))?;
        rights.check(&parent).map_err(|stranger| trouble::strange(&path, stranger))?;
        Ok(Self { path, fd, rights })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(super) fn rights(&self) -> Rights {
        self.rights
    }

    pub(super) fn join(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// Returns the path of the directory itself, with no symbolic link in it, for a library that
    /// takes paths.
    #[cfg(target_os = "linux")]
    pub(super) fn true_path(&self) -> Result<PathBuf, StoreError> {
        let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&self.fd));
        fs::read_link(link).map_err(trouble::at(&self.path))
    }

    /// Returns the path of the directory itself, on systems other than Linux.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn true_path(&self) -> Result<PathBuf, StoreError> {
        use std::{ffi::OsString, os::unix::ffi::OsStringExt};

        let path = rfs::getpath(&self.fd).map_err(trouble::at(&self.path))?;
        Ok(OsString::from_vec(path.into_bytes()).into())
    }

    /// Returns the status of the file of this name in the directory, if it is of this kind and may
    /// be used.
    pub(super) fn look(&self, name: &str, kind: FileType) -> Result<Option<Stat>, StoreError> {
        let path = self.join(name);
        match rfs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(file) => {
                let checked = self.rights.check_file(&file, kind);
                checked.map_err(|stranger| trouble::strange(&path, stranger))?;
                Ok(Some(file))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(trouble::at(&path)(error)),
        }
    }

    /// Checks that this user may read and write a file that is not opened here.
    pub(super) fn check_access(&self, name: &str) -> Result<(), StoreError> {
        let wanted = Access::READ_OK | Access::WRITE_OK;
        match rfs::accessat(&self.fd, name, wanted, AtFlags::EACCESS) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(trouble::at(&self.join(name))(error)),
        }
    }

    /// Opens a file, and makes it if it is not there. The file never exists with fewer rights than
    /// it should have, because another client may open it at once.
    pub(super) fn file(&self, name: &str, unique: &str) -> Result<OwnedFd, StoreError> {
        self.ensure(name, unique)?;
        let path = self.join(name);
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = rfs::openat(&self.fd, name, flags, Mode::empty()).map_err(trouble::at(&path))?;
        // `ensure` has looked by name. The file that was opened may be another one by now.
        let file = rfs::fstat(&fd).map_err(trouble::at(&path))?;
        let checked = self.rights.check_file(&file, FileType::RegularFile);
        checked.map_err(|stranger| trouble::strange(&path, stranger))?;
        self.rights.bestow(&fd, self.rights.file_mode()).map_err(trouble::at(&path))?;
        Ok(fd)
    }

    /// Makes a file if it is not there, and keeps no descriptor of it.
    pub(super) fn ensure(&self, name: &str, unique: &str) -> Result<(), StoreError> {
        if self.look(name, FileType::RegularFile)?.is_some() {
            return Ok(());
        }
        let made = self.make(name, &format!("{name}.{unique}"));
        made.map_err(trouble::at(&self.join(name)))
    }

    /// Makes a file as `draft`, and then gives it its name. The descriptor is closed before that: a
    /// process that closes any descriptor of a database drops its locks there.
    fn make(&self, name: &str, draft: &str) -> rustix::io::Result<()> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        let fd = rfs::openat(&self.fd, draft, flags, Mode::RUSR | Mode::WUSR)?;
        let ready = self.rights.bestow(&fd, self.rights.file_mode());
        drop(fd);
        // The draft is linked and not renamed, because a rename would replace the file of a client
        // that was faster.
        let linked = ready
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
            .and_then(|()| rfs::linkat(&self.fd, draft, &self.fd, name, AtFlags::empty()));
        rfs::unlinkat(&self.fd, draft, AtFlags::empty())?;
        // Another client was faster. Its file is as good.
        if linked == Err(Errno::EXIST) { Ok(()) } else { linked }
    }

    /// Opens a folder, and makes it if it is not there, for the users who may write this directory.
    /// Call it only inside the gate.
    pub(super) fn folder(&self, name: &str) -> Result<Self, StoreError> {
        let path = self.join(name);
        if self.look(name, FileType::Directory)?.is_none() {
            match rfs::mkdirat(&self.fd, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(trouble::at(&path)(error)),
            }
        }
        let fd = rfs::openat(&self.fd, name, FOLDER, Mode::empty()).map_err(trouble::at(&path))?;
        let file = rfs::fstat(&fd).map_err(trouble::at(&path))?;
        let checked = self.rights.check_file(&file, FileType::Directory);
        checked.map_err(|stranger| trouble::strange(&path, stranger))?;
        self.rights.bestow(&fd, self.rights.folder_mode()).map_err(trouble::at(&path))?;
        Ok(Self { path, fd, rights: self.rights })
    }

    /// Returns the clients that have a file here.
    pub(super) fn clients(&self) -> impl Iterator<Item = Inbox> {
        let files = rfs::Dir::read_from(&self.fd).into_iter().flatten().flatten();
        files.filter_map(|file| file.file_name().to_str().ok()?.parse().ok())
    }

    pub(super) fn unlink(&self, name: &str) {
        // A file that is gone already, or cannot be removed, costs only a little space.
        let _ = rfs::unlinkat(&self.fd, name, AtFlags::empty());
    }
}

/// Opens the directory. A symbolic link in its place is followed if it belongs to us or to root, as
/// the kernel does in `/tmp`.
fn open_unless_strange_link(path: &Path) -> Result<OwnedFd, StoreError> {
    let open = |flags| rfs::open(path, flags, Mode::empty());
    let is_link = |file: &Stat| FileType::from_raw_mode(file.st_mode) == FileType::Symlink;
    match open(FOLDER) {
        Err(Errno::LOOP | Errno::NOTDIR) => match rfs::lstat(path) {
            Ok(link) if is_link(&link) && ![0, geteuid().as_raw()].contains(&link.st_uid) => {
                Err(trouble::strange(path, Stranger::Kind))
            }
            _ => open(FOLDER.difference(OFlags::NOFOLLOW)).map_err(trouble::at(path)),
        },
        opened => opened.map_err(trouble::at(path)),
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

/// Creates a directory for this user alone, with the directories above it that are missing.
fn create_private(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Ok(());
    }
    let is_there = |dir: &&Path| dir.is_dir();
    let there = path.ancestors().find(is_there).map(Path::to_owned);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(trouble::at(path))?;
    for dir in path.ancestors().skip(1) {
        // The content of a directory survives a power loss only if the directory's name does. A
        // user who may write a directory but not read it has no such guarantee.
        let _ = fs::File::open(dir).and_then(|dir| dir.sync_all());
        if there.as_deref() == Some(dir) {
            break;
        }
    }
    Ok(())
}

/// Returns the directory of this user's store: `$XDG_STATE_HOME/seinpaal`, else
/// `~/.local/state/seinpaal`. It is not the runtime directory, because cron jobs and shells have to
/// agree. If it is missing, it is made for this user alone.
///
/// # Errors
/// `Misconfigured` if neither variable is an absolute path; otherwise the reason why the directory
/// could not be made.
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
