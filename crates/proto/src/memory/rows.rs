//! Iterators over all parts of a state, for stores that keep it packed.

use super::MemoryState;
use crate::state::{Entry, Lease, Memory};

impl MemoryState {
    /// Returns every lease, in order of id.
    pub fn leases(&self) -> impl Iterator<Item = &Lease> {
        self.leases.values()
    }

    /// Returns every ticket that holds or waits, in order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// Returns the memory of every series, in order.
    pub fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.memories.values()
    }

    /// Returns the memories of series under which nothing is held. Those that are forgotten first
    /// come first.
    pub fn closed_memories(&self) -> impl Iterator<Item = &Memory> {
        self.memories_by_end.iter().filter_map(|(_, series)| self.memories.get(series))
    }

    /// Returns every range of free slots, in order.
    pub fn free_slots(&self) -> impl Iterator<Item = (u32, u32)> {
        self.free.iter().copied()
    }

    /// Returns the waiters in the order of service, without those that are passed over.
    pub fn line(&self) -> impl Iterator<Item = &Entry> {
        self.queue.iter().filter_map(|(_, ticket)| self.entries.get(ticket))
    }
}
