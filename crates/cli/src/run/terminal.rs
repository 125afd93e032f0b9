//! The controlling terminal, lent to CMD's group so that ^C and ^Z reach it once.
//!
//! Lent at once if we are a shell's job all by ourselves. In a pipeline or a script, others of our
//! group need the terminal, too: there it is lent only when CMD stops for want of it, and until
//! then what the terminal sends to our group is passed on.

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
    /// The controlling terminal, if there is one.
    pub(super) fn open() -> Option<Self> {
        let flags = OFlags::NOCTTY.bits() as i32;
        let tty =
            OpenOptions::new().read(true).write(true).custom_flags(flags).open("/dev/tty").ok()?;
        Some(Self { tty, home: getpgrp(), lent: false })
    }

    /// The terminal to start CMD in the foreground of, if that is where it belongs from the start.
    pub(super) fn lend_at_start(&mut self) -> Option<RawFd> {
        let alone = self.home == getpid() && !is_in_pipeline();
        self.lent = alone && self.is_ours();
        self.lent.then(|| self.tty.as_raw_fd())
    }

    /// Returns whether our group is in the foreground.
    pub(super) fn is_ours(&self) -> bool {
        tcgetpgrp(&self.tty).is_ok_and(|group| group == self.home)
    }

    /// Gives it to CMD's group, if it is ours to give.
    pub(super) fn lend(&mut self, group: Pid) -> bool {
        if !self.is_ours() {
            return false;
        }
        self.lent = bring_forward(self.tty.as_fd(), group).is_ok();
        self.lent
    }

    /// Takes it back from CMD's group, unless somebody else has it by now.
    pub(super) fn take_back(&mut self, group: Pid) {
        if !std::mem::take(&mut self.lent) {
            return;
        }
        // A group of which no process is left does not have the terminal any more.
        let elsewhere = |holder| holder != group && test_kill_process_group(holder).is_ok();
        if !tcgetpgrp(&self.tty).is_ok_and(elsewhere) {
            let _ = bring_forward(self.tty.as_fd(), self.home);
        }
    }

    /// Returns whether CMD's group has it from us.
    pub(super) fn is_lent(&self) -> bool {
        self.lent
    }
}

/// Called in the child between fork and exec: its own group comes to the foreground.
pub(super) fn come_forward(tty: RawFd) -> io::Result<()> {
    raw::borrowed(tty, |tty| bring_forward(tty, getpgrp()))
}

/// A background group that changes the foreground is stopped by TTOU, unless it blocks that.
fn bring_forward(tty: BorrowedFd<'_>, group: Pid) -> io::Result<()> {
    with_blocked(Signal::SIGTTOU, || Ok(tcsetpgrp(tty, group)?))
}

/// Returns whether somebody else is at the other end of our stdin or stdout.
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
