//! The part of a name's state that can still make a difference.

use core::hash::{Hash, Hasher};

use super::MemoryState;
use crate::{
    fingerprint::Lens,
    head::Field,
    id::{Fence, Ticket},
    state::{Entry, Head, Lease, Memory, Standing},
};

impl MemoryState {
    /// Feeds to `hasher` all facts on which the ledger's later steps depend, with instants relative
    /// to `store`, the store's clock. Ranks count by their order only, so all waiters must have the
    /// same priority.
    pub fn fingerprint<H: Hasher>(&self, store: &Lens, hasher: &mut H) {
        // The orders (`by_end`, `members`, `grants`…) follow from the rest; `check` proves it.
        let Some(head) = &self.head else { return 0_u8.hash(hasher) };
        let clock = store.on(head.clock);
        head_of(head, store, &clock, hasher);
        for lease in self.leases.values() {
            lease_of(lease, store, &clock, hasher);
        }
        for entry in self.entries.values() {
            entry_of(entry, store, hasher);
        }
        for (_, ticket) in self.queue.iter().chain(&self.parked) {
            ticket.hash(hasher);
        }
        for memory in self.memories.values() {
            // The number of tickets of the series that hold follows from the entries.
            let Memory { series, last, until, ends, .. } = memory;
            (series, last, clock.exact(*until), ends).hash(hasher);
        }
        self.free.hash(hasher);
    }

    /// Returns the lease that this ticket stands under; `None` if the name has no such ticket.
    #[must_use]
    pub fn lease_under(&self, ticket: Ticket) -> Option<&Lease> {
        let entry = self.entries.get(&ticket)?;
        self.leases.get(&entry.lease)
    }

    /// Returns the facts of the name that are not lists; `None` if nothing is stored of the name.
    #[must_use]
    pub fn facts(&self) -> Option<&Head> {
        self.head.as_ref()
    }
}

fn head_of<H: Hasher>(head: &Head, store: &Lens, clock: &Lens, hasher: &mut H) {
    for (_, field) in head.fields() {
        match field {
            Field::Kind(kind) => kind.hash(hasher),
            Field::Limit(limit) => limit.hash(hasher),
            Field::Names(names) => names.hash(hasher),
            Field::Text(text) => text.is_some().hash(hasher),
            Field::LedgerTime(at) => clock.exact(at).hash(hasher),
            Field::StoreTime(at) | Field::Alarm(at) => store.exact(at).hash(hasher),
            Field::Fence(fence) => store.fence(Fence(fence)).hash(hasher),
            Field::Span(span) => span.hash(hasher),
            Field::Permits(count) | Field::Rows(count) => count.hash(hasher),
            Field::Client(inbox) => inbox.hash(hasher),
            Field::Holds(_) => {} // For display, like `since` of an entry.
        }
    }
}

fn lease_of<H: Hasher>(lease: &Lease, store: &Lens, clock: &Lens, hasher: &mut H) {
    // Members, digest and parked follow from the entries.
    let Lease { id, inbox, ttl, ends, ends_wall, .. } = lease;
    (id, inbox, ttl, clock.exact(*ends), store.exact(*ends_wall)).hash(hasher);
}

fn entry_of<H: Hasher>(entry: &Entry, store: &Lens, hasher: &mut H) {
    // `since` and `about` are for display.
    let Entry { ticket, lease, inbox, permits, ttl, standing, .. } = entry;
    (ticket, lease, inbox, permits, ttl).hash(hasher);
    match standing {
        Standing::Holding { fence, slots } => (0_u8, store.fence(*fence), slots).hash(hasher),
        Standing::Waiting { lease, margin, wishes, parked, .. } => {
            (1_u8, lease, margin, wishes, parked).hash(hasher);
        }
    }
}
