//! The answers of the scripts. An answer in words begins with a known word, and an unknown word is
//! reported as damage. An answer of the lean path is packed.

mod line;
mod snapshot;
mod words;

use std::fmt::{self, Write};

use redis::Value;
use seinpaal_proto::{
    Acquire, Batch, Busy, Cause, Fence, Grant, Replies, Reply, Request, SlotNames, Slots,
    TicketReply, time::UNBOUNDED,
};

pub use self::words::{ReplyWords, number};
use super::{error::one_line, named::decoded};
use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

/// Reads the answer of a script to a batch of this many requests.
// Used by fuzz/.
pub fn parse(value: Value, script: &'static str, requests: usize) -> Result<Replies, StoreError> {
    read(&value, requests).ok_or_else(|| unreadable(script, &value))
}

/// Reads the answer to a batch, which may be packed. The headers of `lean.lua` and `line.lua` have
/// the formats.
// Used by fuzz/.
pub fn of_batch(value: Value, script: &'static str, batch: &Batch) -> Result<Replies, StoreError> {
    let replies = match &value {
        Value::Int(now) => u64::try_from(*now).ok().and_then(|now| packed(now, &[], batch)),
        // The time of a line is below zero: the last byte of a double has the sign.
        Value::BulkString(bytes) if bytes.get(7).is_some_and(|high| *high >= 0x80) => {
            line::read(bytes, batch)
        }
        Value::BulkString(bytes) => {
            exact(bytes, 0).and_then(|now| packed(now, bytes.get(8..)?, batch))
        }
        _ => return parse(value, script, batch.requests.len()),
    };
    replies.ok_or_else(|| unreadable(script, &value))
}

/// The replies to a batch, made of the requests and the numbers in the answer: fence, first slot
/// and length of each grant. If the answer has the time alone, the only acquire has that time as
/// its fence, the first slots, and all of its ttl.
fn packed(now: u64, grants: &[u8], batch: &Batch) -> Option<Replies> {
    let is_alone = grants.is_empty() && batch.requests.len() == 1;
    let mut grants = grants.chunks_exact(20);
    let mut replies = Vec::with_capacity(batch.requests.len());
    for request in &batch.requests {
        replies.push(match request {
            Request::Acquire(acquire) if is_alone => {
                Reply::Granted(plain_grant(acquire, now, 0, acquire.ttl)?)
            }
            Request::Acquire(acquire) => {
                let told = grants.next()?;
                let slot = u32::from_le_bytes(told.get(8..12)?.try_into().ok()?);
                Reply::Granted(plain_grant(acquire, exact(told, 0)?, slot, exact(told, 12)?)?)
            }
            Request::Release { ticket, slots: None } => {
                Reply::Released { ticket: *ticket, left: 0 }
            }
            Request::Renew(renew) => Reply::Renewed { valid_for: Some(renew.ttl) },
            _ => return None,
        });
    }
    let is_whole = now <= UNBOUNDED && grants.remainder().is_empty() && grants.next().is_none();
    is_whole.then_some(Replies { now, replies, backlog: false, look_in: None })
}

/// A grant on the lean path. The answer does not have its limit, because that is the limit that was
/// asked for, or else 1.
fn plain_grant(acquire: &Acquire, fence: u64, slot: u32, valid_for: u64) -> Option<Grant> {
    Some(Grant {
        ticket: acquire.ticket,
        fence: Fence(fence),
        slots: Slots::range(slot, slot.checked_add(acquire.permits.get() - 1)?),
        names: SlotNames::none(),
        limit: acquire.limit.map_or(1, |rule| rule.limit.get()),
        valid_for: Some(valid_for),
    })
}

/// A whole number from 0 to 2^53, as Lua has it.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
pub(super) fn exact(bytes: &[u8], at: usize) -> Option<u64> {
    let number = f64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?);
    (0.0..=9_007_199_254_740_992.0).contains(&number).then_some(number as u64)
}

/// The error for an answer that cannot be read. The script ran, and only its answer is lost.
pub(super) fn unreadable(script: &str, value: &Value) -> StoreError {
    let message = format!(
        "the script {script} answered {}, which cannot be read: is there a proxy that changes replies?",
        shorten(value)
    );
    StoreError::new(StoreErrorKind::Corrupt, Certainty::Unknown, message)
}

fn read(value: &Value, requests: usize) -> Option<Replies> {
    let Value::Array(answers) = value else { return None };
    let (done, rest) = answers.split_first()?;
    let mut done = ReplyWords::of(done)?;
    done.expect("done")?;
    let now = done.number()?;
    let backlog = done.flag()?;
    let look_in = done.or_dash()?;
    let replies = rest.iter().map(reply).collect::<Option<Vec<_>>>()?;
    (replies.len() == requests).then_some(Replies { now, replies, backlog, look_in })
}

