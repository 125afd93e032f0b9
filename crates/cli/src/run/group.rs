//! Processes that have ended: those of CMD's group that nobody reaps, and those that this process
//! has to reap.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustix::{
    io::Errno,
    process::{Pid, test_kill_process},
};

/// Returns whether all processes of a group have ended and still wait to be reaped.
///
/// The kernel counts an ended process as a member until its parent reaps it. The first process of
/// many containers never reaps. If no process of the group can be seen, the answer is no, because
/// nothing is known.
pub(super) fn has_only_the_dead(group: Pid) -> bool {
    let group = group.as_raw_pid().to_string();
    // In most cases the first process of the group still runs, and then no other process need be
    // looked at.
    if is_dead_in(&group, Path::new("/proc").join(&group)) == Some(false) {
        return false;
    }
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    let mut ends = processes.flatten().filter_map(|process| is_dead_in(&group, process.path()));
    ends.next() == Some(true) && ends.all(|is_dead| is_dead)
}

/// The state of the process that a group is named after.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum GroupLeader {
    /// The process lives, or its state cannot be seen.
    Lives,
    /// The process has ended, and its parent has not reaped it yet.
    Ended,
    Reaped,
}

impl GroupLeader {
    pub(super) fn look(group: Pid) -> Self {
        if test_kill_process(group) == Err(Errno::SRCH) {
            return Self::Reaped;
        }
        let number = group.as_raw_pid().to_string();
        match is_dead_in(&number, Path::new("/proc").join(&number)) {
            Some(true) => Self::Ended,
            _ => Self::Lives,
        }
    }
}

/// Returns whether a process has ended. `None`: there is no such process in this group.
fn is_dead_in(group: &str, process: PathBuf) -> Option<bool> {
    is_dead(group, &fs::read_to_string(process.join("stat")).ok()?)
}

/// Reads the kernel's `stat` line of a process. Returns whether the process has ended, or `None` if
/// it is in another group.
fn is_dead(group: &str, stat: &str) -> Option<bool> {
    // The program's name is in brackets, and may contain brackets and spaces.
    let facts: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let (state, its_group, threads) = (facts.first()?, facts.get(2)?, facts.get(17)?);
    // A process whose first thread has ended still runs if it has other threads.
    let has_ended = matches!(*state, "Z" | "X") && matches!(*threads, "0" | "1");
    (*its_group == group).then_some(has_ended)
}

/// The children that code of this program waits for by their numbers.
static AWAITED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn awaited() -> MutexGuard<'static, BTreeSet<i32>> {
    AWAITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A child that code of this program waits for. Make this value on the main thread, on which the
/// child was started, so that `reap_strangers` cannot run in between.
#[derive(Debug)]
pub(super) struct AwaitedChild(i32);

impl AwaitedChild {
    pub(super) fn new(pid: i32) -> Self {
        awaited().insert(pid);
        Self(pid)
    }
}

impl Drop for AwaitedChild {
    fn drop(&mut self) {
        awaited().remove(&self.0);
    }
}

/// Reaps processes that nobody else reaps. The first process of a container becomes the parent of
/// every process whose parent has ended. An ended process that is not reaped keeps its number for
/// as long as the container runs. Called on the main thread.
#[cfg(target_os = "linux")]
pub(super) fn reap_strangers() {
    use nix::sys::wait::{Id, WaitPidFlag, waitid, waitpid};

    if std::process::id() != 1 {
        return;
    }
    // This look does not reap, so an awaited child stays for the code that waits for it.
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    while let Ok(ended) = waitid(Id::All, look)
        && let Some(pid) = ended.pid()
        && !awaited().contains(&pid.as_raw())
    {
        let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn reap_strangers() {}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = "7 100 100 0 -1 4194560 0 0 0 0 0 0 0 0 20 0";

    #[test]
    fn only_a_process_of_the_group_without_other_threads_has_ended() {
        for (name, state, threads, group, expected) in [
            ("(sh)", "S", "1", "100", Some(false)),
            ("(sh)", "Z", "1", "100", Some(true)),
            ("(sh)", "Z", "3", "100", Some(false)),
            ("(a) Z 7 (b)", "S", "1", "100", Some(false)),
            ("(sh)", "Z", "1", "10", None),
        ] {
            let stat = format!("42 {name} {state} {REST} {threads} 0 12345");
            assert_eq!(is_dead(group, &stat), expected, "{stat}");
        }
        assert_eq!(is_dead("100", ""), None);
    }
}
