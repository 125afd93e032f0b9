//! Reads facts back, one after the other. A fact that contradicts itself is damage.

use seinpaal_proto::{
    Cause, Entry, Fence, Head, Inbox, Kind, Lease, LeaseId, Memory, MemoryState, ReadHead,
    RecentHolds, Series, SlotNames, Slots, Standing, State, Ticket, time::Micros,
};

use super::{CAUSES, FREE, HEAD, HOLDER, LEASE, MEMORY, WAITER, WISHER};
use crate::packed::bytes::{Damaged, Unpacker};

/// Puts one fact into a state.
pub fn repeat_fact(
    fact: u8,
    from: &mut Unpacker<'_>,
    state: &mut MemoryState,
) -> Result<(), Damaged> {
    let Ok(()) = match fact {
        HEAD => state.set_head(&take_head(from)?),
        LEASE => state.put_lease(&take_lease(from)?),
        HOLDER => state.put_entry(&take_entry(from, take_holding)?),
        WAITER => state.put_entry(&take_entry(from, |from| take_waiting(from, Slots::none()))?),
        WISHER => {
            let wishes = take_slots(from)?;
            state.put_entry(&take_entry(from, |from| take_waiting(from, wishes))?)
        }
        MEMORY => state.put_memory(&take_memory(from)?),
        FREE => {
            let (first, last) = take_range(from)?;
            state.push_free_slots(first, last)
        }
        _ => return Err(Damaged),
    };
    Ok(())
}

/// Refuses a value out of range, which Seinpaal did not write.
pub fn sound<T>(read: T, is_sound: impl FnOnce(&T) -> bool) -> Result<T, Damaged> {
    if is_sound(&read) { Ok(read) } else { Err(Damaged) }
}

fn take_head(from: &mut Unpacker<'_>) -> Result<Head, Damaged> {
    sound(Head::read(from)?, Head::is_sound)
}

impl ReadHead for Unpacker<'_> {
    type Error = Damaged;

    fn kind(&mut self) -> Result<Option<Kind>, Damaged> {
        match self.byte()? {
            0 => Ok(None),
            letter => Kind::of_letter(letter.into()).map(Some).ok_or(Damaged),
        }
    }

    fn limit(&mut self) -> Result<Option<u32>, Damaged> {
        let limit = self.number()?.checked_sub(1).map(u32::try_from).transpose();
        limit.map_err(|_| Damaged)
    }

    fn names(&mut self) -> Result<SlotNames, Damaged> {
        Unpacker::text(self)?.parse().map_err(|_| Damaged)
    }

    fn text(&mut self) -> Result<Option<String>, Damaged> {
        if self.byte()? != 0 { Unpacker::text(self).map(Some) } else { Ok(None) }
    }

    fn instant(&mut self) -> Result<Micros, Damaged> {
        Unpacker::instant(self)
    }

    fn span(&mut self) -> Result<Micros, Damaged> {
        self.number()
    }

    fn count(&mut self) -> Result<u32, Damaged> {
        self.small()
    }

    fn client(&mut self) -> Result<Option<Inbox>, Damaged> {
        Ok(self.maybe_id()?.map(Inbox))
    }

    fn holds(&mut self) -> Result<RecentHolds, Damaged> {
        self.number().map(RecentHolds::from_bits)
    }
}

fn take_lease(from: &mut Unpacker<'_>) -> Result<Lease, Damaged> {
    let lease = Lease {
        id: LeaseId(from.id()?),
        inbox: from.maybe_id()?.map(Inbox),
        ttl: from.number()?,
        ends: from.instant()?,
        ends_wall: from.instant()?,
        members: from.small()?,
        digest: from.number()?,
        parked: from.small()?,
    };
    sound(lease, Lease::is_sound)
}

fn take_entry<'a>(
    from: &mut Unpacker<'a>,
    standing: impl FnOnce(&mut Unpacker<'a>) -> Result<Standing, Damaged>,
) -> Result<Entry, Damaged> {
    let entry = Entry {
        ticket: Ticket(from.id()?),
        lease: LeaseId(from.id()?),
        inbox: from.maybe_id()?.map(Inbox),
        permits: from.small()?,
        ttl: from.number()?,
        since: from.instant()?,
        about: from.text()?,
        standing: standing(from)?,
    };
    sound(entry, Entry::is_sound)
}

fn take_holding(from: &mut Unpacker<'_>) -> Result<Standing, Damaged> {
    Ok(Standing::Holding { fence: Fence(from.instant()?), slots: take_slots(from)? })
}

fn take_waiting(from: &mut Unpacker<'_>, wishes: Slots) -> Result<Standing, Damaged> {
    Ok(Standing::Waiting {
        rank: from.signed()?.wrapping_add(from.at() as i64),
        priority: i8::try_from(from.signed()?).map_err(|_| Damaged)?,
        lease: LeaseId(from.id()?),
        margin: from.number()?,
        wishes,
        parked: from.byte()? != 0,
    })
}

pub fn take_slots(from: &mut Unpacker<'_>) -> Result<Slots, Damaged> {
    let mut slots = Slots::none();
    let mut above = 0;
    for _ in 0..from.number()? {
        let (first, last) = take_range(from)?;
        if first < above {
            return Err(Damaged);
        }
        slots.insert(first, last);
        above = last + 1;
    }
    Ok(slots)
}

/// Reads a range of slots. No slot has the number `u32::MAX`.
fn take_range(from: &mut Unpacker<'_>) -> Result<(u32, u32), Damaged> {
    let (first, more) = (from.small()?, from.small()?);
    let last = first.checked_add(more).ok_or(Damaged)?;
    sound((first, last), |(_, last)| *last < u32::MAX)
}

fn take_memory(from: &mut Unpacker<'_>) -> Result<Memory, Damaged> {
    let mut memory = Memory::new(Series(from.id()?));
    (memory.last, memory.until, memory.open) = (from.small()?, from.instant()?, from.small()?);
    // At most one more end is read than is sound. So a damaged count costs little, and the check
    // still sees it.
    for _ in 0..from.number()?.min(Memory::MOST_ENDS as u64 + 1) {
        memory.ends.push((from.small()?, take_cause(from)?));
    }
    sound(memory, Memory::is_sound)
}

pub fn take_cause(from: &mut Unpacker<'_>) -> Result<Cause, Damaged> {
    CAUSES.get(usize::from(from.byte()?)).copied().ok_or(Damaged)
}
