//! Wakeups as the scripts publish them. The key of the name stands last.

use seinpaal_proto::{Fence, Inbox, Wakeup, What, queue};
use seinpaal_store::News;

use super::{
    decode::{Reader, cause},
    keys::Keys,
};

/// Reads a message about a name or a queue.
pub(super) fn read(keys: &Keys, inbox: Inbox, payload: &[u8]) -> Option<News> {
    let queue = parse_queue(keys, inbox, payload).map(News::Queue);
    queue.or_else(|| parse(keys, inbox, payload).map(News::Wakeup))
}

/// Reads a message about a name. `None` if the message is not one of ours, or cannot be read: a
/// wakeup is only a hint, so it may be skipped.
// Used by fuzz/.
pub fn parse(keys: &Keys, inbox: Inbox, payload: &[u8]) -> Option<Wakeup> {
    let mut reader = Reader(payload);
    let ticket = reader.ticket()?;
    let what = match reader.byte()? {
        b'g' => {
            let (fence, limit) = (Fence(reader.number()?), reader.count()?);
            What::Granted { fence, limit, slots: reader.slots()? }
        }
        b'e' => What::Ended(cause(reader.byte()?)?),
        _ => return None,
    };
    let name = keys.name_of(std::str::from_utf8(reader.0).ok()?)?;
    Some(Wakeup { inbox, name, ticket, what })
}

/// Reads a message about a queue, in the same way.
// Used by fuzz/.
pub fn parse_queue(keys: &Keys, inbox: Inbox, payload: &[u8]) -> Option<queue::Wakeup> {
    let mut reader = Reader(payload);
    let [id, fence] = [reader.take()?, reader.take()?].map(u64::from_be_bytes);
    let what = match reader.byte()? {
        b'c' => queue::What::Called,
        b'w' => queue::What::Watch { look_in: reader.number()? },
        b'l' => queue::What::Lost(queue::Delivery { id: queue::ItemId(id), fence: Fence(fence) }),
        _ => return None,
    };
    let name = keys.queue_of(std::str::from_utf8(reader.0).ok()?)?;
    Some(queue::Wakeup { inbox, name, what })
}

#[cfg(test)]
mod tests {
    use seinpaal_proto::{Cause, Name, Slots, Ticket};

    use super::*;

    const INBOX: Inbox = Inbox(7);
    fn parsed(payload: &str) -> Option<Wakeup> {
        parse(&Keys::new("seinpaal:").unwrap(), INBOX, payload.as_bytes())
    }

    /// A message about ticket 10 at the name `two words`.
    fn message(what: &[u8]) -> Vec<u8> {
        [&10_u128.to_be_bytes()[..], what, b"seinpaal:{two words}"].concat()
    }

    #[test]
    fn a_grant_carries_its_fence_limit_and_slots() {
        let numbers =
            [2_u16.to_le_bytes().to_vec(), [0, 2, 5, 5_u32].map(u32::to_le_bytes).concat()];
        let what = [
            b"g".to_vec(),
            99_f64.to_le_bytes().to_vec(),
            8_u32.to_le_bytes().to_vec(),
            numbers.concat(),
        ];
        let wakeup = parse(&Keys::new("seinpaal:").unwrap(), INBOX, &message(&what.concat()));
        let what =
            What::Granted { fence: Fence(99), slots: "0-2,5".parse::<Slots>().unwrap(), limit: 8 };
        let name = Name::new("two words").unwrap();
        assert_eq!(wakeup, Some(Wakeup { inbox: INBOX, name, ticket: Ticket(10), what }));
    }

    #[test]
    fn an_end_carries_its_cause() {
        let wakeup = parse(&Keys::new("seinpaal:").unwrap(), INBOX, &message(b"e\x03")).unwrap();
        assert_eq!(wakeup.what, What::Ended(Cause::Evicted));
    }

    #[test]
    fn a_queue_tells_of_calls_watches_and_losses() {
        let keys = Keys::new("seinpaal:").unwrap();
        let name = Name::new("two words").unwrap();
        let delivery = queue::Delivery { id: queue::ItemId(5), fence: Fence(9) };
        let [none, lost] = [[0, 0], [5, 9]].map(|numbers| numbers.map(u64::to_be_bytes).concat());
        let watch = [&[b'w'][..], &250_f64.to_le_bytes()].concat();
        for (said, what) in [
            ([&none[..], b"c"].concat(), queue::What::Called),
            ([none, watch].concat(), queue::What::Watch { look_in: 250 }),
            ([&lost[..], b"l"].concat(), queue::What::Lost(delivery)),
        ] {
            let payload = [&said, &b"seinpaal:{two words}:q"[..]].concat();
            let wakeup = queue::Wakeup { inbox: INBOX, name: name.clone(), what };
            assert_eq!(parse_queue(&keys, INBOX, &payload), Some(wakeup));
            assert_eq!(parse(&keys, INBOX, &payload), None);
            let elsewhere = [&said, &b"seinpaal:{two words}"[..]].concat();
            assert_eq!(parse_queue(&keys, INBOX, &elsewhere), None);
        }
    }

    #[test]
    fn what_is_not_ours_is_passed_over() {
        for payload in
            ["", "hello", "0123456789abcdefe\u{9}seinpaal:{a}", "0123456789abcdefe\u{3}other:{a}"]
        {
            assert_eq!(parsed(payload), None, "{payload}");
        }
    }
}
