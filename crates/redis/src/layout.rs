//! How the scripts store a name, read back: for the consistency check of `doctor` and for the test
//! that compares the scripts with the ledger. The format: lua/names/README.md.

use std::collections::{BTreeMap, BTreeSet};

use redis::Value;
use seinpaal_proto::{
    Entry, Fence, Head, Inbox, Kind, Lease, LeaseId, Memory, MemoryState, RecentHolds, Slots,
    Standing, State, Ticket, time::AGING,
};

use super::decode::{Reader, cause};

const VERSION: u8 = 30;
/// Added to ranks in members of the order, whose numbers have no sign.
const RANK_BIAS: i64 = 1_000_000_000;

type Read<T> = Result<T, String>;

/// The stored form of a name: the fields of its hash, and the members of its order.
#[derive(Clone, Debug, Default)]
pub struct StoredName {
    /// The fields.
    pub fields: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The members.
    pub order: BTreeSet<Vec<u8>>,
}

/// The header.
struct Header {
    kind: u8,
    flags: u8,
    limit: u32,
    held: u32,
    holders: u32,
    waiting: u32,
    top: u32,
    clock: u64,
    wall: u64,
    fence: u64,
    bound: u64,
    due: u64,
    /// When the keys end; 0 for never.
    deadline: u64,
    remembered: u64,
    /// The sum of the backward steps of the server's clock.
    shift: u64,
    arrival: u64,
    /// The first waiter's member of the order.
    front: Vec<u8>,
}

/// A record: a lease, the lease of its series' waiters, what is remembered of the series, and rows.
struct Record {
    id: u128,
    inbox: Option<Inbox>,
    ends: u64,
    ends_wall: u64,
    ttl: u64,
    digest: u64,
    members: u32,
    listed: u64,
    memory: Memory,
    waiting: Option<Lease>,
    rows: Vec<Row>,
}

/// A ticket, or the note that it stands under another lease.
enum Row {
    Here(Box<Entry>),
    Elsewhere(Ticket, LeaseId),
}

impl StoredName {
    /// Reads the answer of `lua/names/dump.lua`. `None` if it cannot be read.
    pub(crate) fn of_dump(answer: &Value) -> Option<Self> {
        let Value::Array(parts) = answer else { return None };
        let [fields, order] = &parts[..] else { return parts.is_empty().then(Self::default) };
        Some(Self {
            fields: redis::from_redis_value_ref(fields).ok()?,
            order: redis::from_redis_value_ref::<Vec<Vec<u8>>>(order).ok()?.into_iter().collect(),
        })
    }

    /// Reads the state of a ledger from the stored form.
    ///
    /// # Errors
    /// The first thing in it that contradicts another one, or that cannot be read.
    pub fn state(&self) -> Read<MemoryState> {
        let mut state = MemoryState::default();
        let Some(head) = self.fields.get(&b"h"[..]) else {
            let is_empty = self.fields.is_empty() && self.order.is_empty();
            return if is_empty { Ok(state) } else { Err("there is no header".into()) };
        };
        if let Some(version) = head.first().filter(|version| **version != VERSION) {
            return Err(format!(
                "written in format {version}, and this program reads format {VERSION}"
            ));
        }
        let header = Reader(head).header().ok_or("the header cannot be read")?;
        let mut records = Vec::new();
        for (field, text) in self.fields.iter().filter(|(field, _)| field.len() == 16) {
            let id = u128::from_be_bytes(field.as_slice().try_into().unwrap_or_default());
            let record = Reader(text).record(id);
            records.push(record.ok_or_else(|| format!("the record {id:032x} cannot be read"))?);
        }
        self.check_order(&header, &records)?;
        check_notes(&records)?;
        let past = records.iter().filter(|record| record.memory.until > 0).count();
        let head = self.head(&header, u32::try_from(past).unwrap_or(u32::MAX))?;
        put_all(&mut state, &head, records, self.free_slots()?);
        Ok(state)
    }

