//! Where the program begins. Rust's own way in looks up where the stack ends, which the kernel has
//! to write out for it, and sets up a handler that tells of a stack that was too short: for a short
//! `run` that is a twentieth of its system calls. The C library has kept the arguments for Rust's
//! library already.

use std::{
    ffi::{c_char, c_int},
    os::fd::IntoRawFd,
    process::exit,
};

use nix::sys::signal::Signal;
use rustix::fs::{Mode, OFlags};

// SAFETY: the C library calls this once, on the only thread there is, and nothing else has this
// name.
#[unsafe(no_mangle)]
extern "C" fn main(_count: c_int, _words: *const *const c_char) -> c_int {
    open_what_is_closed();
    super::ignore(Signal::SIGPIPE);
    exit(crate::command::main().into()) // not a return, so that buffered output is written
}

/// Opens the standard streams that were closed at the start. Otherwise the first file that this
/// program opens would take the number of one, and CMD would inherit that file as its stream.
fn open_what_is_closed() {
    for _ in (0..3).filter(|fd| super::was_closed_at_start(*fd)) {
        // The kernel takes the lowest number that is free.
        let opened = rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty());
        let _ = opened.map(IntoRawFd::into_raw_fd); // stays open
    }
}
