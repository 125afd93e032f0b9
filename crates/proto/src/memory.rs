//! A name's state in ordinary maps.

mod check;
mod fingerprint;
mod rows;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use core::convert::Infallible;

use crate::{
    id::{Fence, Inbox, LeaseId, Series, Ticket},
    state::{Entry, Head, Lease, Memory, Standing, State},
    time::Micros,
};

/// One name's state in B-trees. The memory store keeps it, and tests compare the other stores with
/// it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct MemoryState {
    head: Option<Head>,
    leases: BTreeMap<LeaseId, Lease>,
    by_end: BTreeSet<(Micros, LeaseId)>,
    by_wall: BTreeSet<(Micros, LeaseId)>,
    entries: BTreeMap<Ticket, Entry>,
    members: BTreeSet<(LeaseId, Ticket)>,
    grants: BTreeSet<(Fence, Ticket)>,
    queue: BTreeSet<(i64, Ticket)>,
    parked: BTreeSet<(i64, Ticket)>,
    memories: BTreeMap<Series, Memory>,
    memories_by_end: BTreeSet<(Micros, Series)>,
    free: BTreeSet<(u32, u32)>,
}

type Kept<T> = Result<T, Infallible>;

impl MemoryState {
    /// Returns whether nothing is stored of the name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// Returns whether nobody holds or waits.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.entries.is_empty()
    }

    /// Lets every lease of a client that is gone end in the next settling. Returns whether the
    /// client had any.
    pub fn end_leases_of(&mut self, inbox: Inbox) -> bool {
        let of_inbox = |lease: &&mut Lease| lease.inbox == Some(inbox);
        let mut any = false;
        for lease in self.leases.values_mut().filter(of_inbox) {
            self.by_end.remove(&(lease.ends, lease.id));
            self.by_wall.remove(&(lease.ends_wall, lease.id));
            (lease.ends, lease.ends_wall) = (0, 0);
            self.by_end.insert((0, lease.id));
            self.by_wall.insert((0, lease.id));
            any = true;
        }
        any
    }

    fn take_entry(&mut self, ticket: Ticket) {
        let Some(entry) = self.entries.remove(&ticket) else { return };
        self.members.remove(&(entry.lease, ticket));
        match entry.standing {
            Standing::Holding { fence, .. } => self.grants.remove(&(fence, ticket)),
            Standing::Waiting { rank, parked: true, .. } => self.parked.remove(&(rank, ticket)),
            Standing::Waiting { rank, parked: false, .. } => self.queue.remove(&(rank, ticket)),
        };
    }

    fn take_lease(&mut self, id: LeaseId) {
        if let Some(lease) = self.leases.remove(&id) {
            self.by_end.remove(&(lease.ends, id));
            self.by_wall.remove(&(lease.ends_wall, id));
        }
    }

    fn list<'a, K: 'a>(
        &self,
        order: impl Iterator<Item = &'a (K, Ticket)>,
        rows: u32,
    ) -> Vec<Entry> {
        order
            .take(rows as usize)
            .filter_map(|(_, ticket)| self.entries.get(ticket).cloned())
            .collect()
    }
}

impl State for MemoryState {
    type Error = Infallible;

    fn head(&mut self) -> Kept<Head> {
        Ok(self.head.clone().unwrap_or_default())
    }

    fn set_head(&mut self, head: &Head) -> Kept<()> {
        self.head = Some(head.clone());
        Ok(())
    }

    fn clear(&mut self) -> Kept<()> {
        *self = Self::default();
        Ok(())
    }

    fn lease(&mut self, id: LeaseId) -> Kept<Option<Lease>> {
        Ok(self.leases.get(&id).cloned())
    }

    fn put_lease(&mut self, lease: &Lease) -> Kept<()> {
        self.take_lease(lease.id);
        self.by_end.insert((lease.ends, lease.id));
        self.by_wall.insert((lease.ends_wall, lease.id));
        self.leases.insert(lease.id, lease.clone());
        Ok(())
    }

