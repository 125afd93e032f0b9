//! Which clients are alive, as the kernel tells. A client keeps the reading end of its own pipe
//! open. A pipe without a reader refuses writers (`ENXIO`) and reports an error to those who poll
//! it.
//!
//! This needs no process ids, so it works between containers, and a child that inherits the reading end
//! keeps its parent's leases alive. Nothing is ever written into the pipe.

use std::{
    fs, io,
    io::{Read as _, Write as _},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    process,
    sync::Arc,
};

use rustix::{
    fs::{self as rfs, AtFlags, Mode, OFlags},
    io::Errno,
    process::{Pid, test_kill_process},
};
use seinpaal_proto::{
    Inbox,
    planted::{Bug, planted},
};

use super::{
    directory::Directory,
    record::{Draft, started_by},
    trouble,
};
use seinpaal_store::{ChildRecord, StoreError};

/// Longer than any record.
const MOST_RECORD: u64 = 256;

/// Where clients show that they live.
#[derive(Debug)]
pub(super) struct Presences {
    dir: Directory,
}

/// This client's own presence.
#[derive(Debug)]
pub(super) struct OwnPresence {
    dir: Directory,
    file: String,
    reader: OwnedFd,
    process: u32,
}

impl Presences {
    pub(super) fn open(dir: &Directory) -> Result<Self, StoreError> {
        Ok(Self { dir: dir.folder("presence")? })
    }

    /// Whether this client is gone for certain. If that cannot be told, it counts as alive. Call it
    /// only inside the gate: a client that is just opening the store has a pipe without a reader.
    pub(super) fn is_dead(&self, inbox: Inbox) -> bool {
        if planted(Bug::EmbeddedDeathUnseen) {
            return false;
        }
        match self.writer(inbox) {
            Err(Errno::NOENT | Errno::NXIO) => true,
            Err(_) => false,
            Ok(pipe) => self.are_processes_gone(inbox, &pipe),
        }
    }

    /// The writing end: polling it reports an error as soon as nobody reads any more.
    pub(super) fn writer(&self, inbox: Inbox) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        rfs::openat(self.dir.fd(), inbox.to_string(), flags, Mode::empty())
    }

    pub(super) fn clear_away(&self, inbox: Inbox) {
        let file = inbox.to_string();
        [record_of(&file), draft_of(&file), file].iter().for_each(|file| self.dir.unlink(file));
    }

    /// The clients that have a file here, dead or alive.
    pub(super) fn all(&self) -> impl Iterator<Item = Inbox> {
        self.dir.clients()
    }

    /// A record counts if the owner of the pipe, or root, wrote it.
    fn read_record(&self, inbox: Inbox, pipe: &OwnedFd) -> io::Result<String> {
        let file = record_of(&inbox.to_string());
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = rfs::openat(self.dir.fd(), file, flags, Mode::empty())?;
        let (owner, writer) = (rfs::fstat(pipe)?.st_uid, rfs::fstat(&fd)?.st_uid);
        if writer != owner && writer != 0 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        io::read_to_string(fs::File::from(fd).take(MOST_RECORD))
    }

    /// A grandchild that lives on in the background may have inherited the pipe. Where the two
    /// processes that matter are on record and can be seen from here, they decide.
    fn are_processes_gone(&self, inbox: Inbox, pipe: &OwnedFd) -> bool {
        let Ok(record) = self.read_record(inbox, pipe) else { return false };
        let mut words = record.split_whitespace();
        let Some(ours) = pid_namespace() else { return false };
        let same_namespace = words.next().is_some_and(|word| word.parse() == Ok(ours));
        let mut processes = 0;
        while let (Some(pid), Some(started)) = (words.next(), words.next()) {
            let (Ok(pid), Ok(started)) = (pid.parse(), started.parse()) else { return false };
            if !same_namespace || !is_process_gone(pid, started) {
                return false;
            }
            processes += 1;
        }
        processes == 2
    }
}

