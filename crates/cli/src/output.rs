//! What is printed: data to stdout, our own words to stderr.

pub(crate) mod json;
pub(crate) mod table;
pub(crate) mod text;
mod voice;

use std::io::{self, Write};

use crate::exit::{Exit, Failure};
pub(crate) use voice::Voice;

const SIGPIPE: i32 = 13;

/// Writes data to stdout. A reader that went away ends us like the signal that it would have sent.
pub(crate) fn print(data: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(data.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::silent(Exit::signal(SIGPIPE)),
            _ => Failure::internal(format!("cannot write to stdout: {error}")),
        }
    })
}
