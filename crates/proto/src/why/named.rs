//! Explains why a waiter waits where slots are wished for by name. It applies the rules of
//! `ledger/named.rs` in reverse.

use alloc::{string::ToString, vec::Vec};

use super::{HeldBy, Holders, Reason, line::AheadOfWaiter, not_renewed};
use crate::{
    id::Ticket,
    slots::Slots,
    snapshot::{Snapshot, WaiterRow},
};

/// Returns whether it matters to this waiter which slots are free, and not only how many.
pub(super) fn is_by_name(row: &WaiterRow, line: &AheadOfWaiter<'_>) -> bool {
    let wishes = |row: &WaiterRow| !row.wishes.is_empty();
    wishes(row) || line.takers().any(wishes)
}

/// The free slots that the waiters ahead leave.
struct Left<'a> {
    open: Slots,
    permits: u32,
    /// Slots that are free but go to a waiter ahead.
    awaited: Vec<(Slots, Ticket)>,
    /// A waiter that wants more permits than are left, so that nobody passes it.
    stop: Option<&'a WaiterRow>,
}

impl<'a> Left<'a> {
    /// Goes through the waiters ahead, and takes out of the free slots those that each gets or
    /// keeps.
    fn by(seen: &Snapshot, line: &AheadOfWaiter<'a>) -> Self {
        let mut open = match seen.slot_names.count().checked_sub(1) {
            Some(last) => Slots::range(0, last),
            None => Slots::none(),
        };
        seen.holders.iter().for_each(|holder| drop(open.take(&holder.slots)));
        let mut left = Self { open, permits: line.free, awaited: Vec::new(), stop: None };
        for row in line.takers() {
            if left.stop.is_none() {
                left.serve(row);
            }
        }
        left
    }

    fn serve(&mut self, row: &'a WaiterRow) {
        let may_be_served = self.open.contains(&row.wishes);
        if may_be_served && !self.has_room_for(row) {
            self.stop = Some(row);
            return;
        }
        // A waiter that has to wait keeps the free slots among its wishes, as in the ledger.
        let mut slots = self.open.take(&row.wishes);
        if may_be_served {
            slots.extend(&self.open.split_lowest(row.permits - slots.count()));
            self.permits -= row.permits;
        }
        self.awaited.push((slots, row.ticket));
    }

    fn has_room_for(&self, row: &WaiterRow) -> bool {
        row.permits <= self.permits && row.permits <= self.open.count()
    }
}

/// Returns the reasons why the waiter is not served at the ledger's next step; none if it is
/// served.
pub(super) fn reasons(seen: &Snapshot, row: &WaiterRow, line: &AheadOfWaiter<'_>) -> Vec<Reason> {
    let left = Left::by(seen, line);
    let is_wish_there = left.open.contains(&row.wishes);
    if seen.limit == 0 || (left.stop.is_none() && is_wish_there && left.has_room_for(row)) {
        return Vec::new();
    }
    let mut reasons = Vec::new();
    if let Some(stop) = left.stop {
        reasons.extend(super::in_line(row, line));
        let free = left.open.count().min(left.permits);
        let kept = Reason::KeptFree { ticket: stop.ticket, permits: stop.permits, free };
        reasons.extend((free > 0).then_some(kept));
    }
    reasons.extend(row.wishes.iter().filter_map(|slot| held(seen, slot)));
    // If all slots of its wishes are free, it lacks any slot at all, and each slot that is kept for
    // others matters.
    let free_wishes = |slot: &u32| is_wish_there || row.wishes.contains(&one(*slot));
    for (slots, ticket) in &left.awaited {
        let awaited = slots.iter().filter(free_wishes).filter_map(|slot| {
            Some(Reason::SlotAwaited {
                name: seen.slot_names.get(slot)?.to_string(),
                ticket: *ticket,
            })
        });
        reasons.extend(awaited);
    }
    if is_wish_there && seen.held > 0 {
        let holders = Holders::new(seen);
        reasons.push(Reason::Held { free: line.free, limit: seen.limit, holders });
    }
    reasons.into_iter().chain(not_renewed(seen)).collect()
}

fn one(slot: u32) -> Slots {
    Slots::range(slot, slot)
}

fn held(seen: &Snapshot, slot: u32) -> Option<Reason> {
    let holder = seen.holders.iter().find(|row| row.slots.contains(&one(slot)))?;
    let name = seen.slot_names.get(slot)?.to_string();
    Some(Reason::SlotHeld { name, holder: HeldBy::new(holder) })
}
