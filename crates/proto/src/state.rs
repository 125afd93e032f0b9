//! The state of one name in a ledger, and the trait through which the ledger reads and writes it.

mod records;

use alloc::{string::String, vec::Vec};

pub use self::records::{Entry, Lease, Memory, Standing};
use crate::{
    id::{LeaseId, Series, Ticket},
    kind::Kind,
    recent_holds::RecentHolds,
    slot_names::SlotNames,
    time::{LONGEST_OWED, Micros, UNBOUNDED},
};

crate::head::head! {
    /// The facts of a name that are not lists. [`Head::default`] is the head of a name that nobody
    /// has touched.
    pub struct Head {
        /// The kind of lock that the name is, once somebody has used it.
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
        /// The reason of the pause, if the name is paused.
        paused: Option<String> = None, text;
        /// The ledger's clock. It follows the store's clock, but never runs backwards and never
        /// advances far in one step.
        clock: Micros = 0, ledger_time;
        /// The store's clock at the last operation.
        wall: Micros = 0, store_time;
        /// The last fence given out, or the highest that a client claims to have seen.
        fence: u64 = 0, fence;
        /// The arrival of the last waiter; the next one's is later.
        arrival: Micros = 0, ledger_time;
        /// The most that `clock` advances in one operation: the smallest margin that was stated
        /// here since nobody held or waited. No margin of a holder or waiter is smaller.
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
        /// How long the last released holds took; only for display.
        recent: RecentHolds = RecentHolds::NONE, holds;
    }
    if |head| head.names.is_empty() || head.pinned == Some(head.names.count())
}

impl Head {
    /// Returns the limit in force.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.pinned.or(self.stated).unwrap_or(1)
    }

    /// Returns whether the last fence is still ahead of the store's clock, `now`. Then the name is
    /// kept even if nobody needs anything else of it: a fence made from the clock alone could
    /// repeat one that was given already (rule 10). A name whose fence is further ahead than
    /// [`LONGEST_OWED`] is not kept, so that nothing is left behind for years.
    #[must_use]
    pub fn owes_fence(&self, now: Micros) -> bool {
        (now..=now + LONGEST_OWED).contains(&self.fence)
    }
}

/// One name's state in some store. Every method costs at most a logarithm of the size of the state,
/// except those that list (the three with a `Vec`) and those that clear.
///
/// Inside one [`execute`](crate::execute) the ledger reads its own writes. A store makes all of the
/// writes of one `execute` take effect together, or none.
pub trait State {
    /// The error of the storage underneath.
    type Error;

    /// Returns the head, or the default one.
    fn head(&mut self) -> Result<Head, Self::Error>;
    /// Writes the head.
    fn set_head(&mut self, head: &Head) -> Result<(), Self::Error>;
    /// Forgets the name altogether. The ledger calls this only when nothing but the head and free
    /// slots is left.
    fn clear(&mut self) -> Result<(), Self::Error>;

    /// Returns a lease by id.
    fn lease(&mut self, id: LeaseId) -> Result<Option<Lease>, Self::Error>;
    /// Writes a lease, new or changed.
    fn put_lease(&mut self, lease: &Lease) -> Result<(), Self::Error>;
    /// Removes a lease. Nothing stands under it any more.
    fn remove_lease(&mut self, id: LeaseId) -> Result<(), Self::Error>;
    /// Returns the lease with the smallest (`ends`, id).
    fn first_lease_by_end(&mut self) -> Result<Option<Lease>, Self::Error>;
    /// Returns the lease with the smallest (`ends_wall`, id).
    fn first_lease_by_wall(&mut self) -> Result<Option<Lease>, Self::Error>;

    /// Returns the entry of a ticket that holds or waits.
    fn entry(&mut self, ticket: Ticket) -> Result<Option<Entry>, Self::Error>;
    /// Writes an entry, new or changed.
    fn put_entry(&mut self, entry: &Entry) -> Result<(), Self::Error>;
    /// Removes an entry.
    fn remove_entry(&mut self, ticket: Ticket) -> Result<(), Self::Error>;
    /// Returns the smallest ticket under a lease.
    fn first_member(&mut self, lease: LeaseId) -> Result<Option<Entry>, Self::Error>;
    /// Returns the waiter, not parked, with the smallest (`rank`, ticket).
    fn first_waiter(&mut self) -> Result<Option<Entry>, Self::Error>;
    /// Returns up to `rows` holders in order of (fence, ticket). May cost as much as there are
    /// holders.
    fn holders(&mut self, rows: u32) -> Result<Vec<Entry>, Self::Error>;
    /// Returns up to `rows` waiters: first those that are not parked, then those that are, both by
    /// (`rank`, ticket).
    fn waiters(&mut self, rows: u32) -> Result<Vec<Entry>, Self::Error>;
    /// Returns the position of a waiter in the queue, from 1. Parked waiters do not count.
    fn position(&mut self, waiter: &Entry) -> Result<u32, Self::Error>;
    /// Returns the memory of a series.
    fn memory(&mut self, series: Series) -> Result<Option<Memory>, Self::Error>;
    /// Writes a memory, new or changed.
    fn put_memory(&mut self, memory: &Memory) -> Result<(), Self::Error>;
    /// Forgets a series.
    fn remove_memory(&mut self, series: Series) -> Result<(), Self::Error>;
    /// Returns the memory with the smallest (`until`, series) of those under which nothing is held
    /// (`open` is 0).
    fn first_memory(&mut self) -> Result<Option<Memory>, Self::Error>;

    /// Takes out the free range with the lowest first slot.
    fn pop_free_slots(&mut self) -> Result<Option<(u32, u32)>, Self::Error>;
    /// Puts in a range of free slots. Ranges never overlap; they are not joined.
    fn push_free_slots(&mut self, first: u32, last: u32) -> Result<(), Self::Error>;
    /// Returns the free ranges that begin below a slot, ascending. The ledger asks only at a name
    /// whose slots have names, and about a slot up to their number.
    fn free_slots_below(&mut self, slot: u32) -> Result<Vec<(u32, u32)>, Self::Error>;
    /// Takes out the free range that begins with this slot.
    fn remove_free_slots(&mut self, first: u32, last: u32) -> Result<(), Self::Error>;
    /// Drops all free ranges, because nobody holds anything.
    fn clear_free_slots(&mut self) -> Result<(), Self::Error>;
}
