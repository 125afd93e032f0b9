//! The gate, which lets one client at a time into a call, in the order of the kernel's queue.
//!
//! SQLite alone would keep the state correct. But it sleeps and tries again when the database is
//! locked, so some processes starve. A process that is stopped inside the gate holds up all
//! clients. A client that waits for long names that process in its error.

use std::{
    fs,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rustix::{
    fs::{
        FlockOperation, Stat, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, flock, fstat, ftruncate,
        futimens, major, minor,
    },
    io::{Errno, pread, pwrite, retry_on_intr},
    time::{ClockId, clock_gettime},
};

use super::{directory::Directory, trouble};
use seinpaal_store::{Certainty, StoreError, StoreErrorKind, boottime};

/// The time after which a process inside the gate is taken to be stopped. A call takes
/// milliseconds.
const STOPPED_AFTER: Duration = Duration::from_secs(5);

/// The time after a client had to wait during which a client that does not want to wait does not
/// enter. It is in microseconds.
const MOMENT: i64 = 10_000;

/// The room for a note. Every note is shorter.
const MOST_NOTE: usize = 256;

#[derive(Debug)]
pub(super) struct Gate {
    fd: Arc<OwnedFd>,
    dir: PathBuf,
    wait: Arc<GateWait>,
}

/// How long a thread has been standing at the gate. Callers that wait for the thread read this.
#[derive(Debug)]
pub(super) struct GateWait {
    dir: PathBuf,
    /// The device and the file number of the gate, as `/proc/locks` has them.
    place: OnceLock<String>,
    /// The time since which the thread stands at the gate, in microseconds since boot; 0: it does
    /// not.
    since: AtomicU64,
}

/// The access of a client that is inside. The client leaves when this is dropped.
#[derive(Debug)]
pub(super) struct InsideGate<'a>(&'a Gate);

impl Gate {
    pub(super) fn open(
        dir: &Directory,
        unique: &str,
        wait: Arc<GateWait>,
    ) -> Result<Self, StoreError> {
        let fd = Arc::new(dir.file("gate", unique)?);
        let file = fstat(&fd).map_err(trouble::at(&dir.path))?;
        wait.place.get_or_init(|| place(&file));
        Ok(Self { fd, dir: dir.path.clone(), wait })
    }

    /// Returns the locked file. The lock belongs to the open file: a child that was forked while
    /// this process was inside has the gate locked, too, until it closes the file.
    pub(super) fn fd(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.fd)
    }

    /// Waits for the clients in front, and enters. A process that is stopped inside holds up all
    /// others until it goes on.
    pub(super) fn enter(&self) -> Result<InsideGate<'_>, StoreError> {
        self.lock().map_err(trouble::at(&self.dir))?;
        let inside = InsideGate(self);
        // This is checked inside, because the directory may have been deleted while this client
        // waited here.
        if fstat(&self.fd).is_ok_and(|gate| gate.st_nlink == 0) {
            return Err(self.deleted());
        }
        Ok(inside)
    }

    /// Enters if nobody is inside and no client had to wait a moment ago. While the kernel wakes a
    /// waiter it lets newcomers in, so a client that leaves and returns at once would be ahead of
    /// the waiter each time.
    pub(super) fn try_enter(&self) -> Option<InsideGate<'_>> {
        let how = FlockOperation::NonBlockingLockExclusive;
        retry_on_intr(|| flock(&self.fd, how)).ok()?;
        let inside = InsideGate(self);
        let gate = fstat(&self.fd).ok()?;
        (gate.st_nlink > 0 && !is_recent(&gate)).then_some(inside)
    }

    /// Locks the gate. A client that has to wait leaves a sign of that in the time of the file.
    fn lock(&self) -> rustix::io::Result<()> {
        let lock = |how| retry_on_intr(|| flock(&self.fd, how));
        // Most clients find nobody inside. They leave the time of the file alone, and need no
        // reading of a clock.
        match lock(FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => {}
            done => return done,
        }
        self.say_that_somebody_waits();
        // 0 would say that nobody stands here. Only this number is read, so no other memory has to
        // be in order with it.
        self.wait.since.store(boottime::now().max(1), Ordering::Relaxed);
        let done = lock(FlockOperation::LockExclusive);
        self.wait.since.store(0, Ordering::Relaxed);
        done
    }

    /// Sets the time of the file, by which clients see that somebody waits. It is only a hint: if
    /// the time cannot be set, waiters get in by luck.
    fn say_that_somebody_waits(&self) {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let left = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        let times = Timestamps { last_access: left, last_modification: now };
        if let Err(error) = futimens(&self.fd, &times) {
            tracing::trace!(target: crate::TARGET, %error, "the gate's time cannot be set");
        }
    }

    /// Makes the error for a gate whose file was deleted. Newcomers would make another gate, and
    /// could get permits that are held here.
    fn deleted(&self) -> StoreError {
        let message = format!(
            "{} was deleted while it was in use; start this program again",
            self.dir.display()
        );
        StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
    }
}