/// Reads the reply to one request.
pub fn reply(value: &Value) -> Option<Reply> {
    if let Value::Array(rows) = value {
        return snapshot::read(rows).map(Reply::Snapshot);
    }
    let mut words = ReplyWords::of(value)?;
    Some(match words.word()? {
        "granted" => Reply::Granted(granted(&mut words)?),
        "queued" => Reply::Queued {
            ticket: words.parsed()?,
            waiting: words.parsed()?,
            limit: words.parsed()?,
        },
        "busy" => Reply::Busy {
            ticket: words.parsed()?,
            why: busy(words.word()?)?,
            limit: words.parsed()?,
            held: words.parsed()?,
            waiting: words.parsed()?,
        },
        "other-kind" => Reply::OtherKind {
            ticket: words.ticket_or_dash()?,
            stored: words.kind()?,
            stated: words.kind()?,
        },
        "other-limit" => Reply::OtherLimit {
            ticket: words.parsed()?,
            stored: words.parsed()?,
            stated: words.parsed()?,
            is_pinned: words.flag()?,
        },
        "too-many" => Reply::TooMany {
            ticket: words.parsed()?,
            permits: words.parsed()?,
            limit: words.parsed()?,
        },
        "no-such-slot" => {
            Reply::NoSuchSlot { ticket: words.parsed()?, there: decoded(words.rest())? }
        }
        "too-late" => Reply::TooLate { ticket: words.parsed()? },
        "ended" => Reply::Ended { ticket: words.parsed()?, cause: cause(words.word()?)? },
        "unknown" => Reply::Unknown { ticket: words.parsed()? },
        "renewed" => Reply::Renewed { valid_for: Some(words.number()?) },
        "differs" => Reply::Differs,
        "gone" => Reply::Gone,
        "tickets" => tickets(&mut words)?,
        "released" => Reply::Released { ticket: words.parsed()?, left: words.parsed()? },
        "cancelled" => Reply::Cancelled { ticket: words.parsed()? },
        "evicted" => Reply::Evicted { ticket: words.parsed()? },
        "slots-in-use" => Reply::SlotsInUse { names: decoded(words.rest())? },
        "configured" => Reply::Configured { limit: words.parsed()? },
        _ => return None,
    })
}

fn granted(words: &mut ReplyWords<'_>) -> Option<Grant> {
    let (ticket, fence) = (words.parsed()?, Fence(words.number()?));
    let (slots, names) = slots_and_names(words.word()?)?;
    Some(Grant {
        ticket,
        fence,
        slots,
        names,
        limit: words.parsed()?,
        valid_for: Some(words.number()?),
    })
}

/// Reads slots, and after a semicolon their names if they have some, as
/// [`encoded`](super::named::encoded) writes them.
fn slots_and_names(word: &str) -> Option<(Slots, SlotNames)> {
    let (slots, names) = word.split_once(';').unwrap_or((word, ""));
    Some((slots.parse().ok()?, decoded(names)?))
}

fn tickets(words: &mut ReplyWords<'_>) -> Option<Reply> {
    let valid_for = Some(words.number()?);
    let tickets = words.rest().split(' ').filter(|word| !word.is_empty()).map(ticket_reply);
    Some(Reply::Tickets { valid_for, tickets: tickets.collect::<Option<_>>()? })
}

fn ticket_reply(word: &str) -> Option<TicketReply> {
    if let Some(held) = word.strip_prefix("held:") {
        let (fence, slots) = held.split_once(':')?;
        let (slots, names) = slots_and_names(slots)?;
        return Some(TicketReply::Held { fence: Fence(number(fence)?), slots, names });
    }
    match word {
        "waiting" => Some(TicketReply::Waiting),
        "unknown" => Some(TicketReply::Unknown),
        over => cause(over).map(TicketReply::Ended),
    }
}

fn busy(word: &str) -> Option<Busy> {
    match word {
        "full" => Some(Busy::Full),
        "too-many-waiting" => Some(Busy::TooManyWaiting),
        "paused" => Some(Busy::Paused),
        "guarded" => Some(Busy::Guarded),
        _ => None,
    }
}

/// The cause of a ticket's end, by the word that scripts and wakeups use.
pub(super) fn cause(word: &str) -> Option<Cause> {
    match word {
        "released" => Some(Cause::Released),
        "cancelled" => Some(Cause::Cancelled),
        "expired" => Some(Cause::Expired),
        "evicted" => Some(Cause::Evicted),
        "toomany" => Some(Cause::TooMany),
        "attached" => Some(Cause::Attached),
        _ => None,
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
