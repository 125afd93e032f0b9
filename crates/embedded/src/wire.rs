//! The form of a datagram between two clients of the same directory.
//!
//! `version, kind, length of name, name`, then for wakeups about that name any number of `ticket,
//! 1, fence, limit, length of slots, slots` and `ticket, 2, cause`, and for wakeups about that
//! queue any number of `1`, `2, look in` and `3, item, fence`. Numbers are big-endian. A datagram
//! that cannot be read is ignored: it came from another version, and it is only a hint.

mod queues;

use seinpaal_proto::{Cause, Fence, Inbox, Name, Ticket, Wakeup, What, queue, time::UNBOUNDED};

use super::line::LineOf;
pub use queues::encode_queue_wakeups;

const VERSION: u8 = 1;
/// The longest datagram. If the news are longer, the receiver is told to look for itself.
const MOST_BYTES: usize = 32 * 1024;
/// Room for any datagram.
pub(super) const BUFFER: usize = MOST_BYTES + 1024;

const WAKEUPS: u8 = 1;
const WATCH: u8 = 2;
const LOOK_AGAIN: u8 = 3;
const QUEUE: u8 = 4;
const WATCH_WORKERS: u8 = 5;
const ACCEPT: u8 = 6;
const GRANTED: u8 = 1;
const ENDED: u8 = 2;

/// A message from one client to another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Message {
    /// These tickets of one name have changed.
    Wakeups(Vec<Wakeup>),
    /// A queue has changed.
    Queue(Vec<queue::Wakeup>),
    /// The receiver is first in line here, and other clients hold now: it should watch them.
    Watch(LineOf),
    /// There was more news than fits into a datagram.
    LookAgain,
    /// Another client wants to watch the receiver and finds no room: the receiver should accept the
    /// connections that wait.
    Accept,
}

/// Encodes wakeups that are all for one inbox and about one name.
pub fn encode_wakeups(name: &Name, wakeups: &[&Wakeup]) -> Vec<u8> {
    let mut bytes = start(WAKEUPS, name);
    for wakeup in wakeups {
        bytes.extend(wakeup.ticket.0.to_be_bytes());
        encode_what(&mut bytes, &wakeup.what);
    }
    or_look_again(bytes)
}

pub fn encode_watch(line_of: &LineOf) -> Vec<u8> {
    match line_of {
        LineOf::Permits(name) => start(WATCH, name),
        LineOf::Items(name) => start(WATCH_WORKERS, name),
    }
}

pub(super) fn encode_accept() -> Vec<u8> {
    vec![VERSION, ACCEPT, 0, 0]
}

fn or_look_again(bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() > MOST_BYTES { vec![VERSION, LOOK_AGAIN, 0, 0] } else { bytes }
}

fn start(kind: u8, name: &Name) -> Vec<u8> {
    let mut bytes = vec![VERSION, kind];
    // A name has at most 512 bytes.
    bytes.extend((name.len() as u16).to_be_bytes());
    bytes.extend(name.as_bytes());
    bytes
}

fn encode_what(bytes: &mut Vec<u8>, what: &What) {
    match what {
        What::Granted { fence, slots, limit } => {
            let slots = slots.to_string();
            bytes.push(GRANTED);
            bytes.extend(fence.0.to_be_bytes());
            bytes.extend(limit.to_be_bytes());
            bytes.extend((slots.len() as u32).to_be_bytes());
            bytes.extend(slots.as_bytes());
        }
        What::Ended(cause) => bytes.extend([ENDED, cause_code(*cause)]),
    }
}

/// Decodes a datagram that arrived at `inbox`.
pub fn decode(inbox: Inbox, bytes: &[u8]) -> Option<Message> {
    let mut reader = Reader(bytes);
    let [version, kind] = reader.array()?;
    let length = u16::from_be_bytes(reader.array()?);
    let name = reader.text(length.into())?;
    match (version, kind) {
        (VERSION, WAKEUPS) => decode_wakeups(inbox, &Name::new(name).ok()?, reader),
        (VERSION, WATCH) => Some(Message::Watch(LineOf::Permits(Name::new(name).ok()?))),
        (VERSION, WATCH_WORKERS) => Some(Message::Watch(LineOf::Items(Name::new(name).ok()?))),
        (VERSION, QUEUE) => queues::decode(inbox, &Name::new(name).ok()?, reader),
        (VERSION, LOOK_AGAIN) => Some(Message::LookAgain),
        (VERSION, ACCEPT) => Some(Message::Accept),
        _ => None,
    }
}

