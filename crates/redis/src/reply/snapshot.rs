//! Reads the answer of an inspection: the totals of a name, then a row for each holder and waiter.

use redis::Value;
use seinpaal_proto::{Fence, HolderRow, RecentHolds, SlotNames, Slots, Snapshot, WaiterRow};

use super::ReplyWords;
use crate::named::decoded;

pub(super) fn read(rows: &[Value]) -> Option<Snapshot> {
    let (totals, rows) = rows.split_first()?;
    let mut snapshot = totals_of(ReplyWords::of(totals)?)?;
    for row in rows {
        let mut words = ReplyWords::of(row)?;
        match words.word()? {
            "holder" => snapshot.holders.push(holder(&mut words)?),
            "waiter" => snapshot.waiters.push(waiter(&mut words)?),
            "wisher" => {
                let wishes = words.parsed()?;
                snapshot.waiters.push(WaiterRow { wishes, ..waiter(&mut words)? });
            }
            "names" => snapshot.slot_names = decoded(words.rest())?,
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
        // The reason stands last, because it may contain spaces.
        paused: match words.rest().split_at_checked(1)? {
            ("0", _) => None,
            ("1", reason) => Some(reason.to_owned()),
            _ => return None,
        },
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
