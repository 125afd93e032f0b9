//! The native half of the Python package `seinpaal`: the crate, as requests that Python waits for
//! or polls.
//!
//! Nothing here holds the interpreter while it waits, and no thread of the crate ever takes it. So
//! renewal needs neither the GIL nor an event loop. See docs/decisions/0052-python.md.

#![forbid(unsafe_code)]

mod call;
mod connection;
mod failure;
mod locked;
mod mailbox;
mod permit;
mod queue;
mod wish;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::{
        call::Call,
        connection::{Connection, connect},
        mailbox::Mailbox,
        permit::Permit,
        queue::Item,
    };
}
