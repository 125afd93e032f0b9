//! The records that a ledger keeps of a name besides its head: leases, tickets and memories of
//! series.

use alloc::{string::String, vec::Vec};

use crate::{
    count::MAX_LIMIT,
    head::MOST_ROWS,
    id::{Fence, Inbox, LeaseId, Series, Ticket},
    reply::Cause,
    request::DIGEST_MASK,
    slots::Slots,
    time::{Micros, UNBOUNDED},
};

/// A lease: the record that its tickets hold, or keep their places, until an instant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lease {
    /// The id.
    pub id: LeaseId,
    /// The inbox of its owner, if the owner listens anywhere.
    pub inbox: Option<Inbox>,
    /// The length of the lease from each renewal. It is 0 while the lease was made for a waiter
    /// that has not been heard from since its grant.
    pub ttl: Micros,
    /// The end on the ledger's clock.
    pub ends: Micros,
    /// When the lease ends on the store's clock. This end counts if the owner is known not to
    /// listen.
    pub ends_wall: Micros,
    /// The number of tickets under the lease.
    pub members: u32,
    /// The sum of their digests, modulo 2^48.
    pub digest: u64,
    /// The number of parked waiters among them.
    pub parked: u32,
}

/// A ticket that holds or waits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// The ticket.
    pub ticket: Ticket,
    /// The lease under which the ticket stands now.
    pub lease: LeaseId,
    /// The inbox of its owner, if it has an owner that listens.
    pub inbox: Option<Inbox>,
    /// The permits held or wanted.
    pub permits: u32,
    /// The ttl that the request asked for. A lease that is made for the ticket lasts so long, and
    /// the ticket's end is remembered for so long.
    pub ttl: Micros,
    /// When it was granted or enqueued, on the store's clock; only for display.
    pub since: Micros,
    /// The client's description of itself.
    pub about: String,
    /// Whether the ticket holds or waits.
    pub standing: Standing,
}

/// Whether a ticket holds or waits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Standing {
    /// The ticket holds permits.
    Holding {
        /// The number of its grant.
        fence: Fence,
        /// The slots, as many as permits.
        slots: Slots,
    },
    /// The ticket waits.
    Waiting {
        /// The place in the order of service, smallest first; ties go to the smaller ticket. It is
        /// the arrival less the priority times [`AGING`](crate::time::AGING).
        rank: i64,
        /// The priority, for display.
        priority: i8,
        /// The lease that the permits will stand under.
        lease: LeaseId,
        /// The margin of that lease.
        margin: Micros,
        /// The slots that must be among those that the ticket gets.
        wishes: Slots,
        /// Nobody listens at the waiter's inbox, so it is not in the order of service until it is
        /// heard from.
        parked: bool,
    },
}

/// The memory of a series (rule 9). A ticket of the series that neither holds nor waits is over if
/// its number is not above `last`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Memory {
    /// The series.
    pub series: Series,
    /// The highest number that was granted or came to an end.
    pub last: u32,
    /// Until when it is remembered, on the ledger's clock, once nothing of it is held.
    pub until: Micros,
    /// The number of its tickets that hold.
    pub open: u32,
    /// The causes of ended numbers that were not simply released, ascending by number.
    pub ends: Vec<(u32, Cause)>,
}

impl Lease {
    /// Returns whether the ledger can work with this record.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        [self.ttl, self.ends, self.ends_wall].iter().all(|time| *time <= UNBOUNDED)
            && self.members < MOST_ROWS
            && self.parked <= self.members
            && self.digest <= DIGEST_MASK
    }
}

impl Entry {
    /// Returns whether the ledger can work with this record.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let standing = match &self.standing {
            Standing::Holding { fence, slots } => {
                fence.0 <= UNBOUNDED && slots.count() == self.permits
            }
            Standing::Waiting { margin, wishes, .. } => {
                *margin <= UNBOUNDED && wishes.count() <= self.permits
            }
        };
        standing
            && (1..=MAX_LIMIT).contains(&self.permits)
            && self.ttl <= UNBOUNDED
            && self.since <= UNBOUNDED
    }
}

impl Memory {
    /// The most causes that a series remembers. The lowest number's goes first.
    pub const MOST_ENDS: usize = 64;

    /// Makes the memory of a series that the store has just met.
    #[must_use]
    pub const fn new(series: Series) -> Self {
        Self { series, last: 0, until: 0, open: 0, ends: Vec::new() }
    }

    /// Returns whether the ledger can work with this record.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let is_ordered = self.ends.windows(2).all(|two| two[0].0 < two[1].0);
        self.until <= UNBOUNDED
            && self.open < MOST_ROWS
            && self.ends.len() <= Self::MOST_ENDS
            && is_ordered
            && self.ends.last().is_none_or(|(number, _)| *number <= self.last)
            && self.ends.iter().all(|(_, cause)| *cause != Cause::Released)
    }

    /// Returns why a ticket with this number, which neither holds nor waits, is over; `None` if the
    /// ticket may still come.
    #[must_use]
    pub fn cause(&self, number: u32) -> Option<Cause> {
        let listed = self.ends.binary_search_by_key(&number, |(number, _)| *number);
        match listed {
            Ok(at) => Some(self.ends[at].1),
            Err(_) => (number <= self.last).then_some(Cause::Released),
        }
    }

    /// Notes why a number is over. A release is not noted, because it is the default.
    pub(crate) fn note(&mut self, number: u32, cause: Cause) {
        let listed = self.ends.binary_search_by_key(&number, |(number, _)| *number);
        match (listed, cause) {
            (Ok(at), Cause::Released) => drop(self.ends.remove(at)),
            (Ok(at), _) => self.ends[at].1 = cause,
            (Err(_), Cause::Released) => {}
            (Err(at), _) => self.ends.insert(at, (number, cause)),
        }
        if self.ends.len() > Self::MOST_ENDS {
            self.ends.remove(0);
        }
    }
}