    fn remove_lease(&mut self, id: LeaseId) -> Kept<()> {
        self.take_lease(id);
        Ok(())
    }

    fn first_lease_by_end(&mut self) -> Kept<Option<Lease>> {
        Ok(self.by_end.first().and_then(|(_, id)| self.leases.get(id).cloned()))
    }

    fn first_lease_by_wall(&mut self) -> Kept<Option<Lease>> {
        Ok(self.by_wall.first().and_then(|(_, id)| self.leases.get(id).cloned()))
    }

    fn entry(&mut self, ticket: Ticket) -> Kept<Option<Entry>> {
        Ok(self.entries.get(&ticket).cloned())
    }

    fn put_entry(&mut self, entry: &Entry) -> Kept<()> {
        let ticket = entry.ticket;
        self.take_entry(ticket);
        self.members.insert((entry.lease, ticket));
        match entry.standing {
            Standing::Holding { fence, .. } => self.grants.insert((fence, ticket)),
            Standing::Waiting { rank, parked: true, .. } => self.parked.insert((rank, ticket)),
            Standing::Waiting { rank, parked: false, .. } => self.queue.insert((rank, ticket)),
        };
        self.entries.insert(ticket, entry.clone());
        Ok(())
    }

    fn remove_entry(&mut self, ticket: Ticket) -> Kept<()> {
        self.take_entry(ticket);
        Ok(())
    }

    fn first_member(&mut self, lease: LeaseId) -> Kept<Option<Entry>> {
        let first = self.members.range((lease, Ticket(0))..).next();
        Ok(first.filter(|m| m.0 == lease).and_then(|(_, ticket)| self.entries.get(ticket).cloned()))
    }

    fn first_waiter(&mut self) -> Kept<Option<Entry>> {
        Ok(self.queue.first().and_then(|(_, ticket)| self.entries.get(ticket).cloned()))
    }

    fn holders(&mut self, rows: u32) -> Kept<Vec<Entry>> {
        Ok(self.list(self.grants.iter(), rows))
    }

    fn waiters(&mut self, rows: u32) -> Kept<Vec<Entry>> {
        Ok(self.list(self.queue.iter().chain(&self.parked), rows))
    }

    fn position(&mut self, waiter: &Entry) -> Kept<u32> {
        let Standing::Waiting { rank, .. } = waiter.standing else { return Ok(0) };
        let before = self.queue.range(..(rank, waiter.ticket)).count();
        Ok(u32::try_from(before + 1).unwrap_or(u32::MAX))
    }

    fn memory(&mut self, series: Series) -> Kept<Option<Memory>> {
        Ok(self.memories.get(&series).cloned())
    }

    fn put_memory(&mut self, memory: &Memory) -> Kept<()> {
        self.remove_memory(memory.series)?;
        if memory.open == 0 {
            self.memories_by_end.insert((memory.until, memory.series));
        }
        self.memories.insert(memory.series, memory.clone());
        Ok(())
    }

    fn remove_memory(&mut self, series: Series) -> Kept<()> {
        if let Some(memory) = self.memories.remove(&series) {
            self.memories_by_end.remove(&(memory.until, series));
        }
        Ok(())
    }

    fn first_memory(&mut self) -> Kept<Option<Memory>> {
        let first = self.memories_by_end.first();
        Ok(first.and_then(|(_, series)| self.memories.get(series).cloned()))
    }

    fn pop_free_slots(&mut self) -> Kept<Option<(u32, u32)>> {
        Ok(self.free.pop_first())
    }

    fn push_free_slots(&mut self, first: u32, last: u32) -> Kept<()> {
        self.free.insert((first, last));
        Ok(())
    }

    fn free_slots_below(&mut self, slot: u32) -> Kept<Vec<(u32, u32)>> {
        Ok(self.free.range(..(slot, 0)).copied().collect())
    }

    fn remove_free_slots(&mut self, first: u32, last: u32) -> Kept<()> {
        self.free.remove(&(first, last));
        Ok(())
    }

    fn clear_free_slots(&mut self) -> Kept<()> {
        self.free.clear();
        Ok(())
    }
}
