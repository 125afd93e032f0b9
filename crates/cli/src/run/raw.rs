//! The only unsafe code of the command line, with its proofs.
#![allow(unsafe_code)]

use std::{
    io,
    os::{
        fd::{BorrowedFd, OwnedFd, RawFd},
        unix::process::CommandExt,
    },
    process::Command,
};

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, raise, sigaction};

/// Has `setup` run in the child between fork and exec.
///
/// `setup` may do system calls and nothing else: no allocation, no lock, no panic.
pub(super) fn before_exec<F>(command: &mut Command, setup: F)
where
    F: FnMut() -> io::Result<()> + Send + Sync + 'static,
{
    // SAFETY: the one caller (process::setup) passes a closure of plain system calls on values that
    // were computed before the fork, which are async-signal-safe; its errors are bare errno numbers.
    unsafe { command.pre_exec(setup) };
}

/// A copy of a descriptor that somebody passed to us by number; the copy is closed on exec.
pub(super) fn duplicate(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the borrow lasts for this one call, while nothing here closes descriptors: it is done
    // before the program starts a thread or opens anything. If `fd` is not open, the kernel says so.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    Ok(rustix::io::fcntl_dupfd_cloexec(fd, 3)?)
}

/// Marks a descriptor that somebody passed to us by number as closed on exec.
pub(super) fn close_on_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: as in `duplicate`.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    Ok(rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC)?)
}

/// Does something with a descriptor that is known to be open, by its number; for use between fork
/// and exec.
pub(super) fn borrowed<T>(fd: RawFd, act: impl FnOnce(BorrowedFd<'_>) -> T) -> T {
    // SAFETY: the parent held `fd` open when it forked, and nobody in the child has closed it since.
    act(unsafe { BorrowedFd::borrow_raw(fd) })
}

/// Whether the one who started us wants this signal ignored, as `nohup` does.
pub(super) fn is_ignored(signal: Signal) -> bool {
    let ignore = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    // SAFETY: neither action runs code of ours, and the first is undone at once. Called before any
    // thread is started, so nobody relies on the signal in between.
    unsafe {
        let Ok(before) = sigaction(signal, &ignore) else { return false };
        let _ = sigaction(signal, &before);
        matches!(before.handler(), SigHandler::SigIgn)
    }
}

/// Ignores a signal from now on.
pub(super) fn ignore(signal: Signal) {
    let ignore = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    // SAFETY: ignoring runs no code of ours.
    let _ = unsafe { sigaction(signal, &ignore) };
}

/// Stops this process as the signal does by default. Returns when it is continued, or at once if the
/// kernel would not stop it (its process group is orphaned).
pub(super) fn stop(signal: Signal) {
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: the default action runs no code of ours, and what was there before is put back.
    unsafe {
        let Ok(before) = sigaction(signal, &default) else { return };
        let _ = raise(signal);
        let _ = sigaction(signal, &before);
    }
}
