//! The events of `--events`: JSON lines for a program that watches this one.

use std::os::fd::RawFd;

use rustix::fs::{OFlags, fcntl_getfl};
use serde::Serialize;

use super::raw;
use crate::{
    exit::Failure,
    output::{
        Outlet,
        json::{EstimateJson, ReasonJson},
    },
};

/// One event, which becomes one line.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(crate) enum RunEvent<'a> {
    /// The request stands in line, with this many waiters in all.
    Queued {
        name: &'a str,
        waiting: u32,
    },
    /// The request has this place in line, from 1.
    Position {
        name: &'a str,
        position: u32,
        waiting: u32,
        /// The reasons why the request waits, as in `show --why`. In a crowd neither they nor the
        /// estimate are told.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        reasons: Vec<ReasonJson>,
        #[serde(skip_serializing_if = "Option::is_none")]
        estimate: Option<EstimateJson>,
    },
    Acquired {
        name: &'a str,
        ticket: String,
        fence: u64,
        slots: Vec<u32>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        slot_names: &'a [String],
        permits: u32,
        limit: u32,
        waited_ms: u64,
    },
    /// The lease was not renewed and ends soon.
    Danger {
        name: &'a str,
        valid_for_ms: Option<u64>,
    },
    Lost {
        name: &'a str,
        cause: String,
    },
    /// CMD has ended with this status, or 128+n. This is the last line.
    Exited {
        name: &'a str,
        status: u8,
    },
    /// The permits were given back. CMD has ended by then.
    Released {
        name: &'a str,
    },
    /// This many lines were dropped before this one, because nobody read them.
    Missed {
        lines: u64,
    },
}

/// The outlet for the events, if the user wants them.
#[derive(Debug)]
pub(crate) struct Events(Option<Outlet>);

impl Events {
    /// Takes over the descriptor that `--events` names. CMD does not inherit it, unless it is a
    /// standard stream. Call this before the program opens any file, so that the number still
    /// belongs to the caller's descriptor.
    pub(super) fn open(fd: Option<RawFd>) -> Result<Self, Failure> {
        let Some(fd) = fd else { return Ok(Self(None)) };
        let refuse = |why| Failure::usage(format!("--events: file descriptor {fd} is {why}"));
        let copy = raw::duplicate(fd).map_err(|_| refuse("not open"))?;
        let mode = fcntl_getfl(&copy).map_err(|_| refuse("not open"))? & OFlags::RWMODE;
        if mode != OFlags::WRONLY && mode != OFlags::RDWR {
            return Err(refuse("not open for writing"));
        }
        if fd > 2 {
            raw::close_on_exec(fd).map_err(|_| refuse("not open"))?;
        }
        Ok(Self(Some(Outlet::open(copy, |lines| line(&RunEvent::Missed { lines })))))
    }

    /// Makes events that nobody watches.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Returns whether a program watches.
    pub(crate) fn are_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Hands over a line to write. Never waits: a reader that is too slow misses lines.
    pub(crate) fn emit(&self, event: &RunEvent<'_>) {
        if let Some(outlet) = &self.0 {
            outlet.send(line(event));
        }
    }

    /// Waits a moment for the last lines, because nothing is written after the end of the program.
    pub(super) fn part(&self) {
        if let Some(outlet) = &self.0 {
            outlet.part();
        }
    }
}

fn line(event: &RunEvent<'_>) -> Vec<u8> {
    // Writing fails only for a map whose keys are not text, and no event has such a map.
    let mut line = serde_json::to_vec(event).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_with_its_kind() {
        let line = serde_json::to_string(&RunEvent::Released { name: "a\nb" }).unwrap();
        assert_eq!(line, r#"{"event":"released","name":"a\nb"}"#);
    }
}
