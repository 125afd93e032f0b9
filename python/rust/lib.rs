//! The native half of the Python package `seinpaal`: the crate, as requests that Python waits for
//! or polls.
//!
//! No function here holds the interpreter while it waits, and no thread of the crate ever takes it.
//! So renewal needs neither the GIL nor an event loop. See docs/decisions/python.md.

#![forbid(unsafe_code)]

mod block;
mod call;
mod connection;
mod failure;
mod locked;
mod mailbox;
mod permit;
mod queue;
mod want;
mod whole;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _native {
    /// How often the main thread looks for signals while it waits, in seconds.
    #[pymodule_export]
    const LOOK: f64 = crate::call::LOOK.as_secs_f64();

    #[pymodule_export]
    use crate::{
        block::{Block, Blocks},
        call::Call,
        connection::{Connection, check, connect},
        mailbox::Mailbox,
        permit::Permit,
        queue::Item,
    };
}
