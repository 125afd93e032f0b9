//! The clients that are alive, as the kernel tells.
//!
//! A client keeps a file of its own locked, and a socket of its own listening, for as long as it
//! lives. The test of life is whether the file is locked. The notice is that the socket hangs up
//! (`hangup.rs`), which only says when to test.
//!
//! The lock is one of `flock`. It belongs to the open file and not to a process: it ends when the
//! last process ends that has inherited the descriptor, and closing another descriptor of the same
//! file does nothing to it. So this needs no process ids and works between containers, and if a
//! child inherits both descriptors, it keeps its parent's leases alive.
//!
//! A program may close the descriptors that it inherits (ssh, tcsh, closefrom(3)). So a free lock
//! is no proof of death while the file has a record of a child that lives (`record.rs`). Nothing
//! hangs up when that child ends. A waiter cannot connect to such a client, and therefore looks
//! again, at least once a second.

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
use seinpaal_proto::Inbox;

use super::{
    directory::Directory,
    hangup::{self, HangupListener},
    record::{self, RecordDraft},
    trouble,
};
use seinpaal_store::{ChildRecord, StoreError};

/// How often a file is made anew because another client looked at it before it was locked.
const MOST_TRIES: u32 = 100;

/// The folder in which clients show that they live.
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
    /// Opens the folder. Call it only inside the gate.
    pub(super) fn open(dir: &Directory) -> Result<Self, StoreError> {
        Ok(Self { dir: Arc::new(dir.folder("presence")?) })
    }

    /// Returns whether this client is gone. If that cannot be told, it counts as alive. The answer
    /// is certain only inside the gate: a client that is just opening the store has not locked its
    /// file yet. A caller that asks outside must ask again inside before it acts on the answer.
    pub(super) fn is_dead(&self, inbox: Inbox) -> bool {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = match rfs::openat(self.dir.fd(), inbox.to_string(), flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(error) => return error == Errno::NOENT,
        };
        // The lock is shared, so that two clients that look at the same time are not in each
        // other's way.
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => is_plain(&file) && !record::is_anybody_there(&file),
            Err(Errno::WOULDBLOCK) => record::are_processes_gone(&file),
            Err(_) => false,
        }
    }

    /// Connects to a client, by a connection that is hung up when this client may be gone.
    pub(super) fn watch(&self, inbox: Inbox) -> rustix::io::Result<OwnedFd> {
        hangup::watch(&self.dir, &socket_of(&inbox.to_string()))
    }

    pub(super) fn clear_away(&self, inbox: Inbox) {
        clear_away(&self.dir, &inbox.to_string());
    }

    /// Returns the clients that have a file here, dead or alive.
    pub(super) fn all(&self) -> impl Iterator<Item = Inbox> {
        self.dir.clients()
    }

    /// Shows that this client lives. Call it only inside the gate.
    pub(super) fn show(&self, inbox: Inbox) -> Result<OwnPresence, StoreError> {
        let (dir, file) = (Arc::clone(&self.dir), inbox.to_string());
        let shown = show(&dir, &file).inspect_err(|_| clear_away(&dir, &file));
        let (lock, listener) = shown.map_err(trouble::at(&dir.join(&file)))?;
        let (lock, listener) = (Arc::new(lock), Arc::new(listener));
        Ok(OwnPresence { dir, file, lock, listener, process: process::id() })
    }
}

impl OwnPresence {
    /// Returns the locked file and the listening socket.
    pub(super) fn fds(&self) -> [BorrowedFd<'_>; 2] {
        [self.lock.as_fd(), self.listener.as_fd()]
    }

    pub(super) fn listener(&self) -> Arc<HangupListener> {
        Arc::clone(&self.listener)
    }

    /// Records the two processes that count: this one and a child that inherits the descriptors.
    pub(super) fn record_child(&self, child: u32) -> Result<(), StoreError> {
        record::write(&self.lock, child).map_err(trouble::at(&self.dir.join(&self.file)))
    }

    /// Prepares a record of a child that the child signs by itself.
    pub(super) fn child_record(&self) -> Result<Option<ChildRecord>, StoreError> {
        let path = self.dir.join(&self.file);
        let draft = RecordDraft::begin(&self.lock, path.clone()).map_err(trouble::at(&path))?;
        Ok(draft.map(|draft| ChildRecord(Arc::new(draft))))
    }

    /// Removes the record, so that the descriptors alone count from here on.
    pub(super) fn forget_child(&self) -> Result<(), StoreError> {
        record::erase(&self.lock).map_err(trouble::at(&self.dir.join(&self.file)))
    }
}

impl Drop for OwnPresence {
    fn drop(&mut self) {
        // A child has our memory after a fork, but the presence is its parent's.
        if self.process == process::id() {
            clear_away(&self.dir, &self.file);
        }
    }
}

/// Opens the socket and then the locked file. A process that ends usually closes first what it
/// opened last, so the lock is gone by the time the socket hangs up.
fn show(dir: &Directory, file: &str) -> io::Result<(File, HangupListener)> {
    let listener = HangupListener::open(dir, &socket_of(file))?;
    for _ in 0..MOST_TRIES {
        if let Some(lock) = make_locked(dir, file)? {
            return Ok((lock, listener));
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Makes a new file and locks it. `None`: another client looked at the file in between, outside the
/// gate.
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

/// Returns whether this is a file. Something else in its place, such as earlier builds made, tells
/// nothing.
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

    /// Returns a client that showed itself and whose descriptors are all closed. Its file stays.
    fn left_behind(record: impl FnOnce(&OwnPresence)) -> (Presences, Inbox, tempfile::TempDir) {
        let place = tempfile::tempdir().unwrap();
        let presences = Presences::open(&Directory::open(place.path()).unwrap()).unwrap();
        let inbox = Inbox(7);
        let mut own = presences.show(inbox).unwrap();
        record(&own);
        // As in a child, the file is another process's to clear away.
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
