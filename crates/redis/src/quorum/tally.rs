//! What the answers of several nodes to the same request say together: pure.

use std::{cmp::Reverse, collections::BTreeMap};

use seinpaal_proto::{
    Cause, HolderRow, Kind, Reply, Request, SlotNames, Slots, Snapshot, Ticket, TicketReply,
    WaiterRow, time::Micros,
};

use super::{
    answer::{NodeAnswer, NodeReply},
    settings::Settings,
};

/// The answers to one request, a majority at least, and how many nodes there are.
#[derive(Clone, Copy)]
pub(super) struct Tally<'a> {
    pub(super) answers: &'a [(&'a NodeAnswer, &'a NodeReply)],
    pub(super) nodes: usize,
}

impl<'a> Tally<'a> {
    fn majority(&self) -> usize {
        self.nodes / 2 + 1
    }

    fn silent(&self) -> usize {
        self.nodes - self.answers.len()
    }

    fn replies(&self) -> impl Iterator<Item = &'a Reply> + Clone {
        self.answers.iter().filter_map(|(_, reply)| match reply {
            NodeReply::Plain(reply) => Some(reply),
            _ => None,
        })
    }

    fn count(&self, is: impl Fn(&Reply) -> bool) -> usize {
        self.replies().filter(|reply| is(reply)).count()
    }

    /// The answer of the quorum. `None`: nobody can tell.
    pub(super) fn reply(&self, request: &Request) -> Option<Reply> {
        match request {
            Request::Renew(_) => self.renewed(),
            Request::Detach { ticket, .. } => Some(self.detached(*ticket)),
            Request::Release { ticket, .. } => Some(self.released(*ticket)),
            Request::Cancel { ticket, .. } => {
                let cancelled = self.count(|reply| matches!(reply, Reply::Cancelled { .. }));
                (cancelled >= self.majority()).then_some(Reply::Cancelled { ticket: *ticket })
            }
            Request::Evict { ticket } => Some(self.evicted(*ticket)),
            Request::Inspect { rows } => Some(Reply::Snapshot(self.snapshot(*rows as usize))),
            _ => None,
        }
    }

    /// Renewed by a majority, or not renewed.
    fn renewed(&self) -> Option<Reply> {
        if self.replies().any(|reply| matches!(reply, Reply::Tickets { .. })) {
            return self.tickets();
        }
        if let Some(valid_for) = self.renewed_for() {
            return Some(Reply::Renewed { valid_for: Some(valid_for) });
        }
        let gone = self.count(|reply| matches!(reply, Reply::Gone));
        Some(if gone >= self.majority() { Reply::Gone } else { Reply::Differs })
    }

    /// For how long a majority has renewed it at least.
    fn renewed_for(&self) -> Option<Micros> {
        let valid = self.replies().filter_map(|reply| match reply {
            Reply::Renewed { valid_for } => *valid_for,
            _ => None,
        });
        let mut valid: Vec<Micros> = valid.collect();
        valid.sort_unstable_by(|a, b| b.cmp(a));
        valid.get(self.majority() - 1).copied()
    }

    fn detached(&self, ticket: Ticket) -> Reply {
        let causes = self.replies().filter_map(|reply| match reply {
            Reply::Ended { cause, .. } => Some(*cause),
            _ => None,
        });
        match (self.renewed_for(), weightiest(&causes.collect::<Vec<_>>())) {
            (Some(valid_for), _) => Reply::Renewed { valid_for: Some(valid_for) },
            (None, Some(cause)) => Reply::Ended { ticket, cause },
            (None, None) => Reply::Unknown { ticket },
        }
    }

    fn tickets(&self) -> Option<Reply> {
        let mut valid = Vec::new();
        let mut columns: Vec<Vec<&TicketReply>> = Vec::new();
        for reply in self.replies() {
            let Reply::Tickets { valid_for, tickets } = reply else { return None };
            valid.extend(*valid_for);
            columns.resize(tickets.len(), Vec::new());
            columns.iter_mut().zip(tickets).for_each(|(column, ticket)| column.push(ticket));
        }
        let tickets = columns.iter().map(|column| self.ticket(column)).collect();
        Some(Reply::Tickets { valid_for: valid.into_iter().min(), tickets })
    }

    fn ticket(&self, column: &[&TicketReply]) -> TicketReply {
        if let Some(held) = self.held(column) {
            return held;
        }
        let causes: Vec<Cause> = column
            .iter()
            .filter_map(|reply| match reply {
                TicketReply::Ended(cause) => Some(*cause),
                _ => None,
            })
            .collect();
        let waiting = column.iter().any(|reply| matches!(reply, TicketReply::Waiting));
        match weightiest(&causes) {
            Some(cause) => TicketReply::Ended(cause),
            None if waiting => TicketReply::Waiting,
            None => TicketReply::Unknown,
        }
    }

    /// A majority has it under the same fence. Slots that one of them has taken back already are not held.
    fn held(&self, column: &[&TicketReply]) -> Option<TicketReply> {
        let votes = || {
            column.iter().filter_map(|reply| match reply {
                TicketReply::Held { fence, slots, .. } => Some((*fence, slots)),
                _ => None,
            })
        };
        let count = |fence| votes().filter(|vote| vote.0 == fence).count();
        let fence = votes().map(|vote| vote.0).find(|fence| count(*fence) >= self.majority())?;
        let mut of_fence = votes().filter(|vote| vote.0 == fence);
        let mut slots = of_fence.next()?.1.clone();
        of_fence.for_each(|(_, others)| slots = slots.take(others));
        Some(TicketReply::Held { fence, slots, names: SlotNames::none(), asks: Vec::new() })
    }

    fn released(&self, ticket: Ticket) -> Reply {
        let mut left: Vec<u32> = self
            .replies()
            .filter_map(|reply| match reply {
                Reply::Released { left, .. } => Some(*left),
                _ => None,
            })
            .collect();
        let causes: Vec<Cause> = self
            .replies()
            .filter_map(|reply| match reply {
                Reply::Ended { cause, .. } => Some(*cause),
                _ => None,
            })
            .collect();
        left.sort_unstable();
        match (left.first(), weightiest(&causes)) {
            (Some(left), None) => Reply::Released { ticket, left: *left },
            (Some(first), Some(_)) if left.len() >= self.majority() => {
                Reply::Released { ticket, left: *first }
            }
            (_, Some(cause)) => Reply::Ended { ticket, cause },
            (None, None) => Reply::Unknown { ticket },
        }
    }

    fn evicted(&self, ticket: Ticket) -> Reply {
        let any = self.count(|reply| matches!(reply, Reply::Evicted { .. })) > 0;
        if any { Reply::Evicted { ticket } } else { Reply::Unknown { ticket } }
    }

    /// What a majority shows, or may show if those who did not answer agree.
    fn snapshot(&self, rows: usize) -> Snapshot {
        let seen: Vec<&Snapshot> = self
            .replies()
            .filter_map(|reply| match reply {
                Reply::Snapshot(snapshot) => Some(snapshot),
                _ => None,
            })
            .collect();
        let settings =
            Settings::of(self.answers.iter().map(|(answer, _)| *answer), self.majority());
        let is_whole = seen.iter().all(|s| {
            s.holders.len() == s.holders_total as usize
                && s.waiters.len() == s.waiting_total as usize
        });
        let mut holders = self.holders(&seen);
        let mut waiters = self.waiters(&seen, &holders);
        let median = |number: &dyn Fn(&Snapshot) -> u32| {
            let mut numbers: Vec<u32> = seen.iter().map(|snapshot| number(snapshot)).collect();
            numbers.sort_unstable();
            numbers.get(numbers.len() / 2).copied().unwrap_or(0)
        };
        let held = holders.iter().map(|row| row.slots.count()).sum();
        let (holders_total, waiting_total) = (holders.len() as u32, waiters.len() as u32);
        holders.truncate(rows);
        waiters.truncate(rows);
        Snapshot {
            kind: kind(&seen),
            limit: settings.limit(),
            stated: settings.stated,
            pinned: settings.pinned,
            slot_names: SlotNames::none(),
            paused: settings.paused,
            guarded_for: self.guarded_for(),
            held: if is_whole { held } else { median(&|seen| seen.held) },
            holders_total: if is_whole {
                holders_total
            } else {
                median(&|seen| seen.holders_total)
            },
            waiting_total: if is_whole {
                waiting_total
            } else {
                median(&|seen| seen.waiting_total)
            },
            holders,
            waiters,
        }
    }

    /// For how long nobody is admitted: until so few nodes abstain that the others are a majority.
    fn guarded_for(&self) -> Option<Micros> {
        let mut left: Vec<Micros> =
            self.answers.iter().map(|(answer, _)| answer.guard.left).collect();
        left.sort_unstable();
        left.get(self.majority() - 1).copied().filter(|left| *left > 0)
    }

    fn holders(&self, seen: &[&Snapshot]) -> Vec<HolderRow> {
        let mut found: BTreeMap<(u64, Ticket), Vec<&HolderRow>> = BTreeMap::new();
        for row in seen.iter().flat_map(|snapshot| &snapshot.holders) {
            found.entry((row.fence.0, row.ticket)).or_default().push(row);
        }
        let may_hold = |rows: &Vec<&HolderRow>| rows.len() + self.silent() >= self.majority();
        let rows = found.into_values().filter(may_hold);
        one_a_slot(rows.map(|rows| (rows.len(), self.holder(&rows))).collect())
    }

    fn holder(&self, rows: &[&HolderRow]) -> HolderRow {
        let mut row = rows[0].clone();
        let mut valid: Vec<_> = rows.iter().filter_map(|row| row.valid_for).collect();
        valid.sort_unstable_by(|a, b| b.cmp(a));
        row.valid_for = valid.get(self.majority() - 1).or_else(|| valid.last()).copied();
        row.slots = most_common_slots(rows);
        if let Some(about) = rows.iter().map(|row| &row.about).find(|about| !about.is_empty()) {
            row.about.clone_from(about);
        }
        row
    }

    /// In the order in which the nodes, on the whole, have them.
    fn waiters(&self, seen: &[&Snapshot], holders: &[HolderRow]) -> Vec<WaiterRow> {
        let mut found: BTreeMap<Ticket, (Vec<usize>, &WaiterRow)> = BTreeMap::new();
        for snapshot in seen {
            for (place, row) in snapshot.waiters.iter().enumerate() {
                found.entry(row.ticket).or_insert_with(|| (Vec::new(), row)).0.push(place);
            }
        }
        found.retain(|ticket, (places, _)| {
            places.len() + self.silent() >= self.majority()
                && holders.iter().all(|row| row.ticket != *ticket)
        });
        let mut rows: Vec<_> = found.into_values().collect();
        rows.sort_by_key(|(places, _)| places.iter().sum::<usize>() * 1000 / places.len());
        rows.into_iter().map(|(_, row)| row.clone()).collect()
    }
}

