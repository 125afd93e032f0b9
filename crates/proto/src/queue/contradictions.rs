//! Finds contradictions in the snapshot of a queue, as `crate::contradictions` does for a name.

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

use super::{
    listing::ItemState,
    reply::Snapshot,
    row::{ItemRow, WorkRow},
};
use crate::time::{MAX_TTL, Micros};

/// No lease of a delivery lasts longer than this.
const LONGEST_LEASE: Micros = 2 * MAX_TTL;

impl Snapshot {
    /// Returns the contradictions in this snapshot, a sentence each. `lists` are lists of items
    /// that were read whole in the same step, and are compared with it. `rows` is the number of
    /// rows of each kind that the snapshot was asked for. Where the queue has more, rows and totals
    /// are not compared.
    #[must_use]
    pub fn contradictions(&self, lists: &[(ItemState, &[ItemRow])], rows: u32) -> Vec<String> {
        let mut found = Vec::new();
        if self.in_work < rows {
            compare(&mut found, self.in_work, self.work.len(), "in work");
        }
        for (state, listed) in lists {
            compare(&mut found, self.total(*state), listed.len(), state.word());
            listed.iter().filter_map(cut_payload).for_each(|text| found.push(text));
        }
        if self.in_work < rows && self.groups.len() < rows as usize {
            self.compare_groups(&mut found);
            let ready = lists.iter().filter(|(state, _)| *state == ItemState::Ready);
            ready.for_each(|(_, listed)| self.compare_ready(&mut found, listed));
        }
        self.check_deliveries(&mut found);
        if (self.delayed > 0) != self.next_due.is_some() {
            found.push(format!(
                "{} items are delayed, and the first is due {:?}",
                self.delayed, self.next_due
            ));
        }
        found
    }

    fn total(&self, state: ItemState) -> u32 {
        match state {
            ItemState::Ready => self.ready,
            ItemState::Delayed => self.delayed,
            ItemState::InWork => self.in_work,
            ItemState::Dead => self.dead,
        }
    }

    /// Checks that each group has as many items in work as are listed, and that all groups together
    /// have no more ready items than the queue.
    fn compare_groups(&self, found: &mut Vec<String>) {
        for row in &self.groups {
            let of_group = |it: &&WorkRow| it.group.as_ref() == Some(&row.group);
            let listed = self.work.iter().filter(of_group).count();
            if row.in_work as usize != listed {
                let group = &row.group;
                found.push(format!(
                    "the group {group} counts {} in work, and there are {listed}",
                    row.in_work
                ));
            }
        }
        let ready: u64 = self.groups.iter().map(|row| u64::from(row.ready)).sum();
        if ready > u64::from(self.ready) {
            found.push(format!("the groups count {ready} ready, and the queue {}", self.ready));
        }
    }

    /// Checks that each group has as many ready items as are listed.
    fn compare_ready(&self, found: &mut Vec<String>, ready: &[ItemRow]) {
        for row in &self.groups {
            let listed = ready.iter().filter(|it| it.group.as_ref() == Some(&row.group)).count();
            if row.ready as usize != listed {
                let group = &row.group;
                found.push(format!(
                    "the group {group} counts {} ready, and there are {listed}",
                    row.ready
                ));
            }
        }
    }

    /// Checks that each item is delivered to one worker at a time.
    fn check_deliveries(&self, found: &mut Vec<String>) {
        let (mut items, mut fences) = (BTreeSet::new(), BTreeSet::new());
        for row in &self.work {
            if !items.insert(row.id) {
                found.push(format!("the item {} is in work twice", row.id));
            }
            if !fences.insert(row.fence) {
                found.push(format!("two deliveries have the fence {}", row.fence.0));
            }
            if row.attempt == 0 {
                found.push(format!("the item {} is in work, and was never delivered", row.id));
            }
            if row.valid_for.is_some_and(|left| left > LONGEST_LEASE) {
                found.push(format!("the lease of the item {} ends in more than two days", row.id));
            }
        }
    }
}

/// Finds a payload that was cut. Nobody could work on such an item.
fn cut_payload(row: &ItemRow) -> Option<String> {
    let (bytes, there) = (row.bytes as usize, row.payload.len());
    let is_cut = there < bytes.min(ItemRow::PREVIEW);
    is_cut.then(|| format!("the item {} has {there} of the {bytes} bytes of its payload", row.id))
}

