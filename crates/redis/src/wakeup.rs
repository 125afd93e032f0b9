//! Wakeups as the scripts publish them: the event, and as the last word the key of the name.

use seinpaal_proto::{Fence, Inbox, Wakeup, What, queue};
use seinpaal_store::News;

use super::{
    keys::Keys,
    reply::{cause, number},
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
    let (kind, rest) = std::str::from_utf8(payload).ok()?.split_once(' ')?;
    let (ticket, rest) = rest.split_once(' ')?;
    let ticket = ticket.parse().ok()?;
    let (what, key) = match kind {
        "granted" => granted(rest)?,
        "ended" => {
            let (word, key) = rest.split_once(' ')?;
            (What::Ended(cause(word)?), key)
        }
        _ => return None,
    };
    Some(Wakeup { inbox, name: keys.name_of(key)?, ticket, what })
}

/// Reads a message about a queue, in the same way.
pub(super) fn parse_queue(keys: &Keys, inbox: Inbox, payload: &[u8]) -> Option<queue::Wakeup> {
    let (kind, rest) = std::str::from_utf8(payload).ok()?.split_once(' ')?;
    let (what, key) = match kind {
        "called" => (queue::What::Called, rest),
        "watch" => {
            let (look_in, key) = rest.split_once(' ')?;
            (queue::What::Watch { look_in: number(look_in)? }, key)
        }
        "lost" => lost(rest)?,
        _ => return None,
    };
    Some(queue::Wakeup { inbox, name: keys.queue_of(key)?, what })
}

fn lost(rest: &str) -> Option<(queue::What, &str)> {
    let mut fields = rest.splitn(3, ' ');
    let id = queue::ItemId(number(fields.next()?)?);
    let fence = Fence(number(fields.next()?)?);
    Some((queue::What::Lost(queue::Delivery { id, fence }), fields.next()?))
}

fn granted(rest: &str) -> Option<(What, &str)> {
    // The key is last, because a name may have spaces in it.
    let mut fields = rest.splitn(4, ' ');
    let fence = Fence(number(fields.next()?)?);
    let slots = fields.next()?.parse().ok()?;
    let limit = fields.next()?.parse().ok()?;
    Some((What::Granted { fence, slots, limit }, fields.next()?))
}

#[cfg(test)]
mod tests {
    use seinpaal_proto::{Cause, Name, Slots, Ticket};

    use super::*;

    const INBOX: Inbox = Inbox(7);
    const TOO_HIGH: &str =
        "granted 0123456789abcdef0123456789abcdef 18446744073709551615 0 1 seinpaal:{a}";

    fn parsed(payload: &str) -> Option<Wakeup> {
        parse(&Keys::new("seinpaal:").unwrap(), INBOX, payload.as_bytes())
    }

    #[test]
    fn a_grant_carries_its_fence_slots_and_limit() {
        let ticket = Ticket(10);
        let payload = format!("granted {ticket} 99 0-2,5 8 seinpaal:{{two words}}");
        let what =
            What::Granted { fence: Fence(99), slots: "0-2,5".parse::<Slots>().unwrap(), limit: 8 };
        let name = Name::new("two words").unwrap();
        assert_eq!(parsed(&payload), Some(Wakeup { inbox: INBOX, name, ticket, what }));
    }

    #[test]
    fn an_end_carries_its_cause() {
        let wakeup = parsed(&format!("ended {} evicted seinpaal:{{a}}", Ticket(1))).unwrap();
        assert_eq!(wakeup.what, What::Ended(Cause::Evicted));
    }

    #[test]
    fn a_queue_tells_of_calls_watches_and_losses() {
        let keys = Keys::new("seinpaal:").unwrap();
        let name = Name::new("two words").unwrap();
        let delivery = queue::Delivery { id: queue::ItemId(5), fence: Fence(9) };
        for (said, what) in [
            ("called", queue::What::Called),
            ("watch 250", queue::What::Watch { look_in: 250 }),
            ("lost 5 9", queue::What::Lost(delivery)),
        ] {
            let payload = format!("{said} seinpaal:{{two words}}:q");
            let wakeup = queue::Wakeup { inbox: INBOX, name: name.clone(), what };
            assert_eq!(parse_queue(&keys, INBOX, payload.as_bytes()), Some(wakeup));
            assert_eq!(parsed(&payload), None);
            let elsewhere = format!("{said} seinpaal:{{two words}}");
            assert_eq!(parse_queue(&keys, INBOX, elsewhere.as_bytes()), None);
        }
    }

    #[test]
    fn what_is_not_ours_is_passed_over() {
        for payload in
            ["", "hello", "granted x 1 0 1 seinpaal:{a}", "ended 1 evicted other:{a}", TOO_HIGH]
        {
            assert_eq!(parsed(payload), None, "{payload}");
        }
    }
}
