//! Finds contradictions in the snapshot of a name. A sound ledger writes none, so each one found
//! here was caused by another program's write or by a bug of ours.

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

use crate::{
    snapshot::{HolderRow, Snapshot},
    time::{MAX_TTL, Micros},
};

/// The longest that a lease can last. ZooKeeper writes a lease that ends with its session for twice
/// its ttl.
const LONGEST_LEASE: Micros = 2 * MAX_TTL;

impl Snapshot {
    /// Returns the contradictions in this snapshot, a sentence each. `rows` is the number of rows
    /// of each kind that the snapshot was asked for. Where the name has more, rows and totals are
    /// not compared.
    #[must_use]
    pub fn contradictions(&self, rows: u32) -> Vec<String> {
        let mut found = Vec::new();
        if self.holders_total < rows {
            self.compare_holders(&mut found);
        }
        if self.waiting_total < rows {
            let listed = self.waiters.len();
            compare(&mut found, self.waiting_total, listed, "in line", "in line");
        }
        self.check_slots(&mut found);
        self.check_order(&mut found);
        self.check_tickets(&mut found);
        self.check_settings(&mut found);
        found
    }

    fn compare_holders(&self, found: &mut Vec<String>) {
        compare(found, self.holders_total, self.holders.len(), "holding", "holders");
        let listed = self.holders.iter().map(|row| u64::from(row.slots.count())).sum::<u64>();
        if u64::from(self.held) != listed {
            found.push(format!(
                "the head counts {} permits held, and the holders have {listed}",
                self.held
            ));
        }
    }

    /// Checks that no two holders have the same slot.
    fn check_slots(&self, found: &mut Vec<String>) {
        let ranges = self.holders.iter().flat_map(|row| row.slots.ranges().iter().copied());
        let mut ranges: Vec<_> = ranges.collect();
        ranges.sort_unstable();
        let twice = ranges.windows(2).find(|pair| pair[1].0 <= pair[0].1);
        found.extend(twice.map(|pair| format!("slot {} is held twice", pair[1].0)));
        if self.holders.iter().any(|row| row.slots.is_empty()) {
            found.push("a holder has no slot".into());
        }
    }

    /// Checks that fences grow from grant to grant, and that no lease lasts longer than a lease
    /// can.
    fn check_order(&self, found: &mut Vec<String>) {
        let fences = self.holders.windows(2).find(|pair| pair[1].fence <= pair[0].fence);
        found.extend(fences.map(|pair| {
            format!("the fence {} was given after {}", pair[1].fence.0, pair[0].fence.0)
        }));
        let lasts = |row: &&HolderRow| row.valid_for.is_some_and(|left| left > LONGEST_LEASE);
        let longest = self.holders.iter().find(lasts);
        found.extend(
            longest.map(|row| format!("the lease of {} ends in more than two days", row.ticket)),
        );
    }

    /// Checks that each ticket occurs once and that each waiter wants something.
    fn check_tickets(&self, found: &mut Vec<String>) {
        let mut seen = BTreeSet::new();
        let holding = self.holders.iter().map(|row| row.ticket);
        let mut all = holding.chain(self.waiters.iter().map(|row| row.ticket));
        let twice = all.find(|ticket| !seen.insert(*ticket));
        found.extend(twice.map(|ticket| format!("the ticket {ticket} is there twice")));
        let idle = self.waiters.iter().find(|row| row.permits == 0);
        found.extend(idle.map(|row| format!("the ticket {} waits for nothing", row.ticket)));
        let first_passed = self.waiters.iter().position(|row| row.unreachable);
        let after =
            first_passed.and_then(|at| self.waiters[at..].iter().find(|row| !row.unreachable));
        found.extend(
            after.map(|row| format!("{} stands behind a waiter that is passed over", row.ticket)),
        );
    }

    /// Checks that the limit in force is the stored one, and that there are as many slot names as
    /// permits.
    fn check_settings(&self, found: &mut Vec<String>) {
        let set = self.pinned.or(self.stated);
        if set.is_some_and(|set| set != self.limit) {
            found.push(format!("the limit is {}, and {} was stored", self.limit, set.unwrap_or(0)));
        }
        let named = self.slot_names.count();
        if named > 0 && self.pinned != Some(named) {
            found.push(format!("{named} slots have names, and the limit is {}", self.limit));
        }
        let wished = self
            .waiters
            .iter()
            .find(|row| row.wishes.ranges().last().is_some_and(|last| last.1 >= named));
        found.extend(wished.map(|row| format!("{} waits for a slot that has no name", row.ticket)));
    }
}

fn compare(found: &mut Vec<String>, total: u32, listed: usize, verb: &str, noun: &str) {
    if total as usize != listed {
        found.push(format!(
            "the head counts {total} {verb}, and there are records of {listed} {noun}"
        ));
    }
}

#[cfg(test)]
mod tests;
