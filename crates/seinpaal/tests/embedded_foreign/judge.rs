//! Watches the limit by locks of its own.

use std::{
    fs::{self, File, OpenOptions},
    path::Path,
    thread,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::{FlockOperation, flock},
    io::Errno,
    process::{Pid, PidfdFlags, pidfd_open},
};

use super::siege::LIMIT;

/// A holder of a slot locks the file of that slot.
pub(super) struct Judge {
    slots: Vec<File>,
}

impl Judge {
    pub(super) fn open(place: &Path) -> Self {
        let file = |slot| {
            let path = place.join(format!("slot-{slot}"));
            OpenOptions::new().create(true).append(true).open(path).unwrap()
        };
        Self { slots: (0..LIMIT).map(file).collect() }
    }

    pub(super) fn enter(&self, slot: u32) {
        let file = &self.slots[slot as usize];
        // A killed process runs no more code, but the kernel still closes its files, in an order of
        // its own. So its presence may go before this lock.
        while let Err(error) = flock(file, FlockOperation::NonBlockingLockExclusive) {
            assert_eq!(error, Errno::WOULDBLOCK);
            match holder(file) {
                Some(pid) if is_dying(pid) => await_end(pid),
                Some(_) => return println!("> violation: slot {slot} has two holders"),
                None => thread::yield_now(),
            }
        }
    }

    pub(super) fn leave(&self, slot: u32) {
        flock(&self.slots[slot as usize], FlockOperation::Unlock).unwrap();
    }
}

/// Returns the process that has locked the file, or `None` if no process has it locked any more.
fn holder(file: &File) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let inode = file.metadata().unwrap().ino().to_string();
    let locks = fs::read_to_string("/proc/locks").unwrap();
    let words = locks.lines().map(|lock| lock.split_whitespace().collect::<Vec<_>>());
    let is_held = |words: &Vec<&str>| {
        let is_it = words.iter().any(|word| word.split(':').nth(2) == Some(&inode));
        is_it && words.get(1) == Some(&"FLOCK")
    };
    words.into_iter().find(is_held)?.get(4)?.parse().ok()
}

/// Returns whether the kernel is taking a process apart, or has done so.
fn is_dying(pid: u32) -> bool {
    // PF_EXITING in the flags, the seventh field after the name (proc_pid_stat(5)).
    const EXITING: u32 = 4;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((_, fields)) = stat.rsplit_once(") ") else { return true };
    let flags = fields.split(' ').nth(6).and_then(|flags| flags.parse::<u32>().ok());
    flags.is_none_or(|flags| flags & EXITING != 0)
}

/// Waits until the kernel reports that the process has ended. The kernel closes the files of a
/// process before that.
fn await_end(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("the number of a process");
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => {
            poll(&mut [PollFd::new(&process, PollFlags::IN)], None).expect("it ends");
        }
        Err(gone) => assert_eq!(gone, Errno::SRCH),
    }
}
