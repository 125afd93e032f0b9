//! The promises of every store that keeps queues: a case for each, and a file for each topic.
#![expect(missing_docs, reason = "the name of a case is its description")]

pub mod cancel;
pub mod dead;
pub mod dedup;
pub mod delays;
pub mod groups;
pub mod inspect;
pub mod leases;
pub mod ledger;
pub mod limits;
pub mod line;
pub mod lists;
pub mod numbers;
pub mod once;
pub mod order;
pub mod payloads;
pub mod workers;
