//! The only unsafe code of the command line, with its proofs.
#![allow(unsafe_code)]

#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
mod begin;
#[cfg(target_os = "linux")]
pub(crate) mod start;

use std::{
    io,
    mem::MaybeUninit,
    os::{
        fd::{BorrowedFd, OwnedFd, RawFd},
        unix::process::CommandExt,
    },
    process::Command,
    sync::atomic::{AtomicU8, AtomicU64, Ordering},
};

use nix::{
    libc,
    sys::signal::{SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal, raise, sigaction},
};

/// Bit n is set if descriptor n, one of the first three, was closed when this program started.
static CLOSED_AT_START: AtomicU8 = AtomicU8::new(0);

/// Returns whether our caller gave us this descriptor (0 to 2) closed, as `>&-` does. Rust's start
/// code or `begin` has opened it on /dev/null since then, so a write would seem to succeed.
pub(crate) fn was_closed_at_start(fd: RawFd) -> bool {
    (0..3).contains(&fd) && CLOSED_AT_START.load(Ordering::Relaxed) & (1 << fd) != 0
}

/// Bit n is set if signal n, one of [`OURS`], was ignored when this program started.
static IGNORED_AT_START: AtomicU64 = AtomicU64::new(0);

/// The signals that Rust, tokio or this program takes over even if our caller ignores them.
const OURS: [Signal; 4] = [Signal::SIGPIPE, Signal::SIGXFSZ, Signal::SIGCHLD, Signal::SIGCONT];

/// Makes CMD ignore those of [`OURS`] that our caller ignores, and no others. CMD inherits the
/// state of all other signals anyway. For use between fork and exec.
pub(crate) fn ignore_what_our_caller_does() {
    let ignored = IGNORED_AT_START.load(Ordering::Relaxed);
    for signal in OURS {
        let is_ignored = ignored & 1 << signal as u32 != 0;
        let action = if is_ignored { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: neither action runs code of ours, and a child between fork and exec may make this
        // call.
        unsafe { libc::signal(signal as libc::c_int, action) };
    }
}

extern "C" fn before_main() {
    note_what_is_closed();
    note_what_is_ignored();
    // Without this, a file that may not grow would kill the program. With it, the write fails, and
    // the program can report that.
    ignore(Signal::SIGXFSZ);
    keep_one_heap();
}

/// Limits the C library to one heap. Otherwise each thread gets its own, which grows by a page and
/// a system call at a time. Our threads take turns, and a short `run` would set up three heaps.
fn keep_one_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: this sets a parameter of the C library before any other code has allocated.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

fn note_what_is_ignored() {
    for signal in OURS.into_iter().filter(|signal| is_ignored(*signal)) {
        IGNORED_AT_START.fetch_or(1 << signal as u32, Ordering::Relaxed);
    }
}

fn note_what_is_closed() {
    for fd in 0..3 {
        // SAFETY: this asks the kernel about a number and changes nothing, even if the number is no
        // open descriptor.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } == -1 {
            CLOSED_AT_START.fetch_or(1 << fd, Ordering::Relaxed);
        }
    }
}

// SAFETY: the C library calls every function whose address stands in this section once, before
// `main`, on the only thread. This function needs nothing of Rust's runtime, which has not started
// yet: it neither allocates nor panics. It takes no arguments, so it does not matter which ones the
// C library passes.
#[used]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static BEFORE_MAIN: extern "C" fn() = before_main;

/// Makes `setup` run in the child between fork and exec.
///
/// `setup` may do system calls and nothing else: no allocation, no lock, no panic.
pub(crate) fn before_exec<F>(command: &mut Command, setup: F)
where
    F: FnMut() -> io::Result<()> + Send + Sync + 'static,
{
    // SAFETY: the callers (`spawn` and `become_cmd` of run/process.rs) pass closures of plain
    // system calls on values that were computed before the fork. These calls are
    // async-signal-safe, and their errors are bare errno numbers.
    unsafe { command.pre_exec(setup) };
}

/// Copies a descriptor that another process passed to us by its number. The copy is closed on exec.
pub(crate) fn duplicate(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the borrow lasts for this one call, and nothing closes descriptors meanwhile, because
    // the program has not started a thread or opened a file yet. If `fd` is not open, the kernel
    // says so.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    Ok(rustix::io::fcntl_dupfd_cloexec(fd, 3)?)
}

/// Marks a descriptor that another process passed to us by its number as closed on exec.
pub(crate) fn close_on_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: as in `duplicate`.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    Ok(rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC)?)
}

/// Runs `act` on a descriptor that is known to be open, by its number. For use between fork and
/// exec.
pub(crate) fn borrowed<T>(fd: RawFd, act: impl FnOnce(BorrowedFd<'_>) -> T) -> T {
    // SAFETY: the parent had `fd` open when it forked, and nothing in the child has closed it
    // since.
    act(unsafe { BorrowedFd::borrow_raw(fd) })
}

/// Returns whether our caller wants this signal ignored, as `nohup` does.
pub(crate) fn is_ignored(signal: Signal) -> bool {
    let mut now = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: a null action changes nothing. If the call succeeds it has filled `now`.
    unsafe {
        libc::sigaction(signal as i32, std::ptr::null(), now.as_mut_ptr()) == 0
            && now.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Ignores a signal from now on.
pub(crate) fn ignore(signal: Signal) {
    let ignore = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    // SAFETY: ignoring runs no code of ours.
    let _ = unsafe { sigaction(signal, &ignore) };
}

/// Gives a signal its default action from now on. Also for use between fork and exec.
pub(crate) fn take_default(signal: Signal) {
    // SAFETY: the default action runs no code of ours, and a child between fork and exec may make
    // this call.
    unsafe { libc::signal(signal as libc::c_int, libc::SIG_DFL) };
}

/// Stops this process as the signal does by default. Returns when the process is continued, or at
/// once if the kernel does not stop it because its process group is orphaned.
pub(crate) fn stop(signal: Signal) {
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: the default action runs no code of this program, and the former action is restored.
    let Ok(before) = (unsafe { sigaction(signal, &default) }) else { return };
    let _ = raise(signal);
    // A blocked signal, as TTOU is, stops us only when it is unblocked.
    let mask = SigSet::from(signal).thread_swap_mask(SigmaskHow::SIG_UNBLOCK);
    // SAFETY: this is the action that was there before.
    let _ = unsafe { sigaction(signal, &before) };
    if let Ok(mask) = mask {
        let _ = mask.thread_set_mask();
    }
}
