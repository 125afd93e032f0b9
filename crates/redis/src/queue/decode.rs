//! Reads the answers of the script of queues. The format: lua/queues/README.md.

use std::vec;

use redis::Value;
use seinpaal_proto::{
    Fence, Name, Priority,
    queue::{
        Batch, Delivery, GroupRow, Item, ItemId, ItemPosition, ItemRow, ItemState, Popped, Replies,
        Reply, Request, RowState, Snapshot, WorkRow,
    },
    time::{Micros, UNBOUNDED},
};
use seinpaal_store::StoreError;

use super::layout::{attempted, limit, name, text, unranked};
use crate::decode::{Reader, unreadable};

/// The answer to a batch.
pub(super) struct Answer {
    pub(super) replies: Replies,
    /// The places where the rows of an inspection go on: those of jobs, and those of groups.
    pub(super) more: Vec<Vec<u8>>,
}

/// A page of rows, and the place where the next one begins.
struct Page<T> {
    rows: Vec<T>,
    next: Vec<u8>,
}

/// Reads the answer to a batch.
///
/// # Errors
/// If it cannot be read.
pub(super) fn answer(value: Value, batch: &Batch) -> Result<Answer, StoreError> {
    with_payloads(value, |mut answer| answer.whole(&batch.requests))
}

/// Reads the replies in the answer to a batch.
// Used by fuzz/.
///
/// # Errors
/// If the answer cannot be read.
pub fn replies(value: Value, batch: &Batch) -> Result<Replies, StoreError> {
    answer(value, batch).map(|answer| answer.replies)
}

/// Reads the page behind this cursor, and adds its rows to a snapshot. Returns the next cursor.
pub(super) fn page(
    value: Value,
    cursor: &[u8],
    snapshot: &mut Snapshot,
) -> Result<Vec<u8>, StoreError> {
    with_payloads(value, |mut answer| answer.page_behind(cursor, snapshot))
}

fn with_payloads<T>(
    value: Value,
    read: impl FnOnce(AnswerReader<'_>) -> Option<T>,
) -> Result<T, StoreError> {
    let (answer, payloads) = match value {
        Value::Array(mut parts) if !parts.is_empty() => (parts.remove(0), parts),
        answer => (answer, Vec::new()),
    };
    let Value::BulkString(bytes) = &answer else { return Err(unreadable(&answer)) };
    let reader = AnswerReader { told: Reader(bytes), payloads: payloads.into_iter(), now: 0 };
    read(reader).ok_or_else(|| unreadable(&answer))
}

struct AnswerReader<'a> {
    told: Reader<'a>,
    payloads: vec::IntoIter<Value>,
    now: Micros,
}

