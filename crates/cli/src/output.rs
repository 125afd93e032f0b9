//! Output: data goes to stdout, messages go to stderr.

pub(crate) mod json;
pub(crate) mod log;
mod outlet;
mod secret;
mod subject;
pub(crate) mod table;
pub(crate) mod voice;

use std::io::{self, Write};

use rustix::io::Errno;

use crate::{
    exit::{Exit, Failure},
    raw,
};
pub(crate) use outlet::Outlet;
pub(crate) use secret::{masked, without_secrets};
pub(crate) use seinpaal_words::{text, ticket, why};
pub(crate) use subject::NamedStore;
pub(crate) use voice::Voice;

const SIGPIPE: i32 = 13;
const STDOUT: i32 = 1;

/// Writes data to stdout. If the reader has gone, the program ends with the status of SIGPIPE.
pub(crate) fn print(data: &str) -> Result<(), Failure> {
    write(data).map_err(|error| match exit_for(&error) {
        Exit::Internal => Failure::internal(format!(
            "cannot write to stdout: {error}; is it open, and has it room?"
        )),
        exit => Failure::silent(exit),
    })
}

/// Returns the exit status for data that cannot be written.
pub(crate) fn exit_for(error: &io::Error) -> Exit {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Exit::signal(SIGPIPE),
        _ => Exit::Internal,
    }
}

/// Writes all of the data to stdout.
pub(crate) fn write(data: &str) -> io::Result<()> {
    // A command that has nothing to print does not need stdout.
    if raw::was_closed_at_start(STDOUT) && !data.is_empty() {
        return Err(Errno::BADF.into());
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(data.as_bytes())?;
    stdout.flush()
}
