//! The facts of a name as bytes, one after the other, each with the number of its kind.

mod take;

use seinpaal_proto::{
    Cause, Entry, Field, Head, Lease, Memory, MemoryState, SlotNames, Slots, Standing, State,
};

pub use self::take::{repeat_fact, sound, take_cause, take_slots};
use super::bytes::{Damaged, Packer, Unpacker};

// The numbers in between stand for changes in a log (`crates/zookeeper/src/write.rs`).
const HEAD: u8 = 1;
const LEASE: u8 = 3;
const HOLDER: u8 = 5;
const WAITER: u8 = 6;
const MEMORY: u8 = 8;
const FREE: u8 = 10;
/// A waiter with wishes for some slots.
const WISHER: u8 = 20;

/// Packs all facts of a state.
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

/// Returns the state that was packed.
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
        // A limit can be 0 itself, so each is written as one more, and 0 is none.
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
        Field::Holds(recent) => packer.number(recent.bits()),
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
            // The wishes come before the rest, which is read alike for all waiters.
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
            // A rank follows the clock, so its distance from the clock takes fewer bytes.
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
        // The length of the range is written and not its last slot, because a small number takes
        // fewer bytes.
        packer.number((last - first).into());
    }
}

/// Writes the names in their text form.
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
    match cause {
        Cause::Released => 0,
        Cause::Cancelled => 1,
        Cause::Expired => 2,
        Cause::Evicted => 3,
        Cause::TooMany => 4,
        Cause::Attached => 5,
    }
}