impl AnswerReader<'_> {
    fn whole(&mut self, requests: &[Request]) -> Option<Answer> {
        let (backlog, look_in) = self.start()?;
        let (mut replies, mut more) = (Vec::with_capacity(requests.len()), Vec::new());
        for request in requests {
            replies.push(self.reply(request, &mut more)?);
        }
        let replies = Replies { now: self.now, replies, backlog, look_in };
        // Bytes that are left over show that the answer belongs to other requests.
        self.is_over().then_some(Answer { replies, more })
    }

    fn start(&mut self) -> Option<(bool, Option<Micros>)> {
        self.now = self.told.number()?;
        let backlog = self.told.byte()? == 1;
        Some((backlog, maybe(self.told.double()?)))
    }

    fn is_over(&self) -> bool {
        self.told.0.is_empty() && self.payloads.as_slice().is_empty()
    }

    fn reply(&mut self, request: &Request, more: &mut Vec<Vec<u8>>) -> Option<Reply> {
        let id = id_of(request);
        Some(match self.told.byte()? {
            1 => Reply::Pushed { id: self.id()? },
            2 => Reply::Duplicate { id: self.id()? },
            3 => self.popped()?,
            4 => {
                let valid_for = Some(self.told.number()?);
                let lost = (0..self.told.short()?).map(|_| self.delivery());
                Reply::Renewed { valid_for, lost: lost.collect::<Option<_>>()? }
            }
            5 => Reply::Acknowledged { id: id? },
            6 => Reply::Returned { id: id? },
            7 => Reply::Died { id: id? },
            8 => Reply::Lost { id: id? },
            9 => Reply::Left,
            10 => Reply::Cancelled { id: id?, was: state_of(self.told.byte()?)? },
            11 => Reply::Unknown { id: id? },
            12 => Reply::Replayed { id: id? },
            13 => Reply::Dropped { id: id? },
            14 => Reply::Purged { removed: self.told.count()?, more: self.told.byte()? == 1 },
            15 => {
                let [limit, group_limit] = self.limits()?;
                Reply::Configured { limit, group_limit }
            }
            16 => Reply::Snapshot(self.snapshot(more)?),
            17 => {
                let clock = self.told.number()?;
                let Page { mut rows, next } = self.page(|answer| answer.item_row(clock))?;
                rows.sort_by_key(left_in_work);
                Reply::Items { rows, next: position(&next)? }
            }
            18 => Reply::Late,
            _ => return None,
        })
    }

    fn popped(&mut self) -> Option<Reply> {
        let (valid_for, left) = (Some(self.told.number()?), self.told.number()?);
        let items = (0..self.told.byte()?).map(|_| {
            let delivery = self.delivery().filter(|it| it.id.0.max(it.fence.0) <= UNBOUNDED)?;
            let (attempt, most) = (self.told.count()?, self.told.count()?);
            let (priority, pushed) = (self.priority()?, self.told.number()?);
            let sizes = [self.told.short()?, self.told.short()?];
            let (group, about) = (text(&mut self.told, sizes[0])?, text(&mut self.told, sizes[1])?);
            let Value::BulkString(payload) = self.payloads.next()? else { return None };
            let group = name(&group)?;
            Some(Popped { delivery, attempt, most, priority, group, about, pushed, payload })
        });
        Some(Reply::Popped { items: items.collect::<Option<_>>()?, valid_for, left })
    }

    fn snapshot(&mut self, more: &mut Vec<Vec<u8>>) -> Option<Snapshot> {
        let is_paused = self.told.byte()? == 1;
        let [limit, group_limit] = self.limits()?;
        let mut snapshot = Snapshot {
            limit,
            group_limit,
            ready: self.told.count()?,
            delayed: self.told.count()?,
            in_work: self.told.count()?,
            dead: self.told.count()?,
            idle: self.told.count()?,
            oldest: maybe(self.told.double()?),
            next_due: maybe(self.told.double()?),
            ..Snapshot::default()
        };
        let clock = self.told.number()?;
        let size = self.told.short()?;
        let reason = text(&mut self.told, size)?;
        snapshot.paused = is_paused.then_some(reason);
        let work = self.page(|answer| answer.work_row(clock))?;
        let groups = self.page(Self::group_row)?;
        (snapshot.work, snapshot.groups) = (work.rows, groups.rows);
        sort(&mut snapshot.work);
        *more = vec![work.next, groups.next];
        Some(snapshot)
    }

    fn page_behind(&mut self, cursor: &[u8], snapshot: &mut Snapshot) -> Option<Vec<u8>> {
        self.start()?;
        let ([17], clock) = (self.told.take()?, self.told.number()?) else { return None };
        let next = if cursor.starts_with(b"c") {
            let page = self.page(Self::group_row)?;
            snapshot.groups.extend(page.rows);
            page.next
        } else {
            let page = self.page(|answer| answer.work_row(clock))?;
            snapshot.work.extend(page.rows);
            sort(&mut snapshot.work);
            page.next
        };
        self.is_over().then_some(next)
    }

    fn page<T>(&mut self, mut row: impl FnMut(&mut Self) -> Option<T>) -> Option<Page<T>> {
        let (count, size) = (self.told.short()?, self.told.short()?);
        let next = self.told.bytes(size)?.to_vec();
        let rows = (0..count).map(|_| row(self)).collect::<Option<_>>()?;
        Some(Page { rows, next })
    }

    /// What is stored of a job, and how its payload begins.
    fn stored(&mut self) -> Option<(Item, Vec<u8>)> {
        let id = self.id()?;
        let sizes = [self.told.short()?, self.told.short()?, self.told.short()?];
        let (job, attempt) = (self.told.bytes(sizes[0])?, self.told.bytes(sizes[1])?);
        Some((attempted(id, job, attempt)?, self.told.bytes(sizes[2])?.to_vec()))
    }

    fn item_row(&mut self, clock: Micros) -> Option<ItemRow> {
        let (item, payload) = self.stored()?;
        let valid_for = valid_for(&item, clock);
        Some(ItemRow::of(item, self.now, valid_for, payload))
    }

    fn work_row(&mut self, clock: Micros) -> Option<WorkRow> {
        let (item, _) = self.stored()?;
        let valid_for = valid_for(&item, clock);
        WorkRow::of(item, self.now, valid_for)
    }

    fn group_row(&mut self) -> Option<GroupRow> {
        let (in_work, ready, size) = (self.told.count()?, self.told.count()?, self.told.short()?);
        let group = Name::new(&text(&mut self.told, size)?).ok()?;
        Some(GroupRow { group, in_work, ready })
    }

    fn limits(&mut self) -> Option<[Option<u32>; 2]> {
        Some([limit(self.told.count()?), limit(self.told.count()?)])
    }

    fn id(&mut self) -> Option<ItemId> {
        let id = self.told.take().map(u64::from_be_bytes)?;
        (id <= UNBOUNDED).then_some(ItemId(id))
    }

    /// A delivery, which may be one that never was.
    fn delivery(&mut self) -> Option<Delivery> {
        let [id, fence] = [self.told.take()?, self.told.take()?].map(u64::from_be_bytes);
        Some(Delivery { id: ItemId(id), fence: Fence(fence) })
    }

    fn priority(&mut self) -> Option<Priority> {
        Priority::new(i8::from_le_bytes(self.told.take()?).into()).ok()
    }
}

