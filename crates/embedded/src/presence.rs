//! Which clients are alive, as the kernel tells.
//!
//! A client keeps a file of its own locked, and a socket of its own listening, for as long as it
//! lives. Whether the file is locked is the test. That the socket hangs up (`hangup.rs`) is the
//! notice, which only says when to test.
//!
//! The lock is one of `flock`. It belongs to what was opened, not to a process: it ends when the
//! last process ends that has inherited the descriptor, and closing another descriptor of the same
//! file does nothing to it. So this needs no process ids, works between containers, and a child
//! that inherits both descriptors keeps its parent's leases alive.
//!
//! A program may close what it inherits (ssh, tcsh, closefrom(3)). So a free lock is no proof of
//! death while the file has a child on record that lives (`record.rs`). Nothing hangs up when that
//! child ends. A waiter cannot connect to such a client, and therefore looks again, at least once a
//! second.

use std::{
    fs::File,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    process,
    sync::Arc,
};

use rustix::{
    fs::{self as rfs, FlockOperation, Mode, OFlags, flock},
    io::Errno,
};
use seinpaal_proto::{
    Inbox,
    planted::{Mistake, planted},
};

use super::{
    directory::Directory,
    hangup::{self, HangupListener},
    record::{self, RecordDraft},
    trouble,
};
use seinpaal_store::{ChildRecord, StoreError};

/// How often a file is made anew because somebody looked at it before it was locked.
const MOST_TRIES: u32 = 100;

/// Where clients show that they live.
#[derive(Clone, Debug)]
pub(super) struct Presences {
    dir: Arc<Directory>,
}

/// This client's own presence.
#[derive(Debug)]
pub(super) struct OwnPresence {
    dir: Arc<Directory>,
    file: String,
    lock: Arc<File>,
    listener: Arc<HangupListener>,
    process: u32,
}

impl Presences {
    /// Only inside the gate.
    pub(super) fn open(dir: &Directory) -> Result<Self, StoreError> {
        Ok(Self { dir: Arc::new(dir.folder("presence")?) })
    }

    /// Returns whether this client is gone. If that cannot be told, it counts as alive. The answer
    /// is certain only inside the gate: a client that is just opening the store has not locked its
    /// file yet. Whoever asks outside must ask again inside before acting on it.
    pub(super) fn is_dead(&self, inbox: Inbox) -> bool {
        if planted(Mistake::EmbeddedDeathUnseen) {
            return false;
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = match rfs::openat(self.dir.fd(), inbox.to_string(), flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(error) => return error == Errno::NOENT,
        };
        // Shared: two who look at the same time are not in each other's way.
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => is_plain(&file) && !record::is_anybody_there(&file),
            Err(Errno::WOULDBLOCK) => record::are_processes_gone(&file),
            Err(_) => false,
        }
    }

    /// A connection that is hung up when this client may be gone.
    pub(super) fn watch(&self, inbox: Inbox) -> rustix::io::Result<OwnedFd> {
        hangup::watch(&self.dir, &socket_of(&inbox.to_string()))
    }

    pub(super) fn clear_away(&self, inbox: Inbox) {
        clear_away(&self.dir, &inbox.to_string());
    }

    /// The clients that have a file here, dead or alive.
    pub(super) fn all(&self) -> impl Iterator<Item = Inbox> {
        self.dir.clients()
    }

    /// Shows that this client lives. Only inside the gate.
    pub(super) fn show(&self, inbox: Inbox) -> Result<OwnPresence, StoreError> {
        let (dir, file) = (Arc::clone(&self.dir), inbox.to_string());
        let shown = show(&dir, &file).inspect_err(|_| clear_away(&dir, &file));
        let (lock, listener) = shown.map_err(trouble::at(&dir.join(&file)))?;
        let (lock, listener) = (Arc::new(lock), Arc::new(listener));
        Ok(OwnPresence { dir, file, lock, listener, process: process::id() })
    }
}

impl OwnPresence {
    /// The locked file and the listening socket.
    pub(super) fn fds(&self) -> [BorrowedFd<'_>; 2] {
        [self.lock.as_fd(), self.listener.as_fd()]
    }

    pub(super) fn listener(&self) -> Arc<HangupListener> {
        Arc::clone(&self.listener)
    }

