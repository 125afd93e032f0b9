//! The state of one name in a ledger, and the small interface behind which stores keep it.

use alloc::{string::String, vec::Vec};

use crate::{
    count::MAX_LIMIT,
    head::MOST_ROWS,
    id::{Fence, Inbox, LeaseId, Series, Ticket},
    kind::Kind,
    recent_holds::RecentHolds,
    reply::Cause,
    request::DIGEST_MASK,
    slot_names::SlotNames,
    slots::Slots,
    time::{LONGEST_OWED, Micros, UNBOUNDED},
};

crate::head::head! {
    /// The facts of a name that are not a list. [`Head::default`] is a name nobody has touched.
    pub struct Head {
        /// Which lock the name is, since somebody used it.
        kind: Option<Kind> = None, kind;
        /// The limit that holders and waiters stated. It goes with the last of them. An implied 1
        /// is stored like a stated 1.
        stated: Option<u32> = None, limit;
        /// The limit that an operator pinned. It stays until it is unset, and wins over a stated
        /// limit.
        pinned: Option<u32> = None, limit;
        /// The names of the slots from 0 up, if an operator gave them names. They are pinned with
        /// the limit, which is their number, and go with it.
        names: SlotNames = SlotNames::none(), names;
        /// Why the name is paused, if it is.
        paused: Option<String> = None, text;
        /// The ledger's clock. It follows the store's clock, but never runs backwards and never
        /// advances far in one step.
        clock: Micros = 0, ledger_time;
        /// The store's clock at the last operation.
        wall: Micros = 0, store_time;
        /// The last fence given out, or the highest that anybody remembers.
        fence: u64 = 0, fence;
        /// The arrival of the last waiter; the next one's is later.
        arrival: Micros = 0, ledger_time;
        /// The most that `clock` advances in one operation: the least margin of anybody here.
        bound: Micros = UNBOUNDED, span;
        /// Permits held.
        held: u32 = 0, permits;
        /// Tickets that hold.
        holders: u32 = 0, rows;
        /// Tickets that wait, parked ones among them.
        waiting: u32 = 0, rows;
        /// Series that are remembered.
        past: u32 = 0, rows;
        /// Slots from this number up have not been handed out since the name was last free.
        top: u32 = 0, permits;
        /// How long the last holds took that were released; only for display.
        recent: RecentHolds = RecentHolds::NONE, holds;
    }
    if |head| head.names.is_empty() || head.pinned == Some(head.names.count())
}

impl Head {
    /// The limit in force.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.pinned.or(self.stated).unwrap_or(1)
    }

    /// Returns whether the last fence is not behind the store's clock, `now`, yet. Then the name is
    /// kept though nobody needs anything else of it: a fence made of the clock alone could be one
    /// that was given already (rule 10). One that is further ahead than [`LONGEST_OWED`] is not
    /// kept, so that nothing is left behind for years.
    #[must_use]
    pub fn owes_fence(&self, now: Micros) -> bool {
        (now..=now + LONGEST_OWED).contains(&self.fence)
    }
}

impl Lease {
    /// Returns whether the ledger can work with it.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        [self.ttl, self.ends, self.ends_wall].iter().all(|time| *time <= UNBOUNDED)
            && self.members < MOST_ROWS
            && self.parked <= self.members
            && self.digest <= DIGEST_MASK
    }
}

impl Entry {
    /// Returns whether the ledger can work with it.
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
    /// Causes that a series remembers at most; the lowest number's goes first.
    pub const MOST_ENDS: usize = 64;

    /// Of a series that the store has just met.
    #[must_use]
    pub const fn new(series: Series) -> Self {
        Self { series, last: 0, until: 0, open: 0, ends: Vec::new() }
    }

    /// Returns whether the ledger can work with it.
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

    /// Why a ticket with this number is over that neither holds nor waits; `None` if it may still
    /// come.
    #[must_use]
    pub fn cause(&self, number: u32) -> Option<Cause> {
        let listed = self.ends.binary_search_by_key(&number, |(number, _)| *number);
        match listed {
            Ok(at) => Some(self.ends[at].1),
            Err(_) => (number <= self.last).then_some(Cause::Released),
        }
    }

    /// Notes why a number is over. A release is not noted, because it is what is assumed.
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

/// A lease: until when everything under it is believed in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lease {
    /// The id.
    pub id: LeaseId,
    /// The inbox of its owner, if the owner listens anywhere.
    pub inbox: Option<Inbox>,
    /// Its length from each renewal; 0 as long as it was made for a waiter that has not been heard
    /// from since.
    pub ttl: Micros,
    /// The end on the ledger's clock.
    pub ends: Micros,
    /// When the lease ends on the store's clock. This end counts if the owner is known not to
    /// listen.
    pub ends_wall: Micros,
    /// Tickets under it.
    pub members: u32,
    /// The sum of their digests, modulo 2^48.
    pub digest: u64,
    /// How many of them are parked waiters.
    pub parked: u32,
}