    /// Returns why the keys do not last as long as they should: for `owed` microseconds at least,
    /// and not for ever unless an operator has set something. `lasting` has the milliseconds that
    /// the server says: -1 for ever, -2 if the key is not there.
    pub fn ends_amiss(&self, lasting: [i64; 2], owed: u64) -> Option<String> {
        let header = Reader(self.fields.get(&b"h"[..])?).header()?;
        let is_kept = header.flags & 3 > 0;
        let [records, order] = lasting.map(|left| left != -1);
        if records == is_kept || order == is_kept && lasting[1] != -2 {
            return Some(format!("the keys last for {lasting:?} ms, with flags {}", header.flags));
        }
        let left = header.deadline.saturating_sub(header.wall);
        let is_short = !is_kept && left < owed;
        is_short.then(|| format!("the keys last for {left} us, and are needed for {owed}"))
    }

    fn head(&self, header: &Header, past: u32) -> Read<Head> {
        let text = |field: &[u8]| {
            let text = self.fields.get(field).map(Vec::as_slice).unwrap_or_default();
            std::str::from_utf8(text).map_err(|_| "a setting is no text".to_owned())
        };
        let (is_pinned, is_stated) = (header.flags & 2 > 0, header.flags & 4 > 0);
        let aside = || {
            let limit = self.fields.get(&b"s"[..]).and_then(|text| Reader(text).count());
            limit.ok_or("the limit that callers stated is not there")
        };
        let recent = self.fields.get(&b"r"[..]).and_then(|text| Reader(text).number());
        let names = if header.flags & 8 > 0 { text(b"n")? } else { "" };
        Ok(Head {
            kind: Kind::of_letter(header.kind.into()),
            stated: match (is_stated, is_pinned) {
                (true, true) => Some(aside()?),
                (true, false) => Some(header.limit),
                _ => None,
            },
            pinned: is_pinned.then_some(header.limit),
            names: names.parse().map_err(|_| "the names of the slots cannot be read")?,
            paused: if header.flags & 1 > 0 { Some(text(b"p")?.to_owned()) } else { None },
            clock: header.clock,
            wall: header.wall,
            fence: header.fence,
            arrival: header.arrival,
            bound: header.bound,
            held: header.held,
            holders: header.holders,
            waiting: header.waiting,
            past,
            top: header.top,
            recent: RecentHolds::from_bits(recent.unwrap_or_default()),
        })
    }

    fn free_slots(&self) -> Read<Vec<(u32, u32)>> {
        let read = |member: &Vec<u8>| {
            let number = |at: usize| {
                let bytes = member.get(at..at + 8)?.try_into().ok()?;
                u32::try_from(u64::from_be_bytes(bytes)).ok()
            };
            number(1).zip(number(9)).ok_or_else(|| "free slots cannot be read".to_owned())
        };
        self.order.iter().filter(|member| member.first() == Some(&b'f')).map(read).collect()
    }

    /// Checks that the order lists what there is: each waiter at its rank, and each record no later
    /// than something of it ends.
    fn check_order(&self, header: &Header, records: &[Record]) -> Read<()> {
        let mut expected = BTreeSet::new();
        for record in records {
            if record.listed > 0 {
                let bound = record.listed.to_be_bytes();
                expected.insert([&b"e"[..], &bound, &record.id.to_be_bytes()].concat());
            }
            record.check_bound(header)?;
            for entry in record.entries() {
                expected.extend(place_of(entry));
            }
        }
        let is_derived = |member: &&Vec<u8>| !matches!(member.first(), Some(b'f' | b'z'));
        let listed: BTreeSet<_> = self.order.iter().filter(is_derived).cloned().collect();
        if let Some(member) = listed.symmetric_difference(&expected).next() {
            let is = if listed.contains(member) { "lists what is not there" } else { "lacks" };
            return Err(format!("the order {is}: {}", member.escape_ascii()));
        }
        let front = listed.iter().find(|member| member.first() == Some(&b'q'));
        let is_front = front.map_or(&b"-"[..], Vec::as_slice) == header.front;
        if header.waiting > 0 && !is_front {
            return Err("the header has another first waiter than the order".into());
        }
        Ok(())
    }
}

