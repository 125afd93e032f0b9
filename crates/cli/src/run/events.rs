//! The events, as JSON lines for a program that watches us.

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

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(crate) enum RunEvent<'a> {
    /// In the queue, with this many waiters in all.
    Queued {
        name: &'a str,
        waiting: u32,
    },
    /// This place in the queue, from 1.
    Position {
        name: &'a str,
        position: u32,
        waiting: u32,
        /// Why it waits, as `show --why` says it.
        reasons: Vec<ReasonJson>,
        estimate: EstimateJson,
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
    /// Somebody asks that the permits be handed over.
    Asked {
        name: &'a str,
        by: &'a str,
        reason: &'a str,
    },
    Lost {
        name: &'a str,
        cause: String,
    },
    /// CMD is gone, with this status or 128+n; the last line.
    Exited {
        name: &'a str,
        status: u8,
    },
    /// Given back; CMD is gone by then.
    Released {
        name: &'a str,
    },
    /// How many lines were dropped before this one, because nobody read them.
    Missed {
        lines: u64,
    },
}

/// Where the lines go, if anywhere.
#[derive(Debug)]
pub(crate) struct Events(Option<Outlet>);

impl Events {
    /// Takes over the descriptor that `--events` names; CMD does not inherit it (a standard stream
    /// it does). Call it before anything is opened, so that the number is still the caller's.
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

    /// Nobody watches.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Returns whether anybody watches.
    pub(crate) fn are_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Hands over a line to be written, whole. Never waits: a reader that is too slow misses lines.
    pub(crate) fn emit(&self, event: &RunEvent<'_>) {
        if let Some(outlet) = &self.0 {
            outlet.send(line(event));
        }
    }

    /// Lets the last lines out, for a moment: nothing is written after the end of the program.
    pub(super) fn part(&self) {
        if let Some(outlet) = &self.0 {
            outlet.part();
        }
    }
}

fn line(event: &RunEvent<'_>) -> Vec<u8> {
    // Only a map whose keys are no text cannot be written, and no event has such a map.
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
