//! Reads the replies of a node to requests that are not put to the vote.

use seinpaal_proto::{
    Cause, Fence, HolderRow, RecentHolds, Reply, SlotNames, Slots, Snapshot, TicketReply, WaiterRow,
};
use seinpaal_redis::node::Value;

use super::words::{ReplyWords, number};

/// Reads the reply to one request. `None` if a node never gives such a reply.
pub(super) fn reply(value: &Value) -> Option<Reply> {
    if let Value::Array(rows) = value {
        return snapshot(rows).map(Reply::Snapshot);
    }
    let mut words = ReplyWords::of(value)?;
    Some(match words.word()? {
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
        _ => return None,
    })
}

fn tickets(words: &mut ReplyWords<'_>) -> Option<Reply> {
    let valid_for = Some(words.number()?);
    let tickets = words.rest().split(' ').filter(|word| !word.is_empty()).map(ticket_reply);
    Some(Reply::Tickets { valid_for, tickets: tickets.collect::<Option<_>>()? })
}

fn ticket_reply(word: &str) -> Option<TicketReply> {
    if let Some(held) = word.strip_prefix("held:") {
        let (fence, slots) = held.split_once(':')?;
        let (fence, slots) = (Fence(number(fence)?), slots.parse().ok()?);
        return Some(TicketReply::Held { fence, slots, names: SlotNames::none() });
    }
    match word {
        "waiting" => Some(TicketReply::Waiting),
        "unknown" => Some(TicketReply::Unknown),
        over => cause(over).map(TicketReply::Ended),
    }
}

/// The cause of a ticket's end, by the word that answers and wakeups use.
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

/// Reads the answer to an inspection: the totals of a name, then a row for each holder and waiter.
fn snapshot(rows: &[Value]) -> Option<Snapshot> {
    let (totals, rows) = rows.split_first()?;
    let mut snapshot = totals_of(ReplyWords::of(totals)?)?;
    for row in rows {
        let mut words = ReplyWords::of(row)?;
        match words.word()? {
            "holder" => snapshot.holders.push(holder(&mut words)?),
            "waiter" => snapshot.waiters.push(waiter(&mut words)?),
            _ => return None,
        }
    }
    Some(snapshot)
}

fn totals_of(mut words: ReplyWords<'_>) -> Option<Snapshot> {
    words.expect("snapshot")?;
    Some(Snapshot {
        kind: words.kind_or_dash()?,
        limit: words.parsed()?,
        stated: words.limit_or_none()?,
        pinned: words.limit_or_none()?,
        slot_names: SlotNames::none(),
        held: words.parsed()?,
        holders_total: words.parsed()?,
        waiting_total: words.parsed()?,
        guarded_for: Some(words.number()?).filter(|guarded| *guarded > 0),
        recent: recent(words.word()?),
        paused: words.reason()?,
        holders: Vec::new(),
        waiters: Vec::new(),
    })
}

/// Reads the lengths of the last holds. A damaged number gives none.
fn recent(word: &str) -> RecentHolds {
    let kept = word.parse().ok().map(RecentHolds::from_bits);
    kept.filter(|recent| recent.is_sound()).unwrap_or_default()
}

fn holder(words: &mut ReplyWords<'_>) -> Option<HolderRow> {
    Some(HolderRow {
        ticket: words.parsed()?,
        fence: Fence(words.number()?),
        slots: words.parsed()?,
        held_for: words.number()?,
        valid_for: Some(words.number()?),
        about: words.rest().to_owned(),
    })
}

fn waiter(words: &mut ReplyWords<'_>) -> Option<WaiterRow> {
    Some(WaiterRow {
        ticket: words.parsed()?,
        permits: words.parsed()?,
        wishes: Slots::none(),
        priority: words.parsed()?,
        waiting_for: words.number()?,
        unreachable: words.flag()?,
        about: words.rest().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    #[test]
    fn an_empty_reason_is_still_a_pause() {
        let rows = [text("snapshot s 4 -1 4 0 0 0 0 0 1")];
        assert_eq!(snapshot(&rows).unwrap().paused, Some(String::new()));
    }

    #[test]
    fn what_a_node_never_says_is_no_reply() {
        for said in ["", "winged 1", "released 1", "renewed 9007199254740993", "tickets 5 held:1"] {
            assert_eq!(reply(&text(said)), None, "{said}");
        }
        assert_eq!(reply(&Value::Int(1)), None);
        assert_eq!(reply(&Value::Array(vec![])), None);
    }
}
