//! One list of cases about behaviour, run against every store.
//!
//! ```text
//!   conformance!(memory, MemoryHarness::new());        a line a store, in tests/
//!         │ expands to a test a case, from the one list in list.rs
//!         ▼
//!   CaseStage: a harness, a name of its own ──▶ InboxClient: one inbox, one store, what it hears
//! ```
//!
//! A case says in its name what every store promises. What a store cannot promise is listed with
//! the reason by the summary of its run; nothing is passed over in silence. No case sleeps: time is
//! the harness's clock, and what happens elsewhere is awaited, with a bound.
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
    SentinelHarness, ZookeeperHarness,
};
pub use list::{CASES, Case};
pub use queue::{QUEUE_CASES, cases as queue_cases};
pub use stage::{CaseStage, summary};
