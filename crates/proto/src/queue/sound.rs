//! Checks of the records that stores read back, before the ledger works with them. A damaged row
//! must become an error, and not an overflow.

use super::{
    item::{Item, MAX_DELIVERIES, MAX_PAYLOAD_BYTES, Standing, Work},
    request::Batch,
    state::{Group, Place, WorkerCall},
};
use crate::{
    head::MOST_ROWS,
    time::{Micros, UNBOUNDED},
};

fn are_times(times: &[Micros]) -> bool {
    times.iter().all(|time| *time <= UNBOUNDED)
}

fn are_counts(counts: &[u32]) -> bool {
    counts.iter().all(|count| *count < MOST_ROWS)
}

impl Item {
    /// Returns whether the ledger can work with this item.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let standing = match &self.standing {
            Standing::Ready { .. } => true,
            Standing::Delayed { due: at } | Standing::Dead { at } => are_times(&[*at]),
            Standing::InWork(work) => work.is_sound(),
        };
        standing
            && are_times(&[self.id.0, self.pushed])
            && self.rank.unsigned_abs() <= UNBOUNDED
            && (1..=MAX_DELIVERIES).contains(&self.most)
            && self.attempt <= MAX_DELIVERIES
            && self.bytes as usize <= MAX_PAYLOAD_BYTES
    }
}

impl Work {
    fn is_sound(&self) -> bool {
        // A lease without a length would be at its end again as soon as it is renewed for a living
        // worker. The loop that expires leases would then never end.
        self.ttl > 0 && are_times(&[self.fence.0, self.since, self.ttl, self.ends, self.ends_wall])
    }
}

impl Group {
    /// Returns whether the ledger can work with these counts.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        are_counts(&[self.in_work, self.ready])
    }
}

impl Place {
    /// Returns whether the ledger can work with this place.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let called = match self.call {
            WorkerCall::InLine => 0,
            WorkerCall::Since(at) => at,
        };
        are_times(&[self.until, called]) && self.want <= Batch::MOST_ITEMS
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;
    use crate::{Fence, Inbox, queue::Head};

    #[test]
    fn what_the_ledger_could_not_add_up_is_not_sound() {
        let head = Head::default();
        assert!(head.is_sound());
        for damaged in [
            Head { clock: u64::MAX, ..head.clone() },
            Head { last: UNBOUNDED + 1, ..head.clone() },
            Head { wanted: u32::MAX, ..head.clone() },
            Head { group_limit: Some(u32::MAX), ..head },
        ] {
            assert!(!damaged.is_sound(), "{damaged:?}");
        }
        assert!(!Group { in_work: u32::MAX, ..Group::default() }.is_sound());
    }

    #[test]
    fn a_lease_without_a_length_is_not_sound() {
        let work = Work {
            fence: Fence(1),
            by: Inbox(1),
            about: String::new(),
            since: 1,
            ttl: 1,
            ends: 2,
            ends_wall: 2,
        };
        assert!(work.is_sound());
        assert!(!Work { ttl: 0, ..work }.is_sound());
    }

    #[test]
    fn a_place_for_more_items_than_can_be_wanted_is_not_sound() {
        let place = Place {
            inbox: Inbox(1),
            want: Batch::MOST_ITEMS,
            drains: false,
            until: 5,
            call: WorkerCall::Since(5),
        };
        assert!(place.is_sound());
        assert!(!Place { want: Batch::MOST_ITEMS + 1, ..place }.is_sound());
        assert!(!Place { call: WorkerCall::Since(u64::MAX), ..place }.is_sound());
    }
}
