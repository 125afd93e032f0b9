//! A queue's state in ordinary maps.

mod check;
mod fingerprint;
mod order;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use core::{convert::Infallible, ops::Bound};

use super::{
    item::{Item, ItemId, Standing},
    listing::ItemPosition,
    state::{Dedupped, Group, Head, Place, SessionRecord, State, WorkerCall},
};
use crate::{id::Inbox, name::Name, time::Micros};

/// One queue's state in B-trees: the memory store. Tests compare the other stores with it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct MemoryQueue {
    head: Option<Head>,
    items: BTreeMap<ItemId, Item>,
    payloads: BTreeMap<ItemId, Vec<u8>>,
    open: BTreeSet<(i64, ItemId)>,
    grouped: BTreeSet<(Name, i64, ItemId)>,
    delayed: BTreeSet<(Micros, ItemId)>,
    by_end: BTreeSet<(Micros, ItemId)>,
    by_wall: BTreeSet<(Micros, ItemId)>,
    dead: BTreeSet<ItemId>,
    groups: BTreeMap<Name, Group>,
    /// The groups with ready items and no front.
    full: BTreeSet<Name>,
    places: BTreeMap<Inbox, Place>,
    line: BTreeSet<(bool, Micros, Inbox)>,
    called: BTreeSet<(Micros, Inbox)>,
    sessions: BTreeMap<Inbox, SessionRecord>,
    sessions_by_end: BTreeSet<(Micros, Inbox)>,
    keys: BTreeMap<Name, Dedupped>,
    keys_by_end: BTreeSet<(Micros, Name)>,
}

type Kept<T> = Result<T, Infallible>;

impl MemoryQueue {
    /// Returns whether nothing is stored of the queue.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// Returns whether only memories are kept: the queue has no items, and no client wants any.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.items.is_empty() && self.places.is_empty()
    }

    /// Lets every lease and the place of a client that is gone end in the next call. Returns
    /// whether the client had any.
    pub fn end_leases_of(&mut self, inbox: Inbox) -> bool {
        let is_its = |item: &&Item| item.work().is_some_and(|work| work.by == inbox);
        let its: Vec<_> = self.items.values().filter(is_its).cloned().collect();
        let any = !its.is_empty() || self.places.contains_key(&inbox);
        for mut item in its {
            self.take_item(item.id);
            if let Standing::InWork(work) = &mut item.standing {
                (work.ends, work.ends_wall) = (0, 0);
            }
            self.add_item(item);
        }
        any
    }

    fn take_item(&mut self, id: ItemId) {
        let Some(item) = self.items.remove(&id) else { return };
        match &item.standing {
            Standing::Ready { open } => {
                if *open {
                    self.open.remove(&item.place());
                }
                if let Some(group) = &item.group {
                    self.grouped.remove(&(group.clone(), item.rank, id));
                }
            }
            Standing::Delayed { due } => drop(self.delayed.remove(&(*due, id))),
            Standing::InWork(work) => {
                self.by_end.remove(&(work.ends, id));
                self.by_wall.remove(&(work.ends_wall, id));
            }
            Standing::Dead { .. } => drop(self.dead.remove(&id)),
        }
    }

    fn add_item(&mut self, item: Item) {
        let id = item.id;
        match &item.standing {
            Standing::Ready { open } => {
                if *open {
                    self.open.insert(item.place());
                }
                if let Some(group) = &item.group {
                    self.grouped.insert((group.clone(), item.rank, id));
                }
            }
            Standing::Delayed { due } => drop(self.delayed.insert((*due, id))),
            Standing::InWork(work) => {
                self.by_end.insert((work.ends, id));
                self.by_wall.insert((work.ends_wall, id));
            }
            Standing::Dead { .. } => drop(self.dead.insert(id)),
        }
        self.items.insert(id, item);
    }

    fn take_place(&mut self, inbox: Inbox) {
        let Some(place) = self.places.remove(&inbox) else { return };
        match place.call {
            WorkerCall::InLine => self.line.remove(&(!place.drains, place.until, inbox)),
            WorkerCall::Since(at) => self.called.remove(&(at, inbox)),
        };
    }

    fn first(&self, first: Option<ItemId>) -> Kept<Option<Item>> {
        Ok(first.and_then(|id| self.items.get(&id).cloned()))
    }
}

impl State for MemoryQueue {
    type Error = Infallible;

    fn head(&mut self) -> Kept<Head> {
        Ok(self.head.clone().unwrap_or_default())
    }

    fn set_head(&mut self, head: &Head) -> Kept<()> {
        self.head = Some(head.clone());
        Ok(())
    }

    fn clear(&mut self) -> Kept<()> {
        *self = Self::default();
        Ok(())
    }

    fn item(&mut self, id: ItemId) -> Kept<Option<Item>> {
        self.first(Some(id))
    }

    fn put_item(&mut self, item: &Item) -> Kept<()> {
        self.take_item(item.id);
        self.add_item(item.clone());
        Ok(())
    }

    fn remove_item(&mut self, id: ItemId) -> Kept<()> {
        self.take_item(id);
        self.payloads.remove(&id);
        Ok(())
    }

