//! The start of the program, in place of Rust's own start code. That code asks the kernel for the
//! end of the stack, and sets up a handler that reports a stack overflow. For a short `run` this is
//! a twentieth of its system calls. Rust's library still has the arguments, because the C library
//! has kept them for it.

use std::{
    ffi::{c_char, c_int},
    os::fd::IntoRawFd,
    process::exit,
};

use nix::sys::signal::Signal;
use rustix::fs::{Mode, OFlags};

// SAFETY: the C library calls this once, on the only thread, and nothing else has this name.
#[unsafe(no_mangle)]
extern "C" fn main(_count: c_int, _words: *const *const c_char) -> c_int {
    open_what_is_closed();
    super::ignore(Signal::SIGPIPE);
    exit(crate::command::main().into()) // not a return, so that buffered output is written
}

/// Opens the standard streams that were closed at the start. Otherwise the first file that this
/// program opens would take the number of such a stream, and CMD would inherit the file as its
/// stream.
fn open_what_is_closed() {
    for _ in (0..3).filter(|fd| super::was_closed_at_start(*fd)) {
        // The kernel takes the lowest free number.
        let opened = rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty());
        let _ = opened.map(IntoRawFd::into_raw_fd); // stays open
    }
}
