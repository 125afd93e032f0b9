//! The verdict of the checker on a history of a queue.

use std::collections::BTreeMap;

use crate::check::Violation;

/// The verdict of the checker on a history of a queue.
#[derive(Clone, Debug, Default)]
pub struct QueueVerdict {
    /// The number of pushes that the store answered.
    pub pushed: u64,
    /// The number of deliveries that reached a program.
    pub deliveries: u64,
    /// The number of items whose acknowledgement the store answered.
    pub acknowledged: u64,
    /// The number of deliveries that their workers lost.
    pub lost: u64,
    /// The number of dead letters.
    pub dead: u64,
    /// The number of pairs of items whose order the history proves.
    pub pairs: u64,
    /// The times from due to delivered of ungrouped items beside an idle worker, shortest first.
    pub waits: Vec<u64>,
    /// The number of faults, by name.
    pub faults: BTreeMap<String, u64>,
    /// Broken promises.
    pub violations: Vec<Violation>,
    /// Breaches of rules that the store does not promise.
    pub counted: Vec<Violation>,
}
