//! The controlling terminal. It is lent to CMD's group, so that ^C and ^Z reach CMD exactly once.
//!
//! If this program alone is a job of the shell, the terminal is lent at once. In a pipeline or a
//! script, other processes of our group need the terminal, too. There it is lent only when CMD
//! stops because it wants the terminal. Until then we pass on the signals that the terminal sends
//! to our group.

use std::{
    fs::{File, OpenOptions},
    io,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, RawFd},
        unix::fs::{FileTypeExt, OpenOptionsExt},
    },
};

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use rustix::{
    fs::OFlags,
    process::{Pid, getpgrp, getpid, test_kill_process_group},
    termios::{tcgetpgrp, tcsetpgrp},
};

use super::raw;

/// Our controlling terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    tty: File,
    home: Pid,
    lent: bool,
}

impl Terminal {
    /// Opens the controlling terminal, if there is one.
    pub(super) fn open() -> Option<Self> {
        let flags = OFlags::NOCTTY.bits() as i32;
        let tty =
            OpenOptions::new().read(true).write(true).custom_flags(flags).open("/dev/tty").ok()?;
        Some(Self { tty, home: getpgrp(), lent: false })
    }

    /// Lends the terminal to CMD from the start, if that is right, and returns its descriptor.
    pub(super) fn lend_at_start(&mut self) -> Option<RawFd> {
        let alone = self.home == getpid() && !is_in_pipeline();
        self.lent = alone && self.is_ours();
        self.lent.then(|| self.tty.as_raw_fd())
    }

    /// Returns whether our group is in the foreground.
    pub(super) fn is_ours(&self) -> bool {
        tcgetpgrp(&self.tty).is_ok_and(|group| group == self.home)
    }

    /// Lends the terminal to CMD's group, if our group has it.
    pub(super) fn lend(&mut self, group: Pid) -> bool {
        if !self.is_ours() {
            return false;
        }
        self.lent = bring_forward(self.tty.as_fd(), group).is_ok();
        self.lent
    }

    /// Takes the terminal back from CMD's group, unless another living group has it by now.
    pub(super) fn take_back(&mut self, group: Pid) {
        if !std::mem::take(&mut self.lent) {
            return;
        }
        // A group without processes does not have the terminal any more.
        let elsewhere = |holder| holder != group && test_kill_process_group(holder).is_ok();
        if !tcgetpgrp(&self.tty).is_ok_and(elsewhere) {
            let _ = bring_forward(self.tty.as_fd(), self.home);
        }
    }

    /// Returns whether we have lent the terminal to CMD's group.
    pub(super) fn is_lent(&self) -> bool {
        self.lent
    }
}

/// Brings the caller's own group to the foreground. For use in the child between fork and exec.
pub(super) fn come_forward(tty: RawFd) -> io::Result<()> {
    raw::borrowed(tty, |tty| bring_forward(tty, getpgrp()))
}

/// Brings a group to the foreground. TTOU is blocked, because it would stop a background group that
/// does this.
fn bring_forward(tty: BorrowedFd<'_>, group: Pid) -> io::Result<()> {
    with_blocked(Signal::SIGTTOU, || Ok(tcsetpgrp(tty, group)?))
}

/// Returns whether our stdin or stdout is a pipe, with another process at its other end.
fn is_in_pipeline() -> bool {
    let is_pipe = |path| std::fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo());
    is_pipe("/dev/fd/0") || is_pipe("/dev/fd/1")
}

/// Runs `act` with `signal` blocked in this thread.
fn with_blocked<T>(signal: Signal, act: impl FnOnce() -> T) -> T {
    let before = SigSet::from(signal).thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let result = act();
    if let Ok(before) = before {
        let _ = before.thread_set_mask();
    }
    result
}
