//! A rig that tortures stores: real processes, real servers, real faults, and a checker of the
//! history that they write.
//!
//! ```text
//!   rig ──starts──▶ servers ◀── proxy ◀── workers (this program again, public API only)
//!    └── faults ──▶ any of them               │
//!          └────────────▶ history ◀───────────┘     one line an event, one clock
//!                            ▼
//!                         checker ──▶ verdict: violations, times from free to granted
//! ```
//!
//! docs/internals/tests/torture.md says how to run it and how to read what it prints.
#![forbid(unsafe_code)]

pub mod args;
pub mod check;
pub mod clock;
pub mod fault;
pub mod history;
pub mod items;
pub mod kind;
mod lives;
pub mod lookout;
pub mod promise;
pub mod queue;
pub mod report;
pub mod rig;
pub mod scene;
pub mod worker;
