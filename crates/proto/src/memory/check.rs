//! Checks that the parts of a state agree with each other (rule 2).

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use super::MemoryState;
use crate::{
    id::{LeaseId, Series},
    request::DIGEST_MASK,
    state::{Entry, Head, Standing},
};

type Checked = Result<(), String>;

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(what()) }
}

impl MemoryState {
    /// Checks that every index and every total agrees with the tickets and leases that it is
    /// derived from. The cost grows with the size of the state; this is for tests.
    ///
    /// # Errors
    /// The first disagreement found.
    pub fn check(&self) -> Result<(), String> {
        let nothing = Head::default();
        let head = self.head.as_ref().unwrap_or(&nothing);
        self.check_orders()?;
        self.check_leases()?;
        self.check_totals(head)?;
        self.check_slots(head)?;
        self.check_memories()?;
        self.check_wishes(head)?;
        self.check_rest(head)
    }

    fn check_orders(&self) -> Checked {
        let (mut grants, mut queue) = (BTreeSet::new(), BTreeSet::new());
        let (mut parked, mut members) = (BTreeSet::new(), BTreeSet::new());
        for (ticket, entry) in &self.entries {
            members.insert((entry.lease, *ticket));
            match entry.standing {
                Standing::Holding { fence, .. } => grants.insert((fence, *ticket)),
                Standing::Waiting { rank, parked: true, .. } => parked.insert((rank, *ticket)),
                Standing::Waiting { rank, .. } => queue.insert((rank, *ticket)),
            };
        }
        ensure(members == self.members, || format!("members: {:?}", self.members))?;
        ensure(grants == self.grants, || format!("grants: {:?}", self.grants))?;
        ensure(queue == self.queue, || format!("queue: {:?}", self.queue))?;
        ensure(parked == self.parked, || format!("parked: {:?}", self.parked))
    }

    fn check_leases(&self) -> Checked {
        let by_end: BTreeSet<_> = self.leases.values().map(|l| (l.ends, l.id)).collect();
        let by_wall: BTreeSet<_> = self.leases.values().map(|l| (l.ends_wall, l.id)).collect();
        ensure(by_end == self.by_end, || format!("leases by end: {:?}", self.by_end))?;
        ensure(by_wall == self.by_wall, || format!("leases by wall: {:?}", self.by_wall))?;
        let mut sums: BTreeMap<LeaseId, (u32, u64, u32)> = BTreeMap::new();
        for entry in self.entries.values() {
            let sum = sums.entry(entry.lease).or_default();
            sum.0 += 1;
            sum.1 = (sum.1 + entry.ticket.digest()) & DIGEST_MASK;
            sum.2 += u32::from(entry.is_parked());
        }
        let kept = self.leases.iter().map(|(id, l)| (*id, (l.members, l.digest, l.parked)));
        ensure(sums.iter().map(|(id, sum)| (*id, *sum)).eq(kept), || {
            format!("leases {:?} over {sums:?}", self.leases)
        })
    }

    fn check_totals(&self, head: &Head) -> Checked {
        let held: u32 = self.entries.values().filter(holds).map(|entry| entry.permits).sum();
        let holders = self.grants.len() as u32;
        let waiting = (self.queue.len() + self.parked.len()) as u32;
        let past = self.memories.len() as u32;
        ensure(
            (held, holders, waiting, past) == (head.held, head.holders, head.waiting, head.past),
            || {
                format!(
                    "the head counts {} permits held by {} holders, {} in line and {} remembered, and the records have \
                     {held}, {holders}, {waiting} and {past}",
                    head.held, head.holders, head.waiting, head.past
                )
            },
        )
    }

    /// Checks that held and free slots together cover the slots below the top exactly once.
    fn check_slots(&self, head: &Head) -> Checked {
        let mut ranges: Vec<(u32, u32)> = self.free.iter().copied().collect();
        for entry in self.entries.values() {
            if let Standing::Holding { slots, .. } = &entry.standing {
                ensure(slots.count() == entry.permits, || format!("slots of {entry:?}"))?;
                ranges.extend(slots.ranges());
            }
        }
        ranges.sort_unstable();
        let next = ranges.iter().try_fold(0, |next, r| (r.0 == next).then_some(r.1 + 1));
        ensure(next == Some(head.top), || format!("slots below {}: {ranges:?}", head.top))
    }

    /// Checks that waiters wish only for slots that have names.
    fn check_wishes(&self, head: &Head) -> Checked {
        ensure(head.is_sound(), || format!("{head:?}"))?;
        for entry in self.entries.values() {
            if let Standing::Waiting { wishes, .. } = &entry.standing {
                let is_there =
                    wishes.ranges().last().is_none_or(|last| last.1 < head.names.count());
                ensure(is_there && entry.is_sound(), || format!("wishes of {entry:?}: {head:?}"))?;
            }
        }
        Ok(())
    }

    fn check_memories(&self) -> Checked {
        let closed = self.memories.values().filter(|memory| memory.open == 0);
        let by_end: BTreeSet<_> = closed.map(|memory| (memory.until, memory.series)).collect();
        ensure(by_end == self.memories_by_end, || {
            format!("memories by end: {:?}", self.memories_by_end)
        })?;
        let mut open: BTreeMap<Series, (u32, u32)> = BTreeMap::new();
        for entry in self.entries.values().filter(holds) {
            let sum = open.entry(entry.ticket.series()).or_default();
            *sum = (sum.0 + 1, sum.1.max(entry.ticket.number()));
        }
        for memory in self.memories.values() {
            let (held, most) = open.remove(&memory.series).unwrap_or_default();
            ensure(memory.is_sound() && held == memory.open && most <= memory.last, || {
                format!("{memory:?} over {held} held up to {most}")
            })?;
            let mut ends = memory.ends.iter().map(|(number, _)| memory.series.ticket(*number));
            let twice = ends.find(|ticket| self.entries.contains_key(ticket));
            ensure(twice.is_none(), || format!("here and over: {twice:?}"))?;
        }
        ensure(open.is_empty(), || format!("held and not remembered: {open:?}"))
    }

    fn check_rest(&self, head: &Head) -> Checked {
        let nothing = self.entries.is_empty() && self.memories.is_empty();
        // The store's clock at the last operation is in the head.
        let is_kept = head.pinned.is_some() || head.paused.is_some() || head.owes_fence(head.wall);
        let is_stated = head.stated.is_some() || (head.kind.is_some() && head.pinned.is_none());
        ensure(!is_stated || !self.entries.is_empty(), || format!("stated by nobody: {head:?}"))?;
        ensure(self.is_empty() || !nothing || is_kept, || format!("left behind: {head:?}"))
    }
}

fn holds(entry: &&Entry) -> bool {
    matches!(entry.standing, Standing::Holding { .. })
}
