//! One list of cases about behaviour, run against every store.
//!
//! ```text
//!   conformance!(memory, MemoryHarness::new());        a line a store, in tests/
//!         │ expands to a test a case, from the one list in list.rs
//!         ▼
//!   CaseStage: a harness, a name of its own ──▶ InboxClient: one inbox, one store, its news
//! ```
//!
//! The name of a case states what every store promises. If a store cannot promise a case, the
//! summary of its run lists the case with the reason, so no case is left out in silence. No case
//! sleeps: time is the harness's clock, and a case waits for events in other processes, with a
//! bound.
#![forbid(unsafe_code)]

pub mod cases;
mod client;
pub mod faults;
pub mod harness;
mod list;
mod member;
mod queue;
mod requests;
mod stage;

pub use client::InboxClient;
pub use harness::{
    Ability, ClusterHarness, EmbeddedHarness, Harness, MemoryHarness, QuorumHarness, RedisHarness,
    SentinelHarness, ZookeeperHarness, forbid_scans,
};
pub use list::{CASES, Case};
pub use queue::{QUEUE_CASES, cases as queue_cases};
pub use stage::{CaseStage, summary};