impl Record {
    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.rows.iter().filter_map(|row| match row {
            Row::Here(entry) => Some(&**entry),
            Row::Elsewhere(..) => None,
        })
    }

    /// The end that is first, as the time from now.
    fn first_end(&self, header: &Header) -> Option<i64> {
        let left = |ends: u64, now: u64| ends as i64 - now as i64;
        let both = |ends, wall| left(ends, header.clock).min(left(wall, header.wall));
        let held = (self.members > 0).then(|| both(self.ends, self.ends_wall));
        let waiting = self.waiting.as_ref().map(|lease| both(lease.ends, lease.ends_wall));
        let is_closed = self.memory.until > 0 && self.memory.open == 0;
        let memory = is_closed.then(|| left(self.memory.until, header.clock));
        [held, waiting, memory].into_iter().flatten().min()
    }

    fn check_bound(&self, header: &Header) -> Read<()> {
        let name = |what: &str| Err(format!("the record {:032x} {what}", self.id));
        if self.memory.until > header.remembered {
            return name("is remembered for longer than the header says");
        }
        let Some(first) = self.first_end(header) else { return Ok(()) };
        let ends = ((header.wall + header.shift) as i64).saturating_add(first).max(1) as u64;
        if self.listed == 0 || self.listed > ends {
            return name("is listed later than it ends");
        }
        if header.due > self.listed {
            return name("ends before the header says that anything does");
        }
        Ok(())
    }
}

/// Checks that the record of a series notes each of its tickets that stands under another lease.
fn check_notes(records: &[Record]) -> Read<()> {
    let mut noted = BTreeSet::new();
    let mut elsewhere = BTreeSet::new();
    for record in records {
        for row in &record.rows {
            match row {
                Row::Elsewhere(ticket, lease) => noted.insert((*ticket, lease.0)),
                Row::Here(entry) if entry.ticket.lease().0 != record.id => {
                    elsewhere.insert((entry.ticket, record.id))
                }
                Row::Here(_) => true,
            };
        }
    }
    match noted.symmetric_difference(&elsewhere).next() {
        Some((ticket, _)) => Err(format!("it is not clear where ticket {ticket} stands")),
        None => Ok(()),
    }
}

/// The member of the order that lists a waiter.
fn place_of(entry: &Entry) -> Option<Vec<u8>> {
    let Standing::Waiting { rank, parked, .. } = entry.standing else { return None };
    let band: &[u8] = if parked { b"k" } else { b"q" };
    let rank = (rank + RANK_BIAS).to_be_bytes();
    Some([band, &rank, &entry.ticket.0.to_be_bytes()].concat())
}

fn put_all(state: &mut MemoryState, head: &Head, records: Vec<Record>, free: Vec<(u32, u32)>) {
    let Ok(()) = state.set_head(head);
    for record in records {
        let Record { id, inbox, ends, ends_wall, ttl, members, digest, memory, .. } = record;
        if members > 0 {
            let id = LeaseId(id);
            let lease = Lease { id, inbox, ttl, ends, ends_wall, members, digest, parked: 0 };
            let Ok(()) = state.put_lease(&lease);
        }
        if let Some(lease) = &record.waiting {
            let Ok(()) = state.put_lease(lease);
        }
        if memory.until > 0 {
            let Ok(()) = state.put_memory(&memory);
        }
        for row in record.rows {
            if let Row::Here(entry) = row {
                let Ok(()) = state.put_entry(&entry);
            }
        }
    }
    for (first, last) in free {
        let Ok(()) = state.push_free_slots(first, last);
    }
}

