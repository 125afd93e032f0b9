//! Processes that have ended: those of CMD's group that nobody reaps, and those that are ours to
//! reap.

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

/// Returns whether all processes of a group have ended, and nobody has reaped them.
///
/// The kernel counts them as members until somebody reaps them, which the first process of many a
/// container never does. If no process of the group can be seen, nothing is known, and the answer
/// is no.
pub(super) fn has_only_the_dead(group: Pid) -> bool {
    let group = group.as_raw_pid().to_string();
    // Mostly the first process of the group still runs, and no other need be looked at.
    if is_dead_in(&group, Path::new("/proc").join(&group)) == Some(false) {
        return false;
    }
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    let mut ends = processes.flatten().filter_map(|process| is_dead_in(&group, process.path()));
    ends.next() == Some(true) && ends.all(|is_dead| is_dead)
}

/// The process that a group is named after.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum GroupLeader {
    /// Also where nothing can be seen of it.
    Lives,
    /// Its parent has not heard of its end yet.
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

/// Returns whether a process has ended, if it is there and of this group.
fn is_dead_in(group: &str, process: PathBuf) -> Option<bool> {
    is_dead(group, &fs::read_to_string(process.join("stat")).ok()?)
}

/// What the kernel writes of a process: whether it has ended, if it is of this group.
fn is_dead(group: &str, stat: &str) -> Option<bool> {
    // The name is in brackets, and may have anything in it.
    let facts: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let (state, its_group, threads) = (facts.first()?, facts.get(2)?, facts.get(17)?);
    // A process whose first thread has ended goes on with the others.
    let has_ended = matches!(*state, "Z" | "X") && matches!(*threads, "0" | "1");
    (*its_group == group).then_some(has_ended)
}

/// The children that somebody here waits for by their numbers.
static AWAITED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn awaited() -> MutexGuard<'static, BTreeSet<i32>> {
    AWAITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A child that somebody here waits for. It must be made on the main thread, on which the child was
/// started, so that `reap_strangers` cannot come in between.
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

/// Reaps what is left to us. The first process of a container becomes the parent of every process
/// there that loses its own, and what nobody reaps takes up a number for as long as the container
/// runs. Called on the main thread.
#[cfg(target_os = "linux")]
pub(super) fn reap_strangers() {
    use nix::sys::wait::{Id, WaitPidFlag, waitid, waitpid};

    if std::process::id() != 1 {
        return;
    }
    // To look does not reap: an awaited child is left to whoever waits for it.
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