    fn payload(&mut self, id: ItemId) -> Kept<Vec<u8>> {
        Ok(self.payloads.get(&id).cloned().unwrap_or_default())
    }

    fn put_payload(&mut self, id: ItemId, payload: &[u8]) -> Kept<()> {
        self.payloads.insert(id, payload.to_vec());
        Ok(())
    }

    fn first_open(&mut self) -> Kept<Option<Item>> {
        self.first(self.open.first().map(|(_, id)| *id))
    }

    fn first_of_group(&mut self, group: &Name) -> Kept<Option<Item>> {
        let from = (group.clone(), i64::MIN, ItemId(0));
        let first = self.grouped.range(from..).next().filter(|first| first.0 == *group);
        self.first(first.map(|(_, _, id)| *id))
    }

    fn first_delayed(&mut self) -> Kept<Option<Item>> {
        self.first(self.delayed.first().map(|(_, id)| *id))
    }

    fn first_work_by_end(&mut self) -> Kept<Option<Item>> {
        self.first(self.by_end.first().map(|(_, id)| *id))
    }

    fn first_work_by_wall(&mut self) -> Kept<Option<Item>> {
        self.first(self.by_wall.first().map(|(_, id)| *id))
    }

    fn items_after(&mut self, after: &ItemPosition, rows: u32) -> Kept<Vec<Item>> {
        Ok(self.behind(after, rows))
    }

    fn group(&mut self, group: &Name) -> Kept<Group> {
        Ok(self.groups.get(group).copied().unwrap_or_default())
    }

    fn put_group(&mut self, group: &Name, counts: &Group) -> Kept<()> {
        if counts.ready > 0 && counts.front.is_none() {
            self.full.insert(group.clone());
        } else {
            self.full.remove(group);
        }
        if *counts == Group::default() {
            self.groups.remove(group);
        } else {
            self.groups.insert(group.clone(), *counts);
        }
        Ok(())
    }

    fn full_group_after(&mut self, after: &str) -> Kept<Option<(Name, Group)>> {
        // The only text that is no name is the empty one, which comes before all.
        let after = Name::new(after).map_or(Bound::Unbounded, Bound::Excluded);
        let group = self.full.range((after, Bound::Unbounded)).next();
        Ok(group.and_then(|group| Some((group.clone(), *self.groups.get(group)?))))
    }

    fn groups(&mut self, rows: u32) -> Kept<Vec<(Name, Group)>> {
        let groups = self.groups.iter().take(rows as usize);
        Ok(groups.map(|(group, counts)| (group.clone(), *counts)).collect())
    }

    fn place(&mut self, inbox: Inbox) -> Kept<Option<Place>> {
        Ok(self.places.get(&inbox).copied())
    }

    fn put_place(&mut self, place: &Place) -> Kept<()> {
        self.take_place(place.inbox);
        match place.call {
            WorkerCall::InLine => self.line.insert((!place.drains, place.until, place.inbox)),
            WorkerCall::Since(at) => self.called.insert((at, place.inbox)),
        };
        self.places.insert(place.inbox, *place);
        Ok(())
    }

    fn remove_place(&mut self, inbox: Inbox) -> Kept<()> {
        self.take_place(inbox);
        Ok(())
    }

    fn first_in_line(&mut self) -> Kept<Option<Place>> {
        let first = self.line.first().map(|(_, _, inbox)| inbox);
        Ok(first.and_then(|inbox| self.places.get(inbox).copied()))
    }

    fn first_called(&mut self) -> Kept<Option<Place>> {
        let first = self.called.first().map(|(_, inbox)| inbox);
        Ok(first.and_then(|inbox| self.places.get(inbox).copied()))
    }

    fn session(&mut self, session: Inbox) -> Kept<Option<SessionRecord>> {
        Ok(self.sessions.get(&session).cloned())
    }

    fn put_session(&mut self, record: &SessionRecord) -> Kept<()> {
        self.remove_session(record.session)?;
        self.sessions_by_end.insert((record.until, record.session));
        self.sessions.insert(record.session, record.clone());
        Ok(())
    }

    fn remove_session(&mut self, session: Inbox) -> Kept<()> {
        if let Some(record) = self.sessions.remove(&session) {
            self.sessions_by_end.remove(&(record.until, session));
        }
        Ok(())
    }

    fn first_session(&mut self) -> Kept<Option<(Micros, Inbox)>> {
        Ok(self.sessions_by_end.first().copied())
    }

    fn key(&mut self, key: &Name) -> Kept<Option<Dedupped>> {
        Ok(self.keys.get(key).cloned())
    }

    fn put_key(&mut self, known: &Dedupped) -> Kept<()> {
        self.remove_key(&known.key)?;
        self.keys_by_end.insert((known.until, known.key.clone()));
        self.keys.insert(known.key.clone(), known.clone());
        Ok(())
    }

    fn remove_key(&mut self, key: &Name) -> Kept<()> {
        if let Some(known) = self.keys.remove(key) {
            self.keys_by_end.remove(&(known.until, known.key));
        }
        Ok(())
    }

    fn first_key(&mut self) -> Kept<Option<Dedupped>> {
        let first = self.keys_by_end.first().map(|(_, key)| key);
        Ok(first.and_then(|key| self.keys.get(key).cloned()))
    }
}
