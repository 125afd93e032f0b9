//! The facts of a name as bytes, one after the other, each with the number of its kind.

use seinpaal_proto::{
    Cause, Entry, Fence, Field, Head, Inbox, Kind, Lease, LeaseId, Memory, MemoryState, ReadHead,
    Series, SlotNames, Slots, Standing, State, Ticket, time::Micros,
};

use super::bytes::{Damaged, Packer, Unpacker};

const HEAD: u8 = 1;
const LEASE: u8 = 3;
const HOLDER: u8 = 5;
const WAITER: u8 = 6;
const MEMORY: u8 = 8;
const FREE: u8 = 10;
/// A waiter with wishes for some slots.
const WISHER: u8 = 20;

/// All facts of a state.
pub fn pack(state: &mut MemoryState) -> Vec<u8> {
    let Ok(head) = state.head();
    let mut packer = Packer::new(head.wall);
    put_head(&mut packer, &head);
    state.leases().for_each(|lease| put_lease(&mut packer, lease));
    state.entries().for_each(|entry| put_entry(&mut packer, entry));
    state.memories().for_each(|memory| put_memory(&mut packer, memory));
    state.free_slots().for_each(|(first, last)| put_free(&mut packer, first, last));
    packer.into_bytes()
}

/// The state that was packed.
pub fn unpack(packed: &[u8]) -> Result<MemoryState, Damaged> {
    let mut from = Unpacker::new(packed)?;
    let mut state = MemoryState::default();
    while !from.is_empty() {
        let fact = from.byte()?;
        repeat_fact(fact, &mut from, &mut state)?;
    }
    Ok(state)
}

pub fn put_head(packer: &mut Packer, head: &Head) {
    packer.byte(HEAD);
    head.fields().iter().for_each(|(_, field)| put_field(packer, field));
}

fn put_field(packer: &mut Packer, field: &Field<'_>) {
    match *field {
        Field::Kind(kind) => packer.byte(kind.map_or(0, |kind| kind.letter() as u8)),
        Field::Limit(limit) => packer.number(limit.map_or(0, |limit| u64::from(limit) + 1)),
        Field::Names(names) => put_names(packer, names),
        Field::Text(text) => {
            packer.byte(text.is_some().into());
            text.into_iter().for_each(|text| packer.text(text));
        }
        Field::LedgerTime(at) | Field::StoreTime(at) | Field::Alarm(at) | Field::Fence(at) => {
            packer.instant(at);
        }
        Field::Span(span) => packer.number(span),
        Field::Permits(count) | Field::Rows(count) => packer.number(count.into()),
        Field::Client(inbox) => packer.maybe_id(inbox.map(|inbox| inbox.0)),
    }
}

pub fn put_lease(packer: &mut Packer, lease: &Lease) {
    packer.byte(LEASE);
    packer.id(lease.id.0);
    packer.maybe_id(lease.inbox.map(|inbox| inbox.0));
    packer.number(lease.ttl);
    packer.instant(lease.ends);
    packer.instant(lease.ends_wall);
    packer.number(lease.members.into());
    packer.number(lease.digest);
    packer.number(lease.parked.into());
}

pub fn put_entry(packer: &mut Packer, entry: &Entry) {
    match &entry.standing {
        Standing::Holding { .. } => packer.byte(HOLDER),
        Standing::Waiting { wishes, .. } if wishes.is_empty() => packer.byte(WAITER),
        Standing::Waiting { wishes, .. } => {
            packer.byte(WISHER);
            put_slots(packer, wishes);
        }
    }
    packer.id(entry.ticket.0);
    packer.id(entry.lease.0);
    packer.maybe_id(entry.inbox.map(|inbox| inbox.0));
    packer.number(entry.permits.into());
    packer.number(entry.ttl);
    packer.instant(entry.since);
    packer.text(&entry.about);
    match &entry.standing {
        Standing::Holding { fence, slots } => {
            packer.instant(fence.0);
            put_slots(packer, slots);
        }
        Standing::Waiting { rank, priority, lease, margin, parked, wishes: _ } => {
            packer.signed(rank.wrapping_sub(packer.at() as i64));
            packer.signed((*priority).into());
            packer.id(lease.0);
            packer.number(*margin);
            packer.byte((*parked).into());
        }
    }
}

pub fn put_slots(packer: &mut Packer, slots: &Slots) {
    packer.number(slots.ranges().len() as u64);
    for (first, last) in slots.ranges() {
        packer.number((*first).into());
        packer.number((last - first).into());
    }
}

/// As their text.
fn put_names(packer: &mut Packer, names: &SlotNames) {
    packer.text(&names.to_string());
}

pub fn put_memory(packer: &mut Packer, memory: &Memory) {
    packer.byte(MEMORY);
    packer.id(memory.series.0);
    packer.number(memory.last.into());
    packer.instant(memory.until);
    packer.number(memory.open.into());
    packer.number(memory.ends.len() as u64);
    for (number, cause) in &memory.ends {
        packer.number((*number).into());
        put_cause(packer, *cause);
    }
}

pub fn put_free(packer: &mut Packer, first: u32, last: u32) {
    packer.byte(FREE);
    packer.number(first.into());
    packer.number((last - first).into());
}

const CAUSES: [Cause; 6] = [
    Cause::Released,
    Cause::Cancelled,
    Cause::Expired,
    Cause::Evicted,
    Cause::TooMany,
    Cause::Attached,
];

pub fn put_cause(packer: &mut Packer, cause: Cause) {
    packer.byte(cause_number(cause));
}

fn cause_number(cause: Cause) -> u8 {
    CAUSES.iter().position(|known| *known == cause).map_or(u8::MAX, |at| at as u8)
}

pub fn take_cause(from: &mut Unpacker<'_>) -> Result<Cause, Damaged> {
    CAUSES.get(usize::from(from.byte()?)).copied().ok_or(Damaged)
}

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

/// What is out of range was not written by us.
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

/// No slot has the number `u32::MAX`.
fn take_range(from: &mut Unpacker<'_>) -> Result<(u32, u32), Damaged> {
    let (first, more) = (from.small()?, from.small()?);
    let last = first.checked_add(more).ok_or(Damaged)?;
    sound((first, last), |(_, last)| *last < u32::MAX)
}

fn take_memory(from: &mut Unpacker<'_>) -> Result<Memory, Damaged> {
    let mut memory = Memory::new(Series(from.id()?));
    (memory.last, memory.until, memory.open) = (from.small()?, from.instant()?, from.small()?);
    for _ in 0..from.number()?.min(Memory::MOST_ENDS as u64 + 1) {
        memory.ends.push((from.small()?, take_cause(from)?));
    }
    sound(memory, Memory::is_sound)
}