impl Reader<'_> {
    fn header(&mut self) -> Option<Header> {
        let [VERSION, kind, flags, _uses] = self.take()? else { return None };
        let mut header = Header {
            kind,
            flags,
            limit: self.count()?,
            held: self.count()?,
            holders: self.count()?,
            waiting: self.count()?,
            top: self.count()?,
            clock: self.number()?,
            wall: self.number()?,
            fence: self.number()?,
            bound: self.number()?,
            due: self.number()?,
            deadline: self.number()?,
            remembered: self.number()?,
            shift: 0,
            arrival: 0,
            front: Vec::new(),
        };
        self.byte()?; // when the length of a hold was noted last
        if !self.0.is_empty() {
            (header.shift, header.arrival) = (self.number()?, self.number()?);
            header.front = self.0.to_vec();
        }
        Some(header)
    }

    fn record(&mut self, id: u128) -> Option<Record> {
        let inbox = self.inbox()?;
        let (ends, ends_wall, ttl) = (self.number()?, self.number()?, self.number()?);
        let (last, until) = (self.count()?, self.number()?);
        let (digest, members, listed) = (self.number()?, self.byte()?.into(), self.number()?);
        let (flags, size) = (self.byte()?, self.short()?);
        let about = std::str::from_utf8(self.bytes(size)?).ok()?.to_owned();
        let series = Ticket(id).series();
        let mut memory = Memory { last, until, ..Memory::new(series) };
        if flags & 2 > 0 {
            for _ in 0..self.short()? / 5 {
                memory.ends.push((self.count()?, cause(self.byte()?)?));
            }
        }
        let waiting = match flags & 1 > 0 {
            true => Some(self.waiting(series.ticket(0).place(), inbox)?),
            false => None,
        };
        let mut record = Record {
            id,
            inbox,
            ends,
            ends_wall,
            ttl,
            digest,
            members,
            listed,
            memory,
            waiting,
            rows: Vec::new(),
        };
        while !self.0.is_empty() {
            let row = self.row(&record, &about)?;
            record.rows.push(row);
        }
        let is_open = |row: &&Row| match row {
            Row::Here(entry) => {
                entry.ticket.series() == series
                    && matches!(entry.standing, Standing::Holding { .. })
            }
            Row::Elsewhere(..) => true,
        };
        let open = record.rows.iter().filter(is_open).count();
        record.memory.open = u32::try_from(open).unwrap_or(u32::MAX);
        Some(record)
    }

    fn inbox(&mut self) -> Option<Option<Inbox>> {
        let inbox = self.take().map(u128::from_be_bytes)?;
        Some(Some(inbox).filter(|inbox| *inbox > 0).map(Inbox))
    }

    fn waiting(&mut self, id: LeaseId, inbox: Option<Inbox>) -> Option<Lease> {
        Some(Lease {
            id,
            inbox,
            ttl: 0,
            ends: self.number()?,
            ends_wall: self.number()?,
            digest: self.number()?,
            members: self.byte()?.into(),
            parked: self.byte()?.into(),
        })
    }

    fn row(&mut self, record: &Record, about: &str) -> Option<Row> {
        let (number, flags, size) = (self.count()?, self.byte()?, self.short()?);
        let (permits, order, slot) = (self.count()?, self.double()?, self.count()?);
        let mut more = Reader(self.bytes(size)?);
        let mut ticket = record.memory.series.ticket(number);
        if flags & 4 > 0 {
            return Some(Row::Elsewhere(ticket, LeaseId(u128::from_be_bytes(more.take()?))));
        }
        if flags & 8 > 0 {
            let mut series = [0; 16];
            series[..12].copy_from_slice(more.bytes(12)?);
            ticket = Ticket(u128::from_be_bytes(series)).series().ticket(number);
        }
        let ttl = if flags & 32 > 0 { more.number()? } else { record.ttl };
        let waits = flags & 1 > 0;
        let (margin, priority) = match waits {
            true => (more.number()?, i8::from_le_bytes(more.take()?)),
            false => (0, 0),
        };
        let slots = match (flags & 128 > 0, waits) {
            (true, _) => more.slots()?,
            (false, true) => Slots::none(),
            (false, false) => Slots::range(slot, slot.checked_add(permits.checked_sub(1)?)?),
        };
        let about = match flags & 64 > 0 {
            true => std::str::from_utf8(more.0).ok()?,
            false => about,
        };
        #[allow(clippy::cast_possible_truncation, reason = "it is a whole number below 2^53")]
        let rank = order as i64;
        let (lease, standing, since) = match waits {
            true => {
                let lease = ticket.lease();
                let parked = flags & 2 > 0;
                let arrival = rank + i64::from(priority) * AGING as i64;
                let standing =
                    Standing::Waiting { rank, priority, lease, margin, wishes: slots, parked };
                (ticket.place(), standing, u64::try_from(arrival).unwrap_or(0))
            }
            false => {
                let fence = u64::try_from(rank).ok()?;
                (LeaseId(record.id), Standing::Holding { fence: Fence(fence), slots }, fence)
            }
        };
        let (inbox, about) = (record.inbox, about.to_owned());
        Some(Row::Here(Box::new(Entry {
            ticket,
            lease,
            inbox,
            permits,
            ttl,
            since,
            about,
            standing,
        })))
    }
}
