//! What became of the items that a worker worked on.

use seinpaal_proto::queue::session::DeliveryEnd;

/// What became of the items that a worker worked on.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Counts {
    /// Done.
    pub acknowledged: u64,
    /// Left to others: because the handler said so, or at the shutdown.
    pub given_back: u64,
    /// Failed, to be delivered again.
    pub failed: u64,
    /// Failed for the last time: dead letters.
    pub died: u64,
    /// Lost before they were done: others may have worked on them, too.
    pub lost: u64,
    /// Ended while the store was silent: they may be delivered once more.
    pub unknown: u64,
}

impl Counts {
    /// Returns the sums of these counts and others, as of the parts of a
    /// [spread](crate::Queue::spread) queue.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            acknowledged: self.acknowledged + other.acknowledged,
            given_back: self.given_back + other.given_back,
            failed: self.failed + other.failed,
            died: self.died + other.died,
            lost: self.lost + other.lost,
            unknown: self.unknown + other.unknown,
        }
    }

    pub(super) fn add(&mut self, outcome: ItemEnd) {
        let count = match outcome.end {
            DeliveryEnd::Acknowledged => &mut self.acknowledged,
            DeliveryEnd::Returned if outcome.is_given_back => &mut self.given_back,
            DeliveryEnd::Returned => &mut self.failed,
            DeliveryEnd::Died => &mut self.died,
            DeliveryEnd::Lost => &mut self.lost,
            _ => &mut self.unknown,
        };
        *count += 1;
    }
}

/// The end of an item.
pub(super) struct ItemEnd {
    pub(super) end: DeliveryEnd,
    pub(super) is_given_back: bool,
}
