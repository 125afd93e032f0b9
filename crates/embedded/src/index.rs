//! SQLite's index of its log, kept from one program to the next.
//!
//! SQLite finds pages in the log by an index, a file that all programs share. The first program
//! that opens the database while no other has it open throws the index away, reads the whole log
//! and makes the index anew, because after a power loss the index may say anything. For programs
//! that come and go, that is most of the work. As long as the machine runs and the disk stays
//! mounted, nothing changes the index in between. So a program that can tell that this is the case,
//! and that the index is of this log, keeps SQLite from throwing it away
//! (docs/decisions/embedded.md).
//!
//! SQLite takes a program for the first one if no other has a lock on a certain byte of the index.
//! The lock that is taken here belongs to an open file and not to a process, so SQLite takes it for
//! another program's. Everything else happens as if another program had the database open: SQLite
//! checks the index, and makes it anew if it is not whole.
#![allow(unsafe_code)]

use std::{fs::File, io, mem::ManuallyDrop, os::unix::fs::FileExt};

use rustix::fs::{self as rfs, FileType, Mode, OFlags};

use super::{database, directory::Directory};

/// The length of the log's header.
const LOG_HEAD: usize = 32;
/// The length of the header before each page in the log.
const FRAME_HEAD: usize = 24;

/// Returns a mark of this boot, this mount of the disk, and these files. `None` if a file is
/// missing, or if the kernel cannot tell one mount from a later one (Linux before 6.8).
pub(super) fn mark(dir: &Directory, boot: &str) -> Option<String> {
    let number = |name| Some(dir.look(name, FileType::RegularFile).ok()??.st_ino);
    let ([log, index], mount) = (database::BESIDE, mount(dir)?);
    let (database, log, index) = (number(database::FILE)?, number(log)?, number(index)?);
    Some(format!("{boot} {mount} {database} {log} {index}\n"))
}

/// Returns the number of the mount, which no other mount has had since the machine started.
#[cfg(target_os = "linux")]
fn mount(dir: &Directory) -> Option<u64> {
    use rustix::fs::{AtFlags, StatxFlags, statx};

    let unique = StatxFlags::from_bits_retain(0x4000); // STATX_MNT_ID_UNIQUE
    let told = statx(dir.fd(), "", AtFlags::EMPTY_PATH, unique).ok()?;
    (told.stx_mask & unique.bits() != 0).then_some(told.stx_mnt_id)
}

#[cfg(not(target_os = "linux"))]
fn mount(_dir: &Directory) -> Option<u64> {
    None
}

/// Makes SQLite leave the index as it is, until this process ends. Call it only inside the gate,
/// for an index with the right [mark], and before SQLite opens the database. `false`: the index is
/// not of this log, and SQLite will make it anew.
pub(super) fn keep(dir: &Directory) -> bool {
    let open = |name| {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        rfs::openat(dir.fd(), name, flags, Mode::empty()).map(File::from)
    };
    let [log, index] = database::BESIDE;
    // This descriptor is never closed. A process that closes any descriptor of the index drops the
    // locks that SQLite has there for the process. SQLite has no locks on the log.
    let Ok(index) = open(index).map(ManuallyDrop::new) else { return false };
    let Ok(log) = open(log) else { return false };
    matches!(LogEnd::read(&index), Ok(Some(end)) if end.is_of(&log).unwrap_or(false))
        && lock(&index).is_ok()
}

/// The end of the log, as the index says.
#[derive(Debug, Eq, PartialEq)]
struct LogEnd {
    pages: u32,
    page_size: u64,
    /// The salt of the log, which is drawn anew each time that the log begins anew.
    salt: [u8; 8],
    /// The checksum of everything in the log.
    checksum: [u8; 8],
}

impl LogEnd {
    /// Reads the end of the log from the index. `None`: the log is empty, or the index is being
    /// written, or the file is no index.
    fn read(index: &File) -> io::Result<Option<Self>> {
        let mut twice = [0; 96];
        index.read_exact_at(&mut twice, 0)?;
        let (head, again) = twice.split_at(48);
        let size = u16::from_ne_bytes(bytes(head, 14));
        let end = Self {
            pages: u32::from_ne_bytes(bytes(head, 16)),
            page_size: if size == 1 { 65536 } else { u64::from(size) }, // the largest does not fit
            salt: bytes(head, 32),
            checksum: turned(bytes(head, 24)),
        };
        let is_whole = head == again && head[12] == 1;
        Ok((is_whole && end.pages > 0).then_some(end))
    }

    /// Returns whether a log ends exactly here.
    fn is_of(&self, log: &File) -> io::Result<bool> {
        let (mut head, mut last) = ([0; LOG_HEAD], [0; FRAME_HEAD]);
        log.read_exact_at(&mut head, 0)?;
        let before_last = u64::from(self.pages - 1) * (FRAME_HEAD as u64 + self.page_size);
        log.read_exact_at(&mut last, LOG_HEAD as u64 + before_last)?;
        let is_salt = bytes(&head, 16) == self.salt && bytes(&last, 8) == self.salt;
        Ok(is_salt && bytes(&last, 16) == self.checksum)
    }
}

fn bytes<const N: usize>(of: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|offset| of[at + offset])
}

/// Turns two numbers from the byte order of this machine, which the index has, into that of the
/// log.
fn turned(numbers: [u8; 8]) -> [u8; 8] {
    let number = |at| u32::from_ne_bytes(bytes(&numbers, at)).to_be_bytes();
    bytes(&[number(0), number(4)].concat(), 0)
}

/// Locks the byte that SQLite calls the dead man's switch. The lock is shared with all others who
/// do so.
#[cfg(target_os = "linux")]
fn lock(index: &File) -> io::Result<()> {
    use std::{mem, os::fd::AsRawFd};

    // SAFETY: all zeros are a valid `flock`, which describes no lock.
    let mut lock: libc::flock = unsafe { mem::zeroed() };
    lock.l_type = libc::F_RDLCK as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    (lock.l_start, lock.l_len) = (128, 1);
    // SAFETY: the descriptor is open, and for this command the kernel reads one `flock` at the
    // address in the last argument.
    let done = unsafe { libc::fcntl(index.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) };
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(not(target_os = "linux"))]
fn lock(_index: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;
    use std::fs;

    #[test]
    fn an_index_is_of_the_log_whose_end_it_names_and_of_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = |end| dir.path().join(format!("it{end}"));
        let db = Connection::open(path("")).unwrap();
        db.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (n); INSERT INTO t VALUES (1)")
            .unwrap();
        let end = LogEnd::read(&File::open(path("-shm")).unwrap()).unwrap().unwrap();
        let log = fs::read(path("-wal")).unwrap();
        assert_eq!(log.len() as u64, 32 + u64::from(end.pages) * (24 + end.page_size));
        let is_of = |bytes: &[u8]| {
            fs::write(path(".log"), bytes).unwrap();
            end.is_of(&File::open(path(".log")).unwrap())
        };
        assert!(is_of(&log).unwrap());
        let before_last = log.len() - 24 - end.page_size as usize;
        for changed in [16, before_last + 8, before_last + 16, before_last + 23] {
            let mut other = log.clone();
            other[changed] ^= 1;
            assert!(!is_of(&other).unwrap(), "{changed}");
        }
        assert!(is_of(&log[..before_last]).is_err());
        fs::write(path(".none"), [0; 96]).unwrap();
        assert_eq!(LogEnd::read(&File::open(path(".none")).unwrap()).unwrap(), None);
    }
}