/// How a ticket has ended is not always the same at all nodes: one of them may merely have waited for it
/// for too long.
fn weightiest(causes: &[Cause]) -> Option<Cause> {
    let on_purpose = causes.iter().find(|cause| **cause != Cause::Expired);
    on_purpose.or_else(|| causes.first()).copied()
}

/// Nodes are read one after the other, so some may show whoever held before. A slot is held by one: by whom most nodes
/// show there, or by whoever came last.
fn one_a_slot(mut rows: Vec<(usize, HolderRow)>) -> Vec<HolderRow> {
    rows.sort_by_key(|(votes, row)| Reverse((*votes, row.fence)));
    let mut taken = Slots::none();
    let mut holders: Vec<HolderRow> = Vec::new();
    for (_, mut row) in rows {
        row.slots.take(&taken);
        taken.extend(&row.slots);
        if !row.slots.is_empty() {
            holders.push(row);
        }
    }
    holders.sort_by_key(|row| (row.fence, row.ticket));
    holders
}

fn most_common_slots(rows: &[&HolderRow]) -> Slots {
    let count = |row: &&&HolderRow| rows.iter().filter(|other| other.slots == row.slots).count();
    rows.iter().max_by_key(count).map(|row| row.slots.clone()).unwrap_or_default()
}

fn kind(seen: &[&Snapshot]) -> Option<Kind> {
    let kinds: Vec<Kind> = seen.iter().filter_map(|snapshot| snapshot.kind).collect();
    kinds.iter().max_by_key(|kind| kinds.iter().filter(|other| other == kind).count()).copied()
}

#[cfg(test)]
mod tests;
