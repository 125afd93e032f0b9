//! The promises of every store: a case for each, and a file for each topic.
#![expect(missing_docs, reason = "the name of a case is its description")]

pub mod alarms;
pub mod attach;
pub mod cancel;
pub mod exclusion;
pub mod expiry;
pub mod fairness;
pub mod fencing;
pub mod inspect;
pub mod kinds;
pub mod ledger;
pub mod limits;
pub mod named;
pub mod pause;
pub mod queues;
pub mod renewal;
pub mod retry;
pub mod slots;
pub mod wakeups;
