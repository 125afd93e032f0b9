//! Wakeups as the node script publishes them: the event, and as the last word the key of the name.

use seinpaal_proto::{Fence, Inbox, Wakeup, What};
use seinpaal_redis::node::Keys;
use seinpaal_store::News;

use super::{reply::cause, words::number};

/// Reads a message. `None` if the message is not one of ours, or cannot be read: a wakeup is only a
/// hint, so it may be skipped.
// Used by fuzz/.
pub fn read(keys: &Keys, inbox: Inbox, payload: &[u8]) -> Option<News> {
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
    Some(News::Wakeup(Wakeup { inbox, name: keys.name_of(key)?, ticket, what }))
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

    fn read_from(payload: &str) -> Option<Wakeup> {
        match read(&Keys::new("seinpaal:").unwrap(), INBOX, payload.as_bytes())? {
            News::Wakeup(wakeup) => Some(wakeup),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_hint_is_a_grant_with_the_fence_0() {
        let ticket = Ticket(10);
        let payload = format!("granted {ticket} 0 , 8 seinpaal:{{two words}}");
        let what = What::Granted { fence: Fence(0), slots: Slots::none(), limit: 8 };
        let name = Name::new("two words").unwrap();
        assert_eq!(read_from(&payload), Some(Wakeup { inbox: INBOX, name, ticket, what }));
    }

    #[test]
    fn an_end_carries_its_cause() {
        let wakeup = read_from(&format!("ended {} evicted seinpaal:{{a}}", Ticket(1))).unwrap();
        assert_eq!(wakeup.what, What::Ended(Cause::Evicted));
    }

    #[test]
    fn what_is_not_ours_is_passed_over() {
        let ticket = Ticket(1);
        for payload in [
            "",
            "hello",
            "granted x 0 , 1 seinpaal:{a}",
            &format!("granted {ticket} 18446744073709551615 , 1 seinpaal:{{a}}"),
            &format!("ended {ticket} evicted other:{{a}}"),
            &format!("called {ticket} seinpaal:{{a}}"),
        ] {
            assert_eq!(read_from(payload), None, "{payload}");
        }
    }
}
