//! Reads the answers of the scripts of names. The format: lua/names/README.md.

use std::fmt::{self, Write};

use redis::Value;
use seinpaal_proto::{
    Batch, Busy, Cause, Fence, Grant, HolderRow, Kind, RecentHolds, Replies, Reply, Request,
    SlotNames, Slots, Snapshot, Ticket, TicketReply, WaiterRow, time::UNBOUNDED,
};
use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

use super::error::one_line;

/// The cursor behind the last page of an inspection.
const LAST_PAGE: &[u8] = b"end";
/// Says that work is left over, in place of the time after which to look again.
const IS_LEFT_OVER: f64 = -2.0;

/// The answer to a batch.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) replies: Replies,
    /// The place where the snapshot goes on, if the batch inspects and a page has not all of it.
    pub(crate) next_page: Option<Vec<u8>>,
}

/// Reads the answer to a batch.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn answer(value: &Value, batch: &Batch) -> Result<Answer, StoreError> {
    let Value::BulkString(bytes) = value else { return Err(unreadable(value)) };
    Reader(bytes).answer(batch).ok_or_else(|| unreadable(value))
}

/// Whether the script of the common requests leaves a name to the script of all requests.
pub(crate) fn is_left(answer: &Value) -> bool {
    matches!(answer, Value::BulkString(bytes) if bytes.is_empty())
}

/// Reads the replies in the answer to a batch.
// Used by fuzz/.
///
/// # Errors
/// If the answer cannot be read.
#[doc(hidden)]
pub fn replies(value: &Value, batch: &Batch) -> Result<Replies, StoreError> {
    answer(value, batch).map(|answer| answer.replies)
}

/// Reads a page that the script of lists answers with.
pub(crate) fn listed(bytes: &[u8]) -> Option<Snapshot> {
    let mut reader = Reader(bytes);
    let [21] = reader.take()? else { return None };
    reader.page().map(|page| page.0)
}

/// The error for an answer that cannot be read. The script ran, and only its answer is lost.
pub(crate) fn unreadable(value: &Value) -> StoreError {
    let message = format!(
        "a script answered {}, which cannot be read: is there a proxy that changes replies?",
        shorten(value)
    );
    StoreError::new(StoreErrorKind::Corrupt, Certainty::Unknown, message)
}

/// The reason of a ticket's end.
pub(crate) fn cause(code: u8) -> Option<Cause> {
    Some(match code {
        0 => Cause::Released,
        1 => Cause::Cancelled,
        2 => Cause::Expired,
        3 => Cause::Evicted,
        4 => Cause::TooMany,
        5 => Cause::Attached,
        _ => return None,
    })
}

