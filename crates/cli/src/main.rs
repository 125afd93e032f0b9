//! `seinpaal`: at most N at once, from the command line. What it promises is in docs/guide/command-line.md.
#![deny(unsafe_code)]

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

fn main() -> std::process::ExitCode {
    command::main()
}
