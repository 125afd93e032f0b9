//! `seinpaal`: at most N at once, from the command line. docs/guide/command-line.md states its
//! promises.
#![deny(unsafe_code)]
#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

#[cfg(not(any(target_os = "linux", all(target_vendor = "apple", seinpaal_untried))))]
compile_error!(
    "the program seinpaal needs Linux, where it holds processes by descriptors and finds the run around it in /proc. \
     The crate seinpaal, with a store on a server, needs any Unix"
);

mod args;
mod command;
mod connection;
mod exit;
mod keeper;
mod output;
mod raw;
mod run;
mod settings;
mod top;

/// Starts the program. With the GNU C library, `raw/begin.rs` does that instead.
#[cfg(any(test, not(all(target_os = "linux", target_env = "gnu"))))]
fn main() -> std::process::ExitCode {
    command::main().into()
}