/// A ticket that holds or waits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// Which ticket.
    pub ticket: Ticket,
    /// The lease it stands under now.
    pub lease: LeaseId,
    /// Where its owner listens.
    pub inbox: Option<Inbox>,
    /// Permits held or wanted.
    pub permits: u32,
    /// How long to remember the ticket after its end; the ttl it asked for.
    pub ttl: Micros,
    /// When it was granted or enqueued, on the store's clock; only for display.
    pub since: Micros,
    /// What it said of itself.
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
        /// As many slots as permits.
        slots: Slots,
    },
    /// The ticket waits.
    Waiting {
        /// Smallest first; ties go to the smaller ticket. Arrival less priority times
        /// [`AGING`](crate::time::AGING).
        rank: i64,
        /// The priority, for display.
        priority: i8,
        /// The lease that the permits will stand under.
        lease: LeaseId,
        /// The margin of that lease.
        margin: Micros,
        /// The slots that must be among those that it gets.
        wishes: Slots,
        /// Nobody listens at its inbox: it is not in the order of service until it is heard from.
        parked: bool,
    },
}

/// The memory of a series (rule 9). A ticket of the series that neither holds nor waits is over if
/// its number is not above `last`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Memory {
    /// Which series.
    pub series: Series,
    /// The highest number that was granted or came to an end.
    pub last: u32,
    /// Until when it is remembered, on the ledger's clock, once nothing of it is held.
    pub until: Micros,
    /// Tickets of it that hold.
    pub open: u32,
    /// Why numbers are over that were not simply released, ascending.
    pub ends: Vec<(u32, Cause)>,
}

/// One name's state in some store. Every method costs a logarithm at most of what is kept, except
/// the two that list.
///
/// Inside one [`execute`](crate::execute) the ledger reads what it wrote. A store makes all of the
/// writes of one `execute` take effect together, or none.
pub trait State {
    /// The error of the storage underneath.
    type Error;

    /// The head, or the default one.
    fn head(&mut self) -> Result<Head, Self::Error>;
    /// Writes the head.
    fn set_head(&mut self, head: &Head) -> Result<(), Self::Error>;
    /// Forgets the name altogether. Called only when nothing but the head and free slots is left.
    fn clear(&mut self) -> Result<(), Self::Error>;

    /// A lease by id.
    fn lease(&mut self, id: LeaseId) -> Result<Option<Lease>, Self::Error>;
    /// Writes a lease, new or changed.
    fn put_lease(&mut self, lease: &Lease) -> Result<(), Self::Error>;
    /// Removes a lease; nothing stands under it any more.
    fn remove_lease(&mut self, id: LeaseId) -> Result<(), Self::Error>;
    /// The lease with the smallest (`ends`, id).
    fn first_lease_by_end(&mut self) -> Result<Option<Lease>, Self::Error>;
    /// The lease with the smallest (`ends_wall`, id).
    fn first_lease_by_wall(&mut self) -> Result<Option<Lease>, Self::Error>;

    /// A ticket that holds or waits.
    fn entry(&mut self, ticket: Ticket) -> Result<Option<Entry>, Self::Error>;
    /// Writes an entry, new or changed.
    fn put_entry(&mut self, entry: &Entry) -> Result<(), Self::Error>;
    /// Removes an entry.
    fn remove_entry(&mut self, ticket: Ticket) -> Result<(), Self::Error>;
    /// The smallest ticket under a lease.
    fn first_member(&mut self, lease: LeaseId) -> Result<Option<Entry>, Self::Error>;
    /// The waiter, not parked, with the smallest (`rank`, ticket).
    fn first_waiter(&mut self) -> Result<Option<Entry>, Self::Error>;
    /// Up to `rows` holders in order of (fence, ticket). May cost as much as there are holders.
    fn holders(&mut self, rows: u32) -> Result<Vec<Entry>, Self::Error>;
    /// Up to `rows` waiters: those not parked by (`rank`, ticket), then the parked by (`rank`,
    /// ticket).
    fn waiters(&mut self, rows: u32) -> Result<Vec<Entry>, Self::Error>;
    /// Returns the memory of a series.
    fn memory(&mut self, series: Series) -> Result<Option<Memory>, Self::Error>;
    /// Writes a memory, new or changed.
    fn put_memory(&mut self, memory: &Memory) -> Result<(), Self::Error>;
    /// Forgets a series.
    fn remove_memory(&mut self, series: Series) -> Result<(), Self::Error>;
    /// Of the memories of which nothing is held (`open` is 0), the one with the smallest (`until`,
    /// series).
    fn first_memory(&mut self) -> Result<Option<Memory>, Self::Error>;

    /// Takes out the free range with the lowest first slot.
    fn pop_free_slots(&mut self) -> Result<Option<(u32, u32)>, Self::Error>;
    /// Puts in a range of free slots. Ranges never overlap; they are not joined.
    fn push_free_slots(&mut self, first: u32, last: u32) -> Result<(), Self::Error>;
    /// The free ranges that begin below a slot, ascending. Asked only about names with names for
    /// slots, with their number.
    fn free_slots_below(&mut self, slot: u32) -> Result<Vec<(u32, u32)>, Self::Error>;
    /// Takes out the free range that begins with this slot.
    fn remove_free_slots(&mut self, first: u32, last: u32) -> Result<(), Self::Error>;
    /// Drops all free ranges: nobody holds anything.
    fn clear_free_slots(&mut self) -> Result<(), Self::Error>;
}
