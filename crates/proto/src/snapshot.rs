//! The answer of a store about the holders and waiters of a name.

use alloc::{string::String, vec::Vec};

use crate::{
    id::{Fence, Ticket},
    kind::Kind,
    recent_holds::RecentHolds,
    slot_names::SlotNames,
    slots::Slots,
    time::Micros,
};

/// Everything about a name at one moment.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Snapshot {
    /// The kind of lock, while anybody holds or waits or the limit is pinned.
    pub kind: Option<Kind>,
    /// The limit in force.
    pub limit: u32,
    /// The limit that holders and waiters stated, which may be an implied 1.
    pub stated: Option<u32>,
    /// The limit that an operator pinned.
    pub pinned: Option<u32>,
    /// The reason of the pause, if the name is paused.
    pub paused: Option<String>,
    /// For how long the store admits nobody because it may have forgotten leases.
    pub guarded_for: Option<Micros>,
    /// The names of the slots from 0 up; none if the slots have no names. There are as many names
    /// as the limit.
    pub slot_names: SlotNames,
    /// Permits held.
    pub held: u32,
    /// Tickets that hold.
    pub holders_total: u32,
    /// Tickets that wait.
    pub waiting_total: u32,
    /// How long the last holds took.
    pub recent: RecentHolds,
    /// The holders, in order of their grants; at most as many as were asked for.
    pub holders: Vec<HolderRow>,
    /// The waiters in the order in which they will be served; at most as many as were asked for.
    /// Waiters that are passed over because nobody listens at their inbox come last.
    pub waiters: Vec<WaiterRow>,
}

impl Snapshot {
    /// Returns whether a list of names has this one: somebody holds or waits, or an operator has
    /// pinned or paused something. Stores remember a name for a while after its last use, and a
    /// name that is only remembered is in no list.
    #[must_use]
    pub fn is_worth_listing(&self) -> bool {
        self.holders_total > 0
            || self.waiting_total > 0
            || self.pinned.is_some()
            || self.paused.is_some()
    }
}

/// A holder, as a snapshot shows it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct HolderRow {
    /// The ticket.
    pub ticket: Ticket,
    /// The slots, as many as permits.
    pub slots: Slots,
    /// The number of its grant.
    pub fence: Fence,
    /// How long it has held.
    pub held_for: Micros,
    /// How long its lease is still valid; `None`: for as long as its process lives.
    pub valid_for: Option<Micros>,
    /// The holder's description of itself, [encoded](crate::About::encode).
    pub about: String,
}

/// A waiter, as a snapshot shows it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct WaiterRow {
    /// The ticket.
    pub ticket: Ticket,
    /// How many permits it waits for.
    pub permits: u32,
    /// The slots that it must get among its slots.
    pub wishes: Slots,
    /// The priority.
    pub priority: i8,
    /// How long it has waited.
    pub waiting_for: Micros,
    /// Whether it is passed over because nobody listens at its inbox.
    pub unreachable: bool,
    /// The waiter's description of itself, [encoded](crate::About::encode).
    pub about: String,
}
