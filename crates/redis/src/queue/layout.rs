//! How the script stores a queue, read back: rows of lists are stored records, and a test compares
//! all that is stored with the ledger. The format: lua/queues/README.md.

use std::collections::{BTreeMap, BTreeSet};

use seinpaal_proto::{
    Fence, Inbox, Name, Priority,
    queue::{
        Dedupped, DeliveryHistory, Ending, FailureReason, Group, Head, Item, ItemId, MemoryQueue,
        PastDelivery, Place, SessionRecord, Standing, State, Work, WorkerCall,
    },
    time::Micros,
};

use super::encode::of_group;
use crate::decode::Reader;

const VERSION: u8 = 6;
/// Added to ranks in members of the order, whose numbers have no sign.
const RANK_BIAS: i64 = 10_000_000_000;
/// Stands for no limit.
pub(super) const NO_LIMIT: u32 = u32::MAX;

type Read<T> = Result<T, String>;

/// The stored form of a queue: the fields of its hash, and the members of its order.
#[derive(Clone, Debug, Default)]
pub struct StoredQueue {
    /// The fields.
    pub fields: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The members.
    pub order: BTreeSet<Vec<u8>>,
}

/// The header: what the ledger has as well, and what only the script needs.
struct Header {
    head: Head,
    groups: u32,
    /// Nothing ends or falls due before this time of the steady clock.
    due: Micros,
    /// Nothing is forgotten before this time.
    forget: Micros,
    /// Until when anything is remembered.
    memory: Micros,
    /// When the keys expire; 0 for never.
    deadline: Micros,
    /// The sum of the backward steps of the server's clock.
    shift: Micros,
}

/// An attempt, and the bound under which the order lists it.
struct Attempt {
    work: Work,
    group: Option<Name>,
    listed: Micros,
}

impl StoredQueue {
    /// Reads the state of a ledger from the stored form. Answers that are kept for a repetition are
    /// left out.
    ///
    /// # Errors
    /// The first thing in it that contradicts another one, or that cannot be read.
    pub fn state(&self) -> Read<MemoryQueue> {
        let mut state = MemoryQueue::default();
        let Some(head) = self.fields.get(&b"h"[..]) else {
            let is_empty = self.fields.is_empty() && self.order.is_empty();
            return if is_empty { Ok(state) } else { Err("there is no header".into()) };
        };
        let mut header = Reader(head).queue_header().ok_or("the header cannot be read")?;
        let reason = self.fields.get(&b"r"[..]).map(|text| String::from_utf8_lossy(text));
        if header.head.paused.is_some() != reason.is_some() {
            return Err("the reason of the pause is elsewhere".into());
        }
        header.head.paused = reason.map(String::from);
        let Ok(()) = state.set_head(&header.head);
        let mut order = BTreeSet::from([b"z".to_vec()]);
        for (field, text) in &self.fields {
            let read = self.put(&mut state, &header, &mut order, field, text);
            read.ok_or_else(|| format!("the field {} is wrong", field.escape_ascii()))?;
        }
        if let Some(member) = order.symmetric_difference(&self.order).next() {
            let is = if order.contains(member) { "lacks" } else { "lists what is not there" };
            return Err(format!("the order {is}: {}", member.escape_ascii()));
        }
        let groups = self.fields.keys().filter(|field| field.starts_with(b"g")).count();
        if groups != header.groups as usize {
            return Err(format!(
                "the header counts {} groups, and there are {groups}",
                header.groups
            ));
        }
        state.check()?;
        Ok(state)
    }

    /// Returns why the keys do not last as they should: for ever if there are jobs or settings, and
    /// otherwise until nothing is remembered. `lasting` has the milliseconds that the server says:
    /// -1 for ever, -2 if the key is not there.
    pub fn ends_amiss(&self, lasting: [i64; 2]) -> Option<String> {
        let Header { head, deadline, memory, .. } =
            Reader(self.fields.get(&b"h"[..])?).queue_header()?;
        let rows = [head.ready, head.delayed, head.in_work, head.dead];
        let limits = [head.limit, head.group_limit];
        let is_kept = rows.iter().any(|rows| *rows > 0)
            || limits.iter().any(Option::is_some)
            || head.paused.is_some();
        let needed = memory.max(if head.owes_number(head.wall) { head.last } else { 0 });
        let is_amiss = is_kept != (deadline == 0)
            || lasting.iter().any(|left| (*left == -1) != is_kept)
            || !is_kept && deadline < needed;
        is_amiss.then(|| format!("the keys last for {lasting:?} ms, and until {deadline}"))
    }

