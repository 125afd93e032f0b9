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
    /// How often an item lay beside an idle worker when no fault had effects any more. Only there
    /// the short bound counts.
    pub prompt: u64,
    /// Deliveries when no fault had effects any more. Whether there was a false alarm was judged
    /// beside these.
    pub calm: u64,
    /// Faults, by name.
    pub faults: BTreeMap<String, u64>,
    /// Broken promises.
    pub violations: Vec<Violation>,
    /// Breaches of rules that the store does not promise.
    pub counted: Vec<Violation>,
}

impl QueueVerdict {
    /// Returns whether no promise was broken and items were pushed and done. A run in which nothing
    /// was done proves nothing.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.violations.is_empty() && self.pushed > 0 && self.acknowledged > 0
    }
}
