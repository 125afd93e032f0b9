//! The reasons why CMD could not be started, in words.

use std::{ffi::OsStr, io};

use rustix::io::Errno;

use crate::exit::{Exit, Failure};

pub(super) fn cannot_start(command: &OsStr, error: &io::Error) -> Failure {
    let command = command.display();
    let ours = |why| {
        Failure::new(
            Exit::Internal,
            format!("cannot start a process for {command}: {error}; {why}"),
        )
    };
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::MFILE) => ours("seinpaal may open no more files: raise `ulimit -n`"),
        Some(Errno::NFILE) => ours("this machine may open no more files: raise fs.file-max"),
        Some(Errno::AGAIN | Errno::NOMEM) => ours("too many run already, or memory is short"),
        Some(Errno::TOOBIG) => Failure::new(
            Exit::CannotExecute,
            format!(
                "cannot run {command}: {error}; its arguments and the environment are too long together"
            ),
        ),
        Some(Errno::NOENT) => Failure::new(
            Exit::NotFound,
            format!("cannot run {command}: {error}; is the interpreter in its first line there?"),
        ),
        _ => Failure::new(
            Exit::CannotExecute,
            format!(
                "cannot run {command}: {error}; is it a program for this machine, or a script with a first line like #!/bin/sh?"
            ),
        ),
    }
}
