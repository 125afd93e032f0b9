//! What CMD is started with, and what it does between fork and exec.

use std::{ffi::OsString, fs::File, io, os::fd::RawFd, path::Path};

use nix::sys::signal::{SigSet, SigmaskHow, pthread_sigmask};
use rustix::{
    io::{Errno, FdFlags, fcntl_setfd},
    process::{Pid, getpid, getppid},
};
use seinpaal::store::ChildRecord;

use super::{raw, signals};

/// What CMD is started with, beyond what it inherits from us unchanged.
#[derive(Debug)]
pub(super) struct CmdStart<'a> {
    pub(super) program: &'a Path,
    /// The name as the user wrote it, and its arguments.
    pub(super) command: &'a [OsString],
    pub(super) variables: Vec<(&'static str, String)>,
    /// What CMD does not inherit of our environment, unless it is among those.
    pub(super) withheld: &'static [&'static str],
    /// CMD is not to know where the store is, and with which password.
    pub(super) hides_store: bool,
    /// The signals that were blocked when we were started.
    pub(super) mask: SigSet,
    /// The standard input of CMD. `None` is ours.
    pub(super) stdin: Option<File>,
    /// The terminal to come to the foreground of.
    pub(super) terminal: Option<RawFd>,
    /// The descriptors that make CMD count as the holder.
    pub(super) presence: Option<[RawFd; 2]>,
    /// Whether the kernel is to kill CMD when we die.
    pub(super) dies_with_us: bool,
}

/// Has CMD wait at the threshold, and set up what it inherits; for use between fork and exec.
pub(super) fn setup(
    start: &CmdStart<'_>,
    mut threshold: impl FnMut(Pid) -> io::Result<()> + Send + Sync + 'static,
) -> impl FnMut() -> io::Result<()> + Send + Sync + 'static {
    let (mask, terminal, presence) = (start.mask, start.terminal, start.presence);
    let (parent, dies_with_us) = (getpid(), start.dies_with_us);
    let handled: Vec<_> = signals::handled().collect();
    move || {
        // Before CMD has the terminal: our handlers, which this process has until it is CMD, would
        // swallow what is typed there.
        pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), None)?;
        if let Some(terminal) = terminal {
            // Before CMD can read from it. A failure is no reason not to run.
            let _ = super::terminal::come_forward(terminal);
        }
        for presence in presence.iter().flatten() {
            raw::borrowed(*presence, |fd| fcntl_setfd(fd, FdFlags::empty()))?;
        }
        if dies_with_us {
            die_with(parent)?;
        }
        // CMD waits here until somebody else knows of it. If that fails, CMD never begins.
        threshold(parent)?;
        raw::ignore_what_our_caller_does();
        // What came while CMD waited does to CMD what it does to any program that has just begun.
        handled.iter().for_each(|signal| raw::take_default(*signal));
        pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&mask), None)?;
        Ok(())
    }
}

/// KILL, not TERM: this is the last line, for when the guard was killed, too. TERM can be ignored,
/// and would reach CMD twice, which many programs take for impatience.
fn die_with(parent: Pid) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // The parent may have died before the kernel knew that we care.
    if getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH.into()) }
}

/// Puts CMD on record from within, for use between fork and exec. An error if `parent` is gone, so
/// that CMD does not begin.
pub(super) fn sign(record: Option<&ChildRecord>, parent: Pid) -> io::Result<()> {
    // Without a record what CMD leaves in the background counts as well: safe, if slow.
    let _ = record.map(ChildRecord::sign);
    if getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH.into()) }
}
