//! The state of a copy while a batch is executed on it. It records the writes of the ledger.

use std::{collections::BTreeSet, convert::Infallible};

use seinpaal_proto::{
    Entry, Head, Inbox, Lease, LeaseId, Memory, MemoryState, Series, State, Ticket,
};

use super::write::{
    CLEAR, FREE_TAKEN, LOWEST_FREE_TAKEN, NO_ENTRY, NO_LEASE, NO_MEMORY, NOTHING_FREE,
};
use seinpaal_store::packed::{Packer, put_entry, put_free, put_head, put_lease, put_memory};

/// A state that records the writes to it.
pub(super) struct Recorder<'a> {
    pub(super) state: &'a mut MemoryState,
    pub(super) packer: Packer,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(state: &'a mut MemoryState, at: u64) -> Self {
        Self { state, packer: Packer::new(at) }
    }
}

type Kept<T> = Result<T, Infallible>;

impl State for Recorder<'_> {
    type Error = Infallible;

    fn head(&mut self) -> Kept<Head> {
        self.state.head()
    }

    fn set_head(&mut self, head: &Head) -> Kept<()> {
        put_head(&mut self.packer, head);
        self.state.set_head(head)
    }

    fn clear(&mut self) -> Kept<()> {
        self.packer.byte(CLEAR);
        self.state.clear()
    }

    fn lease(&mut self, id: LeaseId) -> Kept<Option<Lease>> {
        self.state.lease(id)
    }

    fn put_lease(&mut self, lease: &Lease) -> Kept<()> {
        put_lease(&mut self.packer, lease);
        self.state.put_lease(lease)
    }

    fn remove_lease(&mut self, id: LeaseId) -> Kept<()> {
        self.packer.byte(NO_LEASE);
        self.packer.id(id.0);
        self.state.remove_lease(id)
    }

    fn first_lease_by_end(&mut self) -> Kept<Option<Lease>> {
        self.state.first_lease_by_end()
    }

    fn first_lease_by_wall(&mut self) -> Kept<Option<Lease>> {
        self.state.first_lease_by_wall()
    }

    fn entry(&mut self, ticket: Ticket) -> Kept<Option<Entry>> {
        self.state.entry(ticket)
    }

    fn put_entry(&mut self, entry: &Entry) -> Kept<()> {
        put_entry(&mut self.packer, entry);
        self.state.put_entry(entry)
    }

    fn remove_entry(&mut self, ticket: Ticket) -> Kept<()> {
        self.packer.byte(NO_ENTRY);
        self.packer.id(ticket.0);
        self.state.remove_entry(ticket)
    }

    fn first_member(&mut self, lease: LeaseId) -> Kept<Option<Entry>> {
        self.state.first_member(lease)
    }

    fn first_waiter(&mut self) -> Kept<Option<Entry>> {
        self.state.first_waiter()
    }

    fn holders(&mut self, rows: u32) -> Kept<Vec<Entry>> {
        self.state.holders(rows)
    }

    fn waiters(&mut self, rows: u32) -> Kept<Vec<Entry>> {
        self.state.waiters(rows)
    }

    fn position(&mut self, waiter: &Entry) -> Kept<u32> {
        self.state.position(waiter)
    }

    fn memory(&mut self, series: Series) -> Kept<Option<Memory>> {
        self.state.memory(series)
    }

    fn put_memory(&mut self, memory: &Memory) -> Kept<()> {
        put_memory(&mut self.packer, memory);
        self.state.put_memory(memory)
    }

    fn remove_memory(&mut self, series: Series) -> Kept<()> {
        self.packer.byte(NO_MEMORY);
        self.packer.id(series.0);
        self.state.remove_memory(series)
    }

    fn first_memory(&mut self) -> Kept<Option<Memory>> {
        self.state.first_memory()
    }

    fn pop_free_slots(&mut self) -> Kept<Option<(u32, u32)>> {
        self.packer.byte(LOWEST_FREE_TAKEN);
        self.state.pop_free_slots()
    }

    fn push_free_slots(&mut self, first: u32, last: u32) -> Kept<()> {
        put_free(&mut self.packer, first, last);
        self.state.push_free_slots(first, last)
    }

    fn free_slots_below(&mut self, slot: u32) -> Kept<Vec<(u32, u32)>> {
        self.state.free_slots_below(slot)
    }

    fn remove_free_slots(&mut self, first: u32, last: u32) -> Kept<()> {
        self.packer.byte(FREE_TAKEN);
        self.packer.number(first.into());
        self.packer.number(last.into());
        self.state.remove_free_slots(first, last)
    }

    fn clear_free_slots(&mut self) -> Kept<()> {
        self.packer.byte(NOTHING_FREE);
        self.state.clear_free_slots()
    }
}

impl Recorder<'_> {
    /// Lets the leases of clients that are gone end when the ledger next settles.
    pub(super) fn end_leases_of(&mut self, gone: &BTreeSet<Inbox>) {
        let is_over = |lease: &&Lease| lease.inbox.is_some_and(|inbox| gone.contains(&inbox));
        let over: Vec<Lease> = self.state.leases().filter(is_over).cloned().collect();
        for lease in over {
            let Ok(()) = self.put_lease(&Lease { ends: 0, ends_wall: 0, ..lease });
        }
    }
}
