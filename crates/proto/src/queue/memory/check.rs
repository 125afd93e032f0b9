//! Checks that the parts of a queue's state agree with each other (rule 2).

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use super::MemoryQueue;
use crate::{
    name::Name,
    queue::{
        item::Standing,
        state::{Group, Head, WorkerCall},
    },
};

type Checked = Result<(), String>;

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(what()) }
}

impl MemoryQueue {
    /// Checks that every order and every total agrees with the items and places that it is derived
    /// from. The cost grows with the size of the state; this is for tests.
    ///
    /// # Errors
    /// The first disagreement found.
    pub fn check(&self) -> Result<(), String> {
        let nothing = Head::default();
        let head = self.head.as_ref().unwrap_or(&nothing);
        self.check_orders()?;
        self.check_totals(head)?;
        self.check_groups(head)?;
        self.check_places(head)?;
        self.check_rest(head)
    }

    /// Checks that nothing is left behind (rule 12).
    fn check_rest(&self, head: &Head) -> Checked {
        let nothing = self.items.is_empty()
            && self.places.is_empty()
            && self.sessions.is_empty()
            && self.keys.is_empty();
        let limits = [head.limit, head.group_limit];
        let is_set = limits.iter().any(Option::is_some) || head.paused.is_some();
        // The store's clock at the last operation is in the head.
        let is_kept = is_set || head.owes_number(head.wall);
        ensure(self.is_empty() || !nothing || is_kept, || format!("left behind: {head:?}"))
    }

    fn check_orders(&self) -> Checked {
        let mut fresh = Self::default();
        for item in self.items.values() {
            fresh.add_item(item.clone());
        }
        let orders = |queue: &Self| {
            let Self { open, grouped, delayed, by_end, by_wall, dead, .. } = queue.clone();
            (open, grouped, delayed, by_end, by_wall, dead)
        };
        ensure(orders(&fresh) == orders(self), || format!("orders: {self:?}"))?;
        let with_payload: Vec<_> = self.payloads.keys().collect();
        let items: Vec<_> = self.items.keys().collect();
        ensure(with_payload == items, || format!("payloads: {with_payload:?} of {items:?}"))
    }

    fn check_totals(&self, head: &Head) -> Checked {
        let count = |fits: fn(&Standing) -> bool| {
            self.items.values().filter(|item| fits(&item.standing)).count() as u32
        };
        let totals = [
            (head.ready, count(|it| matches!(it, Standing::Ready { .. })), "ready"),
            (head.open, count(|it| matches!(it, Standing::Ready { open: true })), "open"),
            (head.delayed, count(|it| matches!(it, Standing::Delayed { .. })), "delayed"),
            (head.in_work, count(|it| matches!(it, Standing::InWork(_))), "in work"),
            (head.dead, count(|it| matches!(it, Standing::Dead { .. })), "dead"),
            (head.sessions, self.sessions.len() as u32, "sessions"),
            (head.keys, self.keys.len() as u32, "keys"),
        ];
        for (kept, counted, what) in totals {
            ensure(kept == counted, || format!("{what}: {kept} kept, {counted} counted"))?;
        }
        Ok(())
    }

    fn check_groups(&self, head: &Head) -> Checked {
        let mut groups: BTreeMap<Name, Group> = BTreeMap::new();
        for item in self.items.values() {
            let Some(group) = &item.group else {
                let shut = item.standing == (Standing::Ready { open: false });
                ensure(!shut, || format!("{item:?} has no group and is shut"))?;
                continue;
            };
            match item.standing {
                Standing::Ready { open } => {
                    let counts = groups.entry(group.clone()).or_default();
                    counts.ready += 1;
                    ensure(!open || counts.front.is_none(), || format!("two fronts: {item:?}"))?;
                    counts.front = if open { Some(item.id) } else { counts.front };
                }
                Standing::InWork(_) => groups.entry(group.clone()).or_default().in_work += 1,
                _ => {}
            }
        }
        ensure(groups == self.groups, || format!("groups: {groups:?}, kept {:?}", self.groups))?;
        let is_full = |counts: &Group| counts.ready > 0 && counts.front.is_none();
        let full = groups.iter().filter(|(_, counts)| is_full(counts)).map(|(group, _)| group);
        ensure(full.eq(&self.full), || format!("full: {groups:?}, kept {:?}", self.full))?;
        groups.iter().try_for_each(|(group, counts)| self.check_front(head, group, counts))
    }

    fn check_front(&self, head: &Head, group: &Name, counts: &Group) -> Checked {
        let members = self.grouped.iter().filter(|(of, _, _)| of == group);
        let first = members.map(|(_, _, id)| *id).next();
        let has_room = head.group_limit.is_none_or(|limit| counts.in_work < limit);
        let is_looked_at =
            head.reopen.as_ref().is_none_or(|after| group.as_str() <= after.as_str());
        let has_front = counts.front.is_some() || counts.ready == 0 || !has_room || !is_looked_at;
        ensure(has_front, || format!("{group} has room, and nothing of it is open"))?;
        let is_first = counts.front.is_none() || counts.front == first;
        ensure(is_first, || format!("{group}: {:?} is open before {first:?}", counts.front))
    }

    fn check_places(&self, head: &Head) -> Checked {
        let is_in_line =
            |place: &&_| matches!(place, super::Place { call: WorkerCall::InLine, .. });
        let idle = self.places.values().filter(is_in_line).count() as u32;
        let called = self.places.len() as u32 - idle;
        let wants = self.places.values().filter(|place| !is_in_line(place));
        let wanted: u32 = wants.map(|place| place.want).sum();
        let counted = (idle, called, wanted);
        let kept = (head.idle, head.called, head.wanted);
        ensure(kept == counted, || format!("places: {kept:?} kept, {counted:?} counted"))?;
        let ordered = (self.line.len() as u32, self.called.len() as u32);
        ensure(ordered == (idle, called), || format!("line and calls: {ordered:?}"))
    }
}
