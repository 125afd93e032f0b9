//! A day with defaults. The rig uses the release program as README and docs show it, without any
//! tuning flag, on every store at once.
//!
//! ```text
//!   rig ──starts──▶ servers
//!    ├── scenarios ──start──▶ `seinpaal …` ──runs──▶ CMD (this program again)
//!    └── outages ──▶ servers        │                  │
//!                                   ▼                  ▼
//!                                history: one line an event, one clock
//!                                   │
//!                                 judge ──▶ table: a line a store
//! ```
//!
//! docs/internals/tests/day.md says how to run it and how to read what it prints.
#![forbid(unsafe_code)]

pub mod args;
pub mod cmd;
pub mod end;
pub mod history;
pub mod job;
pub mod judge;
pub mod program;
pub mod report;
pub mod rig;
pub mod runs;
pub mod scenario;
pub mod screen;
pub mod service;
pub mod site;
pub mod stage;
pub mod store;
pub mod world;