    /// Puts what a field has into the state, and the members that list it into the order.
    fn put(
        &self,
        state: &mut MemoryQueue,
        header: &Header,
        order: &mut BTreeSet<Vec<u8>>,
        field: &[u8],
        text: &[u8],
    ) -> Option<()> {
        let (letter, name_of) = field.split_first()?;
        let (mut reader, head) = (Reader(text), &header.head);
        match letter {
            b'i' => {
                let id = u64::from_be_bytes(name_of.try_into().ok()?);
                let attempt = self.fields.get(&[b"a", name_of].concat());
                let payload = self.fields.get(&[b"p", name_of].concat())?;
                let mut item = attempted(ItemId(id), text, attempt.map_or(&[][..], Vec::as_slice))?;
                if item.bytes as usize != payload.len() {
                    return None;
                }
                let where_ready = member(b"a", ranked(item.rank), item.id);
                match &mut item.standing {
                    Standing::Ready { open } => {
                        *open = self.order.contains(&where_ready);
                        if *open {
                            order.insert(where_ready);
                        }
                        if let Some(group) = &item.group {
                            order.insert(member(&of_group(group), ranked(item.rank), item.id));
                        }
                    }
                    Standing::Delayed { due } => {
                        order.insert(member(b"d", *due, item.id));
                        (header.due <= *due + header.shift).then_some(())?;
                    }
                    Standing::Dead { .. } => {
                        order.insert([b"x", name_of].concat());
                    }
                    Standing::InWork(work) => {
                        let listed = Reader(attempt?).attempt()?.listed;
                        order.insert(member(b"e", listed, item.id));
                        let left = |end: u64, now: u64| end as i64 - now as i64;
                        let first =
                            left(work.ends, head.clock).min(left(work.ends_wall, head.wall));
                        let ends = (head.wall + header.shift) as i64 + first;
                        (header.due <= listed && listed as i64 <= ends.max(1)).then_some(())?;
                    }
                }
                let (Ok(()), Ok(())) = (state.put_item(&item), state.put_payload(item.id, payload));
            }
            b'a' | b'p' => self.fields.get(&[b"i", name_of].concat()).map(drop)?,
            b'g' => {
                let group = named(name_of)?;
                let (in_work, ready) = (reader.count()?, reader.count()?);
                order.insert([b"c", name_of].concat());
                let front = match reader.0 {
                    [] => None,
                    front => Some(ItemId(u64::from_be_bytes(*front.last_chunk()?))),
                };
                let Ok(()) = state.put_group(&group, &Group { in_work, ready, front });
            }
            b'l' => {
                order.insert(text.to_vec());
                let place = reader.place()?;
                (place.inbox.0.to_be_bytes() == name_of && place.until <= header.memory)
                    .then_some(())?;
                let Ok(()) = state.put_place(&place);
            }
            b's' => {
                let session = Inbox(u128::from_be_bytes(name_of.try_into().ok()?));
                let (number, until, listed) =
                    (reader.number()?, reader.number()?, reader.number()?);
                order.insert([b"s", &listed.to_be_bytes()[..], name_of].concat());
                (header.forget <= listed && listed <= until && until <= header.memory)
                    .then_some(())?;
                let replies = Vec::new();
                let Ok(()) = state.put_session(&SessionRecord { session, number, until, replies });
            }
            b'k' => {
                let (until, id) = (reader.number()?, u64::from_be_bytes(reader.take()?));
                order.insert([b"t", &until.to_be_bytes()[..], name_of].concat());
                (header.forget <= until && until <= header.memory).then_some(())?;
                let Ok(()) =
                    state.put_key(&Dedupped { key: named(name_of)?, id: ItemId(id), until });
            }
            b'h' | b'r' | b'm' => {}
            _ => return None,
        }
        Some(())
    }
}

