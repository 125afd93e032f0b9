//! The sign of a `run`: a file in memory that the runs inside its CMD open through the descriptors
//! of its process.
//!
//! The sign says until when the inner runs may go on. Each inner run has a shared lock on the file
//! for as long as it goes on under our permit, so that we know when the last one has ended. A sign
//! that was taken down admits no more runs.

use std::{
    fs::File,
    io,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd, RawFd},
        unix::fs::FileExt,
    },
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open, readlink};

use super::guard::{GuardTimes, duration, nanos, now};

const NAME: &str = "seinpaal-run";
/// The kernel's name for the file of a sign.
const LINK: &str = "/memfd:seinpaal-run (deleted)";
const STATE_BYTES: usize = 8 * 4;
/// The state of a sign that admits no more inner runs.
const DOWN: u64 = 0;
const UP: u64 = 0x5e1e_9aa1;

/// The sign that this run puts up for the runs inside its CMD.
#[derive(Debug)]
pub(super) struct Sign {
    file: File,
    times: GuardTimes,
    is_ending: bool,
}

impl Sign {
    /// Makes a sign that sets no end to inner runs.
    pub(super) fn put_up() -> io::Result<Self> {
        let sign = Self { file: in_memory()?, times: GuardTimes::NEVER, is_ending: false };
        sign.write(UP)?;
        Ok(sign)
    }

    pub(super) fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Shows when the guard would end CMD if it heard no more from us.
    pub(super) fn show(&mut self, times: GuardTimes) {
        if !self.is_ending {
            self.times = times;
            // This cannot fail, because the same memory was written before.
            let _ = self.write(UP);
        }
    }

    /// Shows that CMD is being ended, and when it is killed.
    pub(super) fn show_end(&mut self, grace: Duration) {
        let term = now();
        let kill = term.saturating_add(grace).min(self.times.kill);
        self.times = GuardTimes { term, kill, end: self.times.end };
        self.is_ending = true;
        let _ = self.write(UP);
    }

    /// Takes the sign down, unless an inner run still goes on under our permit. Returns whether it
    /// is down.
    pub(super) fn take_down(&self) -> bool {
        flock(&self.file, FlockOperation::NonBlockingLockExclusive).is_ok()
            && self.write(DOWN).is_ok()
    }

    /// Writes the state and the times twice, so that a reader notices if a write comes in between.
    fn write(&self, state: u64) -> io::Result<()> {
        let GuardTimes { term, kill, end } = self.times;
        let words = [state, nanos(term), nanos(kill), nanos(end)];
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        self.file.write_all_at(&[bytes.as_slice(), &bytes].concat(), 0)
    }
}

#[cfg(target_os = "linux")]
fn in_memory() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};

    // Some machines allow only files in memory that cannot be executed. Older kernels do not know
    // that flag.
    let plain = MemfdFlags::CLOEXEC;
    let file = memfd_create(NAME, plain | MemfdFlags::NOEXEC_SEAL)
        .or_else(|_| memfd_create(NAME, plain))?;
    Ok(File::from(file))
}

/// Makes a file without a name. On this system inner runs cannot find it through our process, so
/// none comes in.
#[cfg(not(target_os = "linux"))]
fn in_memory() -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("{NAME}.{}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

/// An ancestor's sign, seen from inside its CMD. While a sight, or a descriptor that it has lent,
/// is kept, the ancestor does not give back its permit.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    file: Arc<File>,
    last: GuardTimes,
}

impl Sight {
    /// Opens the sign of a process. `None`: there is no sign, or it admits nobody.
    pub(super) fn open(pid: u32, fd: RawFd) -> Option<Self> {
        let path = PathBuf::from(format!("/proc/{pid}/fd/{fd}"));
        // By now the number may belong to another file.
        if readlink(&path, Vec::new()).ok()?.as_bytes() != LINK.as_bytes() {
            return None;
        }
        let file = open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        // The sign is locked before it is read, so that it cannot be taken down in between.
        flock(&file, FlockOperation::NonBlockingLockShared).ok()?;
        let mut sight = Self { file: Arc::new(File::from(file)), last: GuardTimes::NEVER };
        let (state, times) = sight.read()?;
        sight.last = times;
        // A run that its sign would end at once is not admitted.
        (state == UP && now() < times.term.min(times.end)).then_some(sight)
    }

    /// Returns the times that the sign shows now.
    pub(super) fn times(&mut self) -> GuardTimes {
        if let Some((_, times)) = self.read() {
            self.last = times;
        }
        self.last
    }

    /// Reads the sign. `None`: it is being written at this moment.
    fn read(&self) -> Option<(u64, GuardTimes)> {
        let mut bytes = [0; STATE_BYTES * 2];
        self.file.read_exact_at(&mut bytes, 0).ok()?;
        let (one, other) = bytes.split_at(STATE_BYTES);
        let word = |at: usize| Some(u64::from_le_bytes(one[at * 8..][..8].try_into().ok()?));
        let times = GuardTimes {
            term: duration(word(1)?),
            kill: duration(word(2)?),
            end: duration(word(3)?),
        };
        (one == other).then_some((word(0)?, times))
    }

    /// Returns a copy of the descriptor, which keeps the lock.
    pub(super) fn bond(&self) -> io::Result<OwnedFd> {
        self.file.as_fd().try_clone_to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sight(sign: &Sign) -> Option<Sight> {
        Sight::open(std::process::id(), sign.fd())
    }

    #[test]
    fn a_sign_is_not_taken_down_while_somebody_sees_it() {
        let sign = Sign::put_up().unwrap();
        let seen = sight(&sign).unwrap();
        let lent = seen.bond().unwrap();
        assert!(!sign.take_down());
        drop(seen);
        assert!(!sign.take_down());
        drop(lent);
        assert!(sign.take_down());
        assert!(sight(&sign).is_none());
    }

    #[test]
    fn a_sign_says_until_when_to_go_on() {
        let mut sign = Sign::put_up().unwrap();
        let mut seen = sight(&sign).unwrap();
        assert_eq!(seen.times(), GuardTimes::NEVER);
        let at = |seconds| now() + Duration::from_secs(seconds);
        let times = GuardTimes { term: at(10), kill: at(20), end: at(30) };
        sign.show(times);
        assert_eq!(seen.times(), times);
        sign.show_end(Duration::from_secs(5));
        assert!(seen.times().term <= now() && seen.times().kill < at(6));
        sign.show(times);
        assert!(seen.times().term <= now(), "an end that has begun goes on");
        assert!(sight(&sign).is_none(), "no run comes in that would be ended at once");
    }
}
