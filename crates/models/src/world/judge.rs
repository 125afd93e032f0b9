//! Whether one step of the ledger kept the rules.

use seinpaal_proto::{
    Batch, Contact, Entry, Head, Lease, MemoryState, Standing, Ticket, time::Micros,
};

use super::{Client, Ghost};
use crate::bounds::Bounds;

/// Which rule was broken.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Broken {
    /// The ledger contradicts itself.
    Books,
    /// More than the limit is held by the ledger.
    Held,
    /// More than the limit is held as clients believe.
    Believed,
    /// A fence was not greater than all before.
    Fence,
    /// A ticket was granted twice.
    Twice,
    /// Somebody shortened or ended another's lease.
    Shortened,
    /// Somebody was served before one who came first and could be reached.
    Order,
}

/// A step of the ledger.
pub(super) struct Step<'a> {
    pub(super) before: &'a MemoryState,
    pub(super) after: &'a MemoryState,
    pub(super) batch: &'a Batch,
}

impl Step<'_> {
    pub(super) fn judge(
        &self,
        bounds: &Bounds,
        store_now: Micros,
        clients: &[Client],
        ghost: &mut Ghost,
    ) -> Option<Broken> {
        let is_excused = ghost.was_forgotten && ghost.was_set_back && !bounds.is_strict;
        if is_excused && self.before.is_empty() {
            // It takes its fences from the clock, and from what who asks has heard (docs/guarantees.md).
            ghost.last_fence = ghost.last_fence.min(self.batch.fence_seen);
        }
        if bounds.steps_back > 0 && self.after.is_empty() && !self.before.is_empty() {
            ghost.was_forgotten = store_now > ghost.last_fence;
        }
        let held: u32 =
            self.after.entries().filter(|e| holds(e).is_some()).map(|e| e.permits).sum();
        let mut grants = self.grants();
        grants.sort_unstable();
        for (fence, ticket) in &grants {
            if *fence <= ghost.last_fence {
                return Some(Broken::Fence);
            }
            ghost.last_fence = *fence;
            // A request's deadline is on the store's clock, and moves with it.
            let is_excused = ghost.was_set_back && !bounds.is_strict;
            if !ghost.granted.insert(*ticket) && !is_excused {
                return Some(Broken::Twice);
            }
        }
        let broken = [
            (held > bounds.limit, Broken::Held),
            (self.after.check().is_err(), Broken::Books),
            (self.shortens(store_now, clients), Broken::Shortened),
            (self.passes(&grants), Broken::Order),
        ];
        broken.into_iter().find_map(|(is_broken, rule)| is_broken.then_some(rule))
    }

    /// Who holds now and did not before.
    fn grants(&self) -> Vec<(u64, Ticket)> {
        let held_before =
            |ticket| self.before.entries().any(|e| e.ticket == ticket && holds(e).is_some());
        let held = self.after.entries().filter_map(|e| Some((holds(e)?, e.ticket)));
        held.filter(|(_, ticket)| !held_before(*ticket)).collect()
    }

    /// Whether a lease of somebody else than the sender ends earlier than it did, and not because its time
    /// was over.
    fn shortens(&self, store_now: Micros, clients: &[Client]) -> bool {
        let clock = self.before.facts().map_or(0, |head| clock_after(head, store_now));
        let others = |e: &&Entry| holds(e).is_some() && e.inbox != self.batch.inbox;
        self.before.entries().filter(others).any(|entry| {
            let Some(lease) = self.before.lease_under(entry.ticket) else { return true };
            match self.after.lease_under(entry.ticket) {
                Some(after) => after.ends < lease.ends,
                None => !is_over(lease, clock, store_now, clients),
            }
        })
    }

    /// Whether somebody who stood in line before, and still does, was passed by one who came later. Who was
    /// passed over kept its place; whose place ended and who asked again stands at the end.
    fn passes(&self, grants: &[(u64, Ticket)]) -> bool {
        let in_line = |ticket| self.after.line().any(|e| e.ticket == ticket);
        let stays = |ticket: &Ticket| {
            in_line(*ticket) && place(self.before, *ticket) == place(self.after, *ticket)
        };
        let mut line = self.before.line().map(|entry| entry.ticket);
        let Some(first) = line.find(stays) else { return false };
        let first = place(self.before, first);
        grants.iter().any(|(_, ticket)| place(self.before, *ticket) > first)
    }
}

/// Where somebody stands; newcomers stand behind all.
fn place(ledger: &MemoryState, ticket: Ticket) -> (i64, Ticket) {
    let entry = ledger.entries().find(|entry| entry.ticket == ticket);
    match entry.map(|entry| &entry.standing) {
        Some(Standing::Waiting { rank, .. }) => (*rank, ticket),
        _ => (i64::MAX, ticket),
    }
}

fn holds(entry: &Entry) -> Option<u64> {
    match &entry.standing {
        Standing::Holding { fence, .. } => Some(fence.0),
        Standing::Waiting { .. } => None,
    }
}

/// The bounded clock, told a second time.
fn clock_after(head: &Head, store_now: Micros) -> Micros {
    head.clock + store_now.saturating_sub(head.wall).min(head.bound)
}

fn is_over(lease: &Lease, clock: Micros, store_now: Micros, clients: &[Client]) -> bool {
    let owner = clients.iter().find(|client| Some(client.inbox) == lease.inbox);
    let is_silent = owner.is_none_or(|owner| owner.contact != Contact::Listening);
    lease.ends <= clock || (is_silent && lease.ends_wall <= store_now)
}