fn compare(found: &mut Vec<String>, total: u32, listed: usize, what: &str) {
    if total as usize != listed {
        found.push(format!("the head counts {total} {what}, and there are records of {listed}"));
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::{
        Fence, Inbox, Name, Priority,
        queue::{DeliveryHistory, GroupRow, ItemId, RowState},
    };

    const ROWS: u32 = 100;

    type Plant = fn(&mut Snapshot);

    fn in_work(id: u64) -> WorkRow {
        WorkRow {
            id: ItemId(id),
            fence: Fence(id),
            attempt: 1,
            group: Name::new("g").ok(),
            by: Inbox(1),
            about: String::new(),
            worked: 1,
            valid_for: Some(1),
        }
    }

    fn ready(id: u64) -> ItemRow {
        ItemRow {
            id: ItemId(id),
            state: RowState::Ready,
            attempt: 0,
            most: 1,
            priority: Priority::default(),
            group: Name::new("g").ok(),
            about: String::new(),
            pushed: 1,
            history: DeliveryHistory::default(),
            bytes: 0,
            payload: Vec::new(),
        }
    }

    /// Returns the contradictions of a snapshot beside lists of this many ready and dead items.
    fn said_by(snapshot: &Snapshot, some: u64, dead: u64) -> Vec<String> {
        let rows = |most: u64| (0..most).map(ready).collect::<Vec<_>>();
        let (some, dead) = (rows(some), rows(dead));
        snapshot.contradictions(&[(ItemState::Ready, &some), (ItemState::Dead, &dead)], ROWS)
    }

    /// Returns a sound snapshot: one item of a group is in work, and two of it are ready.
    fn whole() -> Snapshot {
        let group = Name::new("g").unwrap();
        Snapshot {
            ready: 2,
            in_work: 1,
            work: vec![in_work(1)],
            groups: vec![GroupRow { group, in_work: 1, ready: 2 }],
            ..Snapshot::default()
        }
    }

    #[test]
    fn a_whole_queue_says_nothing_against_itself() {
        assert_eq!(said_by(&whole(), 2, 0), Vec::<String>::new());
        let cut = Snapshot { in_work: 500, dead: 500, ..whole() };
        assert_eq!(cut.contradictions(&[], ROWS), Vec::<String>::new());
    }

    #[test]
    fn each_contradiction_is_found_and_said() {
        let planted: [(&str, Plant); 8] = [
            ("counts 2 in work, and there are records of 1", |it| it.in_work = 2),
            ("counts 3 dead, and there are records of 0", |it| it.dead = 3),
            ("counts 3 ready, and there are records of 2", |it| it.ready = 3),
            ("the group g counts 1 ready, and there are 2", |it| it.groups[0].ready = 1),
            ("the group g counts 0 in work", |it| it.groups[0].in_work = 0),
            ("was never delivered", |it| it.work[0].attempt = 0),
            ("more than two days", |it| it.work[0].valid_for = Some(3 * MAX_TTL)),
            ("1 items are delayed", |it| it.delayed = 1),
        ];
        for (words, change) in planted {
            let mut queue = whole();
            change(&mut queue);
            let said = said_by(&queue, 2, 0).join("; ");
            assert!(said.contains(words) && !said.contains("; "), "{words}: {said:?}");
        }
        let mut more = whole();
        more.groups[0].ready = 3;
        let said = more.contradictions(&[], ROWS).join("; ");
        assert_eq!(said, "the groups count 3 ready, and the queue 2");
        let cut = ItemRow { bytes: 300, payload: vec![7; 255], ..ready(1) };
        let said = whole().contradictions(&[(ItemState::Ready, &[cut, ready(2)])], ROWS).join("; ");
        assert_eq!(said, "the item 1 has 255 of the 300 bytes of its payload");
        let mut twice = whole();
        (twice.in_work, twice.groups[0].in_work) = (2, 2);
        twice.work.push(in_work(1));
        let said = twice.contradictions(&[], ROWS).join("; ");
        assert!(said.contains("in work twice") && said.contains("the fence 1"), "{said}");
    }
}
