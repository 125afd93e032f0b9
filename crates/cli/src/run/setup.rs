//! The setup of CMD: the parts of its start, and its steps between fork and exec.

use std::{ffi::OsString, fs::File, io, os::fd::RawFd, path::Path};

use nix::sys::signal::{SigSet, SigmaskHow, pthread_sigmask};
use rustix::{
    io::{Errno, FdFlags, fcntl_setfd},
    process::{Pid, getpid, getppid},
};
use seinpaal::store::ChildRecord;

use super::{raw, signals};

/// The parts of CMD's start that it does not inherit from us unchanged.
#[derive(Debug)]
pub(super) struct CmdStart<'a> {
    pub(super) program: &'a Path,
    /// The name as the user wrote it, and its arguments.
    pub(super) command: &'a [OsString],
    pub(super) variables: Vec<(&'static str, String)>,
    /// The variables of our environment that CMD does not inherit, unless `variables` has them.
    pub(super) withheld: &'static [&'static str],
    /// Whether to hide the store's URL, with its password, from CMD.
    pub(super) hides_store: bool,
    /// The signals that were blocked when this program started.
    pub(super) mask: SigSet,
    /// The standard input of CMD. `None`: CMD inherits ours.
    pub(super) stdin: Option<File>,
    /// The terminal in whose foreground CMD starts.
    pub(super) terminal: Option<RawFd>,
    /// The descriptors that make CMD count as the holder.
    pub(super) presence: Option<[RawFd; 2]>,
    /// Whether the kernel kills CMD when we die.
    pub(super) dies_with_us: bool,
}

/// Returns the steps of CMD between fork and exec. CMD sets up its descriptors and signals, and
/// waits at the threshold.
pub(super) fn setup(
    start: &CmdStart<'_>,
    mut threshold: impl FnMut(Pid) -> io::Result<()> + Send + Sync + 'static,
) -> impl FnMut() -> io::Result<()> + Send + Sync + 'static {
    let (mask, terminal, presence) = (start.mask, start.terminal, start.presence);
    let (parent, dies_with_us) = (getpid(), start.dies_with_us);
    let handled: Vec<_> = signals::handled().collect();
    move || {
        // Signals are blocked before CMD has the terminal. Until the exec this process has our
        // handlers, which would swallow the signals of ^C and ^Z.
        pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), None)?;
        if let Some(terminal) = terminal {
            // CMD comes to the foreground before it can read from the terminal. A failure is no
            // reason not to run.
            let _ = super::terminal::come_forward(terminal);
        }
        for presence in presence.iter().flatten() {
            raw::borrowed(*presence, |fd| fcntl_setfd(fd, FdFlags::empty()))?;
        }
        if dies_with_us {
            die_with(parent)?;
        }
        // CMD waits here until the guard or the store's directory knows of it. If that fails, CMD
        // never begins.
        threshold(parent)?;
        raw::ignore_what_our_caller_does();
        // Signals that came while CMD waited now have their default effect, as in any program that
        // has just begun.
        handled.iter().for_each(|signal| raw::take_default(*signal));
        pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&mask), None)?;
        Ok(())
    }
}

/// Makes the kernel kill this process when its parent dies. This is the last resort, for the case
/// that the guard was killed, too. It uses KILL, because TERM can be ignored. TERM could also reach
/// CMD a second time, which many programs take for impatience.
fn die_with(parent: Pid) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // The parent may have died before this request reached the kernel.
    if getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH.into()) }
}

/// Signs the record as CMD, for use between fork and exec. Fails if `parent` is gone, so that CMD
/// does not begin.
pub(super) fn sign(record: Option<&ChildRecord>, parent: Pid) -> io::Result<()> {
    // Without a record, processes that CMD leaves in the background count as holders, too, which is
    // safe but slow.
    let _ = record.map(ChildRecord::sign);
    if getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH.into()) }
}
