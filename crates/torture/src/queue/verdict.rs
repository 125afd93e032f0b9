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
    /// How often an item lay beside an idle worker after the effects of all faults. Only there the
    /// short bound counts.
    pub prompt: u64,
    /// The number of deliveries after the effects of all faults. Beside these, false alarms were
    /// looked for.
    pub calm: u64,
    /// The number of faults, by name.
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
