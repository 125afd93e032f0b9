//! The counts of a worker's items by their ends.

use seinpaal_proto::queue::session::DeliveryEnd;

/// The counts of a worker's items by their ends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Counts {
    /// Items that were done.
    pub acknowledged: u64,
    /// Items that were given back, by the handler or at the shutdown.
    pub given_back: u64,
    /// Items that failed and will be delivered again.
    pub failed: u64,
    /// Items that failed for the last time, and so became dead letters.
    pub died: u64,
    /// Items that were lost before they were done. Other workers may have worked on them as well.
    pub lost: u64,
    /// Items whose end the store has not confirmed, because it was silent or the grace period was
    /// over. They may be delivered once more.
    pub unknown: u64,
}

impl Counts {
    /// Returns the sums of these counts and others, for example of the parts of a
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
            DeliveryEnd::Unknown => &mut self.unknown,
        };
        *count += 1;
    }
}

/// The end of an item.
pub(super) struct ItemEnd {
    pub(super) end: DeliveryEnd,
    pub(super) is_given_back: bool,
}