    /// Puts on record which two processes matter: this one and a child that inherits the
    /// descriptors.
    pub(super) fn record_child(&self, child: u32) -> Result<(), StoreError> {
        record::write(&self.lock, child).map_err(trouble::at(&self.dir.join(&self.file)))
    }

    /// The same record for the child, which signs it by itself.
    pub(super) fn child_record(&self) -> Result<Option<ChildRecord>, StoreError> {
        let path = self.dir.join(&self.file);
        let draft = RecordDraft::begin(&self.lock, path.clone()).map_err(trouble::at(&path))?;
        Ok(draft.map(|draft| ChildRecord(Arc::new(draft))))
    }

    /// From here on the descriptors alone count.
    pub(super) fn forget_child(&self) -> Result<(), StoreError> {
        record::erase(&self.lock).map_err(trouble::at(&self.dir.join(&self.file)))
    }
}

impl Drop for OwnPresence {
    fn drop(&mut self) {
        // A child has our memory after a fork, but it is its parent that lives or dies.
        if self.process == process::id() {
            clear_away(&self.dir, &self.file);
        }
    }
}

/// The socket is opened first. As a rule, a process that ends closes first what it opened last, so
/// the lock is gone by the time the socket hangs up.
fn show(dir: &Directory, file: &str) -> io::Result<(File, HangupListener)> {
    let listener = HangupListener::open(dir, &socket_of(file))?;
    for _ in 0..MOST_TRIES {
        if let Some(lock) = make_locked(dir, file)? {
            return Ok((lock, listener));
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// A new file, locked. `None`: somebody looked at it in between, outside the gate.
fn make_locked(dir: &Directory, file: &str) -> io::Result<Option<File>> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    let lock = File::from(rfs::openat(dir.fd(), file, flags, Mode::RUSR | Mode::WUSR)?);
    dir.rights().bestow(&lock, dir.rights().sign_mode())?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(lock)),
        Err(Errno::WOULDBLOCK) => {
            dir.unlink(file);
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Something else in its place, such as what earlier builds put there, tells nothing.
fn is_plain(file: &File) -> bool {
    file.metadata().is_ok_and(|file| file.file_type().is_file())
}

fn clear_away(dir: &Directory, file: &str) {
    dir.unlink(&socket_of(file));
    dir.unlink(file);
}

fn socket_of(file: &str) -> String {
    format!("{file}.hangup")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    /// A client that showed itself, and whose descriptors are all closed. Its file stays.
    fn left_behind(record: impl FnOnce(&OwnPresence)) -> (Presences, Inbox, tempfile::TempDir) {
        let place = tempfile::tempdir().unwrap();
        let presences = Presences::open(&Directory::open(place.path()).unwrap()).unwrap();
        let inbox = Inbox(7);
        let mut own = presences.show(inbox).unwrap();
        record(&own);
        // As in a child: the file is another's to clear away.
        own.process = 0;
        drop(own);
        (presences, inbox, place)
    }

    #[test]
    fn a_free_lock_is_a_death_unless_a_child_on_record_lives() {
        let is_dead = |record: fn(&OwnPresence)| {
            let (presences, inbox, _place) = left_behind(record);
            presences.is_dead(inbox)
        };
        assert!(is_dead(|_| {}));
        assert!(!is_dead(|own| own.record_child(process::id()).unwrap()));
        assert!(is_dead(|own| {
            own.record_child(process::id()).unwrap();
            own.forget_child().unwrap();
        }));
        assert!(is_dead(|own| drop(own.child_record().unwrap())), "nobody has signed");
    }

    #[test]
    fn of_a_free_lock_a_record_of_the_dead_or_of_another_namespace_says_nothing() {
        let me = process::id();
        let namespace = record::pid_namespace().unwrap();
        for text in [
            format!("{namespace} {me} 1 {me} 2\n"),
            format!("{} {me} 1 {me} 2\n", namespace + 1),
            "nonsense\n".to_owned(),
        ] {
            let write = |own: &OwnPresence| own.lock.write_all_at(text.as_bytes(), 0).unwrap();
            let (presences, inbox, _place) = left_behind(write);
            let is_dead = presences.is_dead(inbox);
            assert!(is_dead, "{text}");
        }
    }
}