#[cfg(target_os = "linux")]
const OF_FILES: ClockId = ClockId::RealtimeCoarse;
#[cfg(not(target_os = "linux"))]
const OF_FILES: ClockId = ClockId::Realtime;

/// Returns whether a client has had to wait at this gate a moment ago, by the clock that dates
/// files.
fn is_recent(gate: &Stat) -> bool {
    let now = clock_gettime(OF_FILES);
    let micros = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000) + nanos / 1_000;
    let waited_at = micros(gate.st_mtime, gate.st_mtime_nsec as i64);
    let since = micros(now.tv_sec, now.tv_nsec) - waited_at;
    // A time that lies in the future is from before the clock was set back, and says nothing.
    (0..=MOMENT).contains(&since)
}

impl InsideGate<'_> {
    /// Returns whether this is the last note.
    pub(super) fn has_note(&self, note: &str) -> bool {
        let mut noted = [0; MOST_NOTE];
        let read = pread(&self.0.fd, &mut noted, 0);
        read.is_ok_and(|length| noted[..length] == *note.as_bytes())
    }

    /// Leaves a note for clients that come in later. A note that is only half written counts as
    /// none.
    pub(super) fn note(&self, note: &str) {
        // If the note cannot be written, clients do more work with the same result.
        let _ = ftruncate(&self.0.fd, 0).and_then(|()| pwrite(&self.0.fd, note.as_bytes(), 0));
    }
}

impl Drop for InsideGate<'_> {
    fn drop(&mut self) {
        // The gate is unlocked and not only closed: a process that was forked just now may have a
        // copy of the descriptor, and would keep the lock.
        let _ = retry_on_intr(|| flock(&self.0.fd, FlockOperation::Unlock));
    }
}

impl GateWait {
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), place: OnceLock::new(), since: AtomicU64::new(0) }
    }

    /// Returns an error if the thread has been standing at the gate for long.
    pub(super) fn trouble(&self, certainty: Certainty) -> Option<StoreError> {
        let since = self.since.load(Ordering::Relaxed);
        let waited = Duration::from_micros(boottime::now().saturating_sub(since));
        if since == 0 || waited < STOPPED_AFTER {
            return None;
        }
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        let holder = self.place.get().and_then(|place| holder(&locks, place));
        let who = holder.map_or_else(|| "a process that is not seen from here".to_owned(), called);
        let message = format!(
            "cannot use {}: {who} has kept its gate locked for {} s, which takes milliseconds; let that process \
             go on, or end it",
            self.dir.display(),
            waited.as_secs()
        );
        Some(StoreError::new(StoreErrorKind::Unreachable, certainty, message))
    }
}

fn place(file: &Stat) -> String {
    let device = file.st_dev;
    format!("{:02x}:{:02x}:{}", major(device), minor(device), file.st_ino)
}

/// Returns the process that has this file locked, from the text of `/proc/locks`. There, `->` marks
/// processes that wait.
fn holder(locks: &str, place: &str) -> Option<u32> {
    let words = locks.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut here = words.filter(|words| words.contains(&"FLOCK") && words.contains(&place));
    let holds = here.find(|words| words.get(1) != Some(&"->"))?;
    holds.get(4)?.parse().ok().filter(|pid| *pid > 0)
}

/// Describes a process as people know it.
fn called(pid: u32) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let name = stat.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')'));
    match name {
        Some((name, rest)) if rest.trim_start().starts_with(['T', 't']) => {
            format!("process {pid} ({name}, which is stopped)")
        }
        Some((name, _)) => format!("process {pid} ({name})"),
        None => format!("process {pid}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_lock_is_told_apart_from_its_waiters() {
        let locks = "1: POSIX  ADVISORY  READ 7 fe:00:9 1073741826 1073742335\n\
                     2: FLOCK  ADVISORY  WRITE 42 fe:00:9 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 43 fe:00:9 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 44 fe:00:99 0 EOF\n";
        assert_eq!(holder(locks, "fe:00:9"), Some(42));
        assert_eq!(holder(locks, "fe:00:8"), None);
    }
}
