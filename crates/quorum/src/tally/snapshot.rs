//! The snapshots of several nodes, combined into one.

use std::{cmp::Reverse, collections::BTreeMap};

use seinpaal_proto::{
    HolderRow, Kind, RecentHolds, Reply, SlotNames, Slots, Snapshot, Ticket, WaiterRow,
    time::Micros,
};

use super::{QuorumSettings, ReplyTally};

impl ReplyTally<'_> {
    /// The snapshot that a majority shows, or could show if the nodes that did not answer agreed.
    pub(super) fn snapshot(&self, rows: usize) -> Snapshot {
        let seen: Vec<&Snapshot> = self.replies().filter_map(snapshot_in).collect();
        let settings =
            QuorumSettings::of(self.answers.iter().map(|(answer, _)| *answer), self.majority());
        let is_whole = seen.iter().all(|snapshot| lists_all(snapshot));
        let mut holders = self.holders(&seen);
        let mut waiters = self.waiters(&seen, &holders);
        let held = holders.iter().map(|row| row.slots.count()).sum();
        let (holders_total, waiting_total) = (holders.len() as u32, waiters.len() as u32);
        // Nodes that list only some of their rows show no more holders and waiters than those, so
        // their totals are closer to the truth.
        let count = |listed: u32, counted: &dyn Fn(&Snapshot) -> u32| match is_whole {
            true => listed,
            false => median(seen.iter().map(|snapshot| counted(snapshot)).collect()),
        };
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
            held: count(held, &|seen| seen.held),
            holders_total: count(holders_total, &|seen| seen.holders_total),
            waiting_total: count(waiting_total, &|seen| seen.waiting_total),
            recent: recent(&seen),
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

    /// The waiters, in the order that most nodes agree on.
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
        // The order is by the mean of a waiter's places, in thousandths because the numbers are
        // whole.
        rows.sort_by_key(|(places, _)| places.iter().sum::<usize>() * 1000 / places.len());
        rows.into_iter().map(|(_, row)| row.clone()).collect()
    }
}

fn snapshot_in(reply: &Reply) -> Option<&Snapshot> {
    match reply {
        Reply::Snapshot(snapshot) => Some(snapshot),
        _ => None,
    }
}

/// Returns whether a node has listed all of its rows.
fn lists_all(snapshot: &Snapshot) -> bool {
    snapshot.holders.len() == snapshot.holders_total as usize
        && snapshot.waiters.len() == snapshot.waiting_total as usize
}

/// Leaves each slot to one holder. Nodes are read one after the other, so some may show an earlier
/// holder. The slot goes to the holder that most nodes show, or else to the latest grant.
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

/// The lengths of the last holds, from the node that knows of the most holds. A node that was away
/// has missed some. The other nodes know of the same holds, and may differ by a code.
fn recent(seen: &[&Snapshot]) -> RecentHolds {
    let all = seen.iter().map(|snapshot| snapshot.recent);
    all.max_by_key(|recent| recent.lengths().count()).unwrap_or_default()
}

fn kind(seen: &[&Snapshot]) -> Option<Kind> {
    let kinds: Vec<Kind> = seen.iter().filter_map(|snapshot| snapshot.kind).collect();
    kinds.iter().max_by_key(|kind| kinds.iter().filter(|other| other == kind).count()).copied()
}

fn median(mut numbers: Vec<u32>) -> u32 {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}