impl OwnPresence {
    /// Only inside the gate.
    pub(super) fn show(dir: &Directory, inbox: Inbox) -> Result<Self, StoreError> {
        let dir = dir.folder("presence")?;
        let file = inbox.to_string();
        let reader = make_pipe(&dir, &file).map_err(trouble::at(&dir.join(&file)))?;
        Ok(Self { dir, file, reader, process: process::id() })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    /// Puts on record which two processes matter: this one and a child that inherits the pipe.
    pub(super) fn record_child(&self, child: u32) -> Result<(), StoreError> {
        let file = record_of(&self.file);
        let path = self.dir.join(&file);
        let Some(record) = record(child) else { return Ok(()) };
        let draft = draft_of(&self.file);
        let written = self
            .write(&draft, &record)
            .and_then(|_| Ok(rfs::renameat(self.dir.fd(), &draft, self.dir.fd(), &file)?));
        written.map_err(trouble::at(&path))
    }

    /// The same record, but for the child, which signs by itself.
    pub(super) fn child_record(&self) -> Result<Option<ChildRecord>, StoreError> {
        let (draft, file) = (draft_of(&self.file), record_of(&self.file));
        let path = self.dir.join(&file);
        let Some(mine) = record_of_parent() else { return Ok(None) };
        let made = self.write(&draft, &mine).and_then(|text| {
            let dir = self.dir.fd().try_clone_to_owned()?;
            Draft::new(dir, text, &draft, &file, path.clone())
        });
        let draft = made.map_err(trouble::at(&path))?;
        Ok(Some(ChildRecord(Arc::new(draft))))
    }
}

impl OwnPresence {
    fn write(&self, file: &str, text: &str) -> io::Result<fs::File> {
        self.dir.unlink(file); // what an earlier attempt left
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let fd = rfs::openat(self.dir.fd(), file, flags, Mode::RUSR | Mode::WUSR)?;
        self.dir.rights().bestow(&fd, self.dir.rights().file_mode())?;
        let mut written = fs::File::from(fd);
        written.write_all(text.as_bytes())?;
        Ok(written)
    }

    /// From here on the pipe alone counts.
    pub(super) fn forget_child(&self) -> Result<(), StoreError> {
        let file = record_of(&self.file);
        match rfs::unlinkat(self.dir.fd(), &file, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(trouble::at(&self.dir.join(&file))(error)),
        }
    }
}

impl Drop for OwnPresence {
    fn drop(&mut self) {
        // A child has our memory after a fork, but it is its parent that lives or dies.
        if self.process != process::id() {
            return;
        }
        self.dir.unlink(&self.file);
        self.dir.unlink(&record_of(&self.file));
    }
}

fn make_pipe(dir: &Directory, file: &str) -> io::Result<OwnedFd> {
    rfs::mkfifoat(dir.fd(), file, Mode::RUSR | Mode::WUSR)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let opened = rfs::openat(dir.fd(), file, flags, Mode::empty()).map_err(io::Error::from);
    let ready = opened.and_then(|pipe| {
        dir.rights().bestow(&pipe, dir.rights().file_mode())?;
        Ok(pipe)
    });
    ready.inspect_err(|_| dir.unlink(file))
}

fn record_of(file: &str) -> String {
    format!("{file}.processes")
}

fn draft_of(file: &str) -> String {
    format!("{file}.draft")
}

/// `None` where the processes cannot be seen; then only the pipe counts.
fn record(child: u32) -> Option<String> {
    let its = started(child).ok()?;
    Some(format!("{}{child} {its}\n", record_of_parent()?))
}

/// What a record begins with.
fn record_of_parent() -> Option<String> {
    let me = process::id();
    let mine = started(me).ok()?;
    Some(format!("{} {me} {mine} ", pid_namespace()?))
}

/// `None` if `/proc` shows another namespace than ours: then its numbers mean nothing.
fn pid_namespace() -> Option<u64> {
    let me = fs::read_link("/proc/self").ok()?;
    if me.to_str()?.parse() != Ok(process::id()) {
        return None;
    }
    Some(fs::metadata("/proc/self/ns/pid").ok()?.ino())
}

/// A number may be in use again by another process, so the time of its start counts too. A process
/// that only waits to be reaped is gone.
fn is_process_gone(pid: u32, began: u64) -> bool {
    let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    if test_kill_process(id) == Err(Errno::SRCH) {
        return true;
    }
    started(pid).is_ok_and(|start| start != began)
}

/// When a process started, in ticks since boot; 0 once it is dead and not reaped.
fn started(pid: u32) -> io::Result<u64> {
    started_by(&fs::read(format!("/proc/{pid}/stat"))?)
}