fn decode_wakeups(inbox: Inbox, name: &Name, mut reader: Reader<'_>) -> Option<Message> {
    let mut wakeups = Vec::new();
    while !reader.0.is_empty() {
        let ticket = Ticket(u128::from_be_bytes(reader.array()?));
        let what = decode_what(&mut reader)?;
        wakeups.push(Wakeup { inbox, name: name.clone(), ticket, what });
    }
    Some(Message::Wakeups(wakeups))
}

fn decode_what(reader: &mut Reader<'_>) -> Option<What> {
    match reader.array()? {
        [GRANTED] => {
            let fence = Fence(u64::from_be_bytes(reader.array()?));
            (fence.0 <= UNBOUNDED).then_some(())?;
            let limit = u32::from_be_bytes(reader.array()?);
            let length = u32::from_be_bytes(reader.array()?);
            let slots = reader.text(length as usize)?.parse().ok()?;
            Some(What::Granted { fence, slots, limit })
        }
        [ENDED] => {
            let [code] = reader.array()?;
            Some(What::Ended(cause_of(code)?))
        }
        _ => None,
    }
}

/// Returns the number by which a cause is kept and sent. A number is never reused for another
/// cause.
pub(super) fn cause_code(cause: Cause) -> u8 {
    match cause {
        Cause::Released => 1,
        Cause::Cancelled => 2,
        Cause::Evicted => 4,
        Cause::TooMany => 5,
        Cause::Attached => 6,
        Cause::Expired => 3,
    }
}

pub(super) fn cause_of(code: u8) -> Option<Cause> {
    Some(match code {
        1 => Cause::Released,
        2 => Cause::Cancelled,
        3 => Cause::Expired,
        4 => Cause::Evicted,
        5 => Cause::TooMany,
        6 => Cause::Attached,
        _ => return None,
    })
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }

    fn text(&mut self, length: usize) -> Option<&'a str> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(head).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seinpaal_proto::Slots;

    fn wakeup(ticket: u128, what: What) -> Wakeup {
        Wakeup { inbox: Inbox(9), name: Name::new("a b").unwrap(), ticket: Ticket(ticket), what }
    }

    fn granted() -> What {
        What::Granted { fence: Fence(7), slots: Slots::range(2, 5), limit: 9 }
    }

    #[test]
    fn wakeups_survive_the_way() {
        let sent = [wakeup(1, granted()), wakeup(u128::MAX, What::Ended(Cause::TooMany))];
        let bytes = encode_wakeups(&sent[0].name, &sent.iter().collect::<Vec<_>>());
        assert_eq!(decode(Inbox(9), &bytes), Some(Message::Wakeups(sent.to_vec())));
    }

    #[test]
    fn what_is_cut_off_or_foreign_is_ignored() {
        let sent = wakeup(1, granted());
        let bytes = encode_wakeups(&sent.name, &[&sent]);
        let whole = 4 + sent.name.len();
        for length in (0..bytes.len()).filter(|length| *length != whole) {
            assert_eq!(decode(Inbox(9), &bytes[..length]), None, "{length} bytes");
        }
        assert_eq!(decode(Inbox(9), &[2, 1, 0, 0]), None);
    }

    #[test]
    fn a_wish_for_room_survives_the_way() {
        assert_eq!(decode(Inbox(9), &encode_accept()), Some(Message::Accept));
    }

    #[test]
    fn more_than_fits_is_told_as_look_again() {
        let sent = wakeup(1, granted());
        let bytes = encode_wakeups(&sent.name, &vec![&sent; 2000]);
        assert_eq!(decode(Inbox(9), &bytes), Some(Message::LookAgain));
    }
}
