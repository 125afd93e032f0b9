//! What the checker finds in a history of a queue.

use std::collections::BTreeMap;

use crate::check::Violation;

/// What the checker finds in a history of a queue.
#[derive(Clone, Debug, Default)]
pub struct QueueVerdict {
    /// Pushes that were answered.
    pub pushed: u64,
    /// Deliveries that reached a program.
    pub deliveries: u64,
    /// Items that were acknowledged, and whose workers were told so.
    pub acknowledged: u64,
    /// Deliveries that were lost by their workers.
    pub lost: u64,
    /// Dead letters.
    pub dead: u64,
    /// Pairs of items whose order the history proves.
    pub pairs: u64,
    /// The times from due to in hand of ungrouped items beside an idle worker, shortest first.
    pub waits: Vec<u64>,
    /// Faults, by name.
    pub faults: BTreeMap<String, u64>,
    /// Broken promises.
    pub violations: Vec<Violation>,
    /// Breaches of rules that the store does not promise.
    pub counted: Vec<Violation>,
}