impl Reader<'_> {
    fn queue_header(&mut self) -> Option<Header> {
        let [VERSION, flags] = self.take()? else { return None };
        let mut head = Head {
            limit: limit(self.count()?),
            paused: (flags & 1 > 0).then(String::new),
            ready: self.count()?,
            open: self.count()?,
            delayed: self.count()?,
            in_work: self.count()?,
            dead: self.count()?,
            sessions: self.count()?,
            clock: self.number()?,
            wall: self.number()?,
            bound: self.number()?,
            last: self.number()?,
            ..Head::default()
        };
        let (due, forget, memory, deadline) =
            (self.number()?, self.number()?, self.number()?, self.number()?);
        let (mut groups, mut shift) = (0, 0);
        if flags & 4 > 0 {
            head.group_limit = limit(self.count()?);
            groups = self.count()?;
            (head.idle, head.called) = (self.count()?, self.count()?);
            (head.wanted, head.keys) = (self.count()?, self.count()?);
            (shift, head.watch_at) = (self.number()?, self.number()?);
            head.watch = self.client().filter(|watch| watch.0 > 0);
        }
        if flags & 2 > 0 {
            head.reopen = Some(std::str::from_utf8(self.0).ok()?.to_owned());
        }
        Some(Header { head, groups, due, forget, memory, deadline, shift })
    }

    /// A job. Its state is that without an attempt.
    fn job(&mut self, id: ItemId) -> Option<Item> {
        let [letter] = self.take()?;
        let priority = Priority::new(i8::from_le_bytes(self.take()?).into()).ok()?;
        let (most, attempt, bytes) = (self.count()?, self.count()?, self.count()?);
        let (pushed, rank, at) = (self.number()?, self.double()?, self.number()?);
        let sizes = [self.short()?, self.short()?, self.short()?];
        let (group, key) = (name(&text(self, sizes[0])?)?, name(&text(self, sizes[1])?)?);
        let (about, history) = (text(self, sizes[2])?, self.history()?);
        let standing = match letter {
            b'r' => Standing::Ready { open: false },
            b'd' => Standing::Delayed { due: at },
            b'x' => Standing::Dead { at },
            _ => return None,
        };
        #[allow(clippy::cast_possible_truncation, reason = "it is a whole number below 2^53")]
        let rank = rank as i64;
        Some(Item {
            id,
            priority,
            group,
            most,
            bytes,
            key,
            about,
            pushed,
            rank,
            attempt,
            history,
            standing,
        })
    }

    fn history(&mut self) -> Option<DeliveryHistory> {
        let mut history = DeliveryHistory::default();
        let count = if self.0.is_empty() { 0 } else { self.byte()? };
        for _ in 0..count {
            let (attempt, at) = (self.count()?, self.number()?);
            let (is_failure, size) = (self.byte()? == 1, self.short()?);
            let reason = FailureReason::new(&text(self, size)?);
            let ending = if is_failure { Ending::Failed(reason) } else { Ending::Expired };
            history.push(PastDelivery::new(attempt, at, ending));
        }
        self.0.is_empty().then_some(history)
    }

    fn attempt(&mut self) -> Option<Attempt> {
        let (fence, by) = (Fence(u64::from_be_bytes(self.take()?)), self.client()?);
        let (since, ttl) = (self.number()?, self.number()?);
        let (ends, ends_wall, listed) = (self.number()?, self.number()?, self.number()?);
        let size = self.short()?;
        let group = name(&text(self, size)?)?;
        let about = std::str::from_utf8(self.0).ok()?.to_owned();
        let work = Work { fence, by, about, since, ttl, ends, ends_wall };
        Some(Attempt { work, group, listed })
    }

    /// A worker in line or one that was called, which is a member of the order.
    fn place(&mut self) -> Option<Place> {
        let call = match self.byte()? {
            b'l' => WorkerCall::InLine,
            b'k' => WorkerCall::Since(u64::from_be_bytes(self.take()?)),
            _ => return None,
        };
        let (drains, until) = (self.byte()?, u64::from_be_bytes(self.take()?));
        let (inbox, want) = (self.client()?, self.byte()?);
        Some(Place { inbox, want: want.into(), drains: drains == 0, until, call })
    }

    fn client(&mut self) -> Option<Inbox> {
        self.take().map(u128::from_be_bytes).map(Inbox)
    }
}

/// Reads a job, and its attempt under way if that is not empty.
pub(super) fn attempted(id: ItemId, job: &[u8], attempt: &[u8]) -> Option<Item> {
    let mut item = Reader(job).job(id)?;
    if !attempt.is_empty() {
        let Attempt { work, group, .. } = Reader(attempt).attempt()?;
        if group != item.group {
            return None;
        }
        item.attempt = item.attempt.checked_add(1)?;
        item.standing = Standing::InWork(work);
    }
    Some(item)
}

/// A member of the order that ends with a number and a job.
pub(super) fn member(start: &[u8], number: u64, id: ItemId) -> Vec<u8> {
    [start, &number.to_be_bytes(), &id.0.to_be_bytes()].concat()
}

/// A rank as the members of the order have it.
pub(super) fn ranked(rank: i64) -> u64 {
    u64::try_from(rank.saturating_add(RANK_BIAS)).unwrap_or(0)
}

pub(super) fn unranked(number: u64) -> Option<i64> {
    Some(i64::try_from(number).ok()? - RANK_BIAS)
}

pub(super) fn limit(number: u32) -> Option<u32> {
    (number != NO_LIMIT).then_some(number)
}

pub(super) fn text(reader: &mut Reader<'_>, size: usize) -> Option<String> {
    std::str::from_utf8(reader.bytes(size)?).ok().map(str::to_owned)
}

/// Reads a name that may be missing.
pub(super) fn name(text: &str) -> Option<Option<Name>> {
    if text.is_empty() { Some(None) } else { Name::new(text).ok().map(Some) }
}

fn named(bytes: &[u8]) -> Option<Name> {
    Name::new(std::str::from_utf8(bytes).ok()?).ok()
}