/// Sorts attempts by the ends of their leases. The script lists them by bounds of these.
fn sort(work: &mut Vec<WorkRow>) {
    work.sort_by_key(|row| (row.valid_for, row.id));
    work.dedup_by_key(|row| row.id);
}

/// How long the lease of an item in work lasts on the ledger's clock.
fn valid_for(item: &Item, clock: Micros) -> Option<Micros> {
    item.work().map(|work| work.ends.saturating_sub(clock))
}

/// How long the lease of an item in work lasts. All other items are in their order.
fn left_in_work(row: &ItemRow) -> Option<(Option<Micros>, ItemId)> {
    match &row.state {
        RowState::InWork { valid_for, .. } => Some((*valid_for, row.id)),
        _ => None,
    }
}

fn id_of(request: &Request) -> Option<ItemId> {
    match request {
        Request::Finish { delivery, .. } => Some(delivery.id),
        Request::Cancel { id, .. } | Request::Replay { id } | Request::Drop { id } => Some(*id),
        _ => None,
    }
}

fn state_of(letter: u8) -> Option<ItemState> {
    Some(match letter {
        b'r' => ItemState::Ready,
        b'd' => ItemState::Delayed,
        b'a' => ItemState::InWork,
        _ => return None,
    })
}

/// The place of a member of the order; none if there is no member.
fn position(member: &[u8]) -> Option<Option<ItemPosition>> {
    let Some((letter, rest)) = member.split_first() else { return Some(None) };
    let before = ItemPosition::before;
    Some(Some(match (letter, rest.len()) {
        (b'a', 0) => ItemPosition::before_open(),
        (b'g', 0) => before(ItemState::Ready),
        (b'd', 0) => before(ItemState::Delayed),
        (b'e', 0) => before(ItemState::InWork),
        (b'x', 0) => before(ItemState::Dead),
        _ => {
            let (rest, id) = rest.split_last_chunk()?;
            let id = ItemId(u64::from_be_bytes(*id));
            if *letter == b'x' {
                return Some(Some(ItemPosition::Dead(id)));
            }
            let (group, number) = rest.split_last_chunk()?;
            let number = u64::from_be_bytes(*number);
            match letter {
                b'a' => ItemPosition::Open(unranked(number)?, id),
                b'd' => ItemPosition::Delayed(number, id),
                b'e' => ItemPosition::InWork(number, id),
                b'g' => {
                    let group = std::str::from_utf8(group.strip_suffix(b"\0")?).ok()?;
                    ItemPosition::Grouped(Some(Name::new(group).ok()?), unranked(number)?, id)
                }
                _ => return None,
            }
        }
    }))
}

/// A number of microseconds; none if it is below 0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
fn maybe(number: f64) -> Option<Micros> {
    (number >= 0.0).then_some(number as u64)
}