/// The part of an answer that is yet to be read.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take<const SIZE: usize>(&mut self) -> Option<[u8; SIZE]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(crate) fn bytes(&mut self, size: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    pub(crate) fn count(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn short(&mut self) -> Option<usize> {
        self.take().map(u16::from_le_bytes).map(usize::from)
    }

    pub(crate) fn double(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }

    /// A whole number from 0 to 2^53, as Lua has it.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
    #[allow(clippy::cast_precision_loss, reason = "it is a power of two")]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let number = self.double()?;
        (0.0..=UNBOUNDED as f64).contains(&number).then_some(number as u64)
    }

    fn text(&mut self) -> Option<&'a str> {
        let size = self.short()?;
        std::str::from_utf8(self.bytes(size)?).ok()
    }

    pub(crate) fn ticket(&mut self) -> Option<Ticket> {
        self.take().map(u128::from_be_bytes).map(Ticket)
    }

    /// Ranges of slots, behind their number.
    pub(crate) fn slots(&mut self) -> Option<Slots> {
        let mut slots = Slots::none();
        for _ in 0..self.short()? {
            let (first, last) = (self.count()?, self.count()?);
            if first > last {
                return None;
            }
            slots.insert(first, last);
        }
        Some(slots)
    }

    fn names(&mut self) -> Option<SlotNames> {
        self.text()?.parse().ok()
    }

    fn kind(&mut self) -> Option<Kind> {
        Kind::of_letter(self.byte()?.into())
    }

    fn answer(&mut self, batch: &Batch) -> Option<Answer> {
        let now = self.number()?;
        let look_again = self.double()?;
        let backlog = look_again == IS_LEFT_OVER;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let look_in = (look_again >= 0.0).then_some(look_again as u64);
        let (mut replies, mut next_page) = (Vec::with_capacity(batch.requests.len()), None);
        for request in &batch.requests {
            let (reply, next) = self.reply(request)?;
            replies.push(reply);
            next_page = next;
        }
        // Bytes that are left over show that the answer belongs to other requests.
        let replies = Replies { now, replies, backlog, look_in };
        self.0.is_empty().then_some(Answer { replies, next_page })
    }

    fn reply(&mut self, request: &Request) -> Option<(Reply, Option<Vec<u8>>)> {
        let ticket = ticket_of(request);
        let reply = match self.byte()? {
            1 => Reply::Granted(self.grant(ticket?)?),
            2 => Reply::Queued { ticket: ticket?, waiting: self.count()?, limit: self.count()? },
            3 => self.busy(ticket?)?,
            4 => Reply::OtherKind { ticket, stored: self.kind()?, stated: self.kind()? },
            5 => Reply::OtherLimit {
                ticket: ticket?,
                stored: self.count()?,
                stated: self.count()?,
                is_pinned: self.byte()? == 1,
            },
            6 => Reply::TooMany { ticket: ticket?, permits: self.count()?, limit: self.count()? },
            7 => Reply::TooLate { ticket: ticket? },
            8 => Reply::Ended { ticket: ticket?, cause: cause(self.byte()?)? },
            9 => Reply::Unknown { ticket: ticket? },
            10 => {
                let valid_for = Some(self.number()?);
                self.short()?;
                Reply::Renewed { valid_for }
            }
            11 => Reply::Differs,
            12 => Reply::Gone,
            13 => self.tickets()?,
            14 => Reply::Released { ticket: ticket?, left: self.count()? },
            15 => Reply::Cancelled { ticket: ticket? },
            16 => Reply::Evicted { ticket: ticket? },
            17 => Reply::Configured { limit: self.count()? },
            18 => Reply::NoSuchSlot { ticket: ticket?, there: self.names()? },
            19 => {
                let valid_for = Some(self.number()?);
                self.short()?;
                Reply::Waits { valid_for, position: self.count()? }
            }
            20 => Reply::SlotsInUse { names: self.names()? },
            21 => {
                let (snapshot, cursor) = self.page()?;
                let next = (cursor != LAST_PAGE).then(|| cursor.to_vec());
                return Some((Reply::Snapshot(snapshot), next));
            }
            _ => return None,
        };
        Some((reply, None))
    }

    fn grant(&mut self, ticket: Ticket) -> Option<Grant> {
        Some(Grant {
            ticket,
            fence: Fence(self.number()?),
            limit: self.count()?,
            valid_for: Some(self.number()?),
            slots: self.slots()?,
            names: self.names()?,
        })
    }

    fn busy(&mut self, ticket: Ticket) -> Option<Reply> {
        let why = match self.byte()? {
            1 => Busy::Full,
            2 => Busy::TooManyWaiting,
            3 => Busy::Paused,
            4 => Busy::Guarded,
            _ => return None,
        };
        let (limit, held, waiting) = (self.count()?, self.count()?, self.count()?);
        Some(Reply::Busy { ticket, why, limit, held, waiting })
    }

    fn tickets(&mut self) -> Option<Reply> {
        let valid_for = Some(self.number()?);
        let tickets = (0..self.short()?).map(|_| {
            Some(match self.byte()? {
                1 => TicketReply::Held {
                    fence: Fence(self.number()?),
                    slots: self.slots()?,
                    names: self.names()?,
                },
                2 => TicketReply::Waiting,
                8 => TicketReply::Ended(cause(self.byte()?)?),
                9 => TicketReply::Unknown,
                _ => return None,
            })
        });
        Some(Reply::Tickets { valid_for, tickets: tickets.collect::<Option<_>>()? })
    }

    /// A page of an inspection, and the cursor of the next one.
    fn page(&mut self) -> Option<(Snapshot, &'a [u8])> {
        let kind = match self.byte()? {
            0 => None,
            letter => Some(Kind::of_letter(letter.into())?),
        };
        let flags = self.byte()?;
        let (limit, stated) = (self.count()?, self.count()?);
        let (held, holders_total, waiting_total) = (self.count()?, self.count()?, self.count()?);
        let recent = RecentHolds::from_bits(self.number()?);
        let guarded_for = Some(self.number()?).filter(|guarded| *guarded > 0);
        let (reason, slot_names) = (self.text()?, self.names()?);
        let size = self.short()?;
        let cursor = self.bytes(size)?;
        let mut snapshot = Snapshot {
            kind,
            limit,
            stated: (flags & 4 > 0).then_some(stated),
            pinned: (flags & 2 > 0).then_some(limit),
            paused: (flags & 1 > 0).then(|| reason.to_owned()),
            guarded_for,
            slot_names,
            held,
            holders_total,
            waiting_total,
            // Only for display, so a damaged value is no reason to show nothing.
            recent: if recent.is_sound() { recent } else { RecentHolds::NONE },
            holders: Vec::new(),
            waiters: Vec::new(),
        };
        for _ in 0..self.short()? {
            self.row_shown(&mut snapshot)?;
        }
        Some((snapshot, cursor))
    }

    fn row_shown(&mut self, snapshot: &mut Snapshot) -> Option<()> {
        let ticket = self.ticket()?;
        if self.byte()? == b'h' {
            snapshot.holders.push(HolderRow {
                ticket,
                fence: Fence(self.number()?),
                held_for: self.number()?,
                valid_for: Some(self.number()?),
                slots: self.slots()?,
                about: self.text()?.to_owned(),
            });
            return Some(());
        }
        let permits = self.count()?;
        // The rank, by which the rows are sorted already.
        self.double()?;
        snapshot.waiters.push(WaiterRow {
            ticket,
            permits,
            priority: i8::from_le_bytes(self.take()?),
            waiting_for: self.number()?,
            unreachable: self.byte()? == 1,
            wishes: self.slots()?,
            about: self.text()?.to_owned(),
        });
        Some(())
    }
}

fn ticket_of(request: &Request) -> Option<Ticket> {
    match request {
        Request::Acquire(acquire) => Some(acquire.ticket),
        Request::Attach(attach) => Some(attach.ticket),
        Request::Release { ticket, .. }
        | Request::Cancel { ticket, .. }
        | Request::Detach { ticket, .. }
        | Request::Evict { ticket } => Some(*ticket),
        Request::Renew(_) | Request::Configure(_) | Request::Inspect { .. } => None,
    }
}

fn shorten(value: &Value) -> String {
    let mut shown = Short(String::new());
    // Writing fails on purpose once there is enough.
    let _ = write!(shown, "{value:?}");
    one_line(&shown.0)
}

/// The beginning of a text, of which there may be megabytes.
struct Short(String);

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = 120_usize.saturating_sub(self.0.chars().count());
        self.0.extend(text.chars().take(room));
        if text.chars().nth(room).is_some() { Err(fmt::Error) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
