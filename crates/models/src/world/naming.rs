//! The rule about names of slots, implemented a second time: which names exist, and which client
//! gets which slot.

use std::collections::{BTreeMap, BTreeSet};

use seinpaal_proto::{Configure, Entry, Reply, Request, SlotNames, Slots, Standing, Ticket};

use super::step::Step;

/// The slots' names by the rules, and the wishes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Naming {
    /// The names, from slot 0 up. The list is empty if slots have no names.
    names: Vec<String>,
    /// The wish of each ticket's program. A mistake on the way to the ledger does not change it.
    wished: BTreeMap<Ticket, &'static str>,
}

/// A waiter, and the slot that it wishes for.
struct WishingWaiter {
    place: (i64, Ticket),
    permits: u32,
    wish: Option<u32>,
}

impl Naming {
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn wish(&mut self, ticket: Ticket, slot: &'static str) {
        if !slot.is_empty() {
            self.wished.insert(ticket, slot);
        }
    }

    pub(super) fn renumber(&mut self, from: Ticket, to: Ticket) {
        if let Some(slot) = self.wished.remove(&from) {
            self.wished.insert(to, slot);
        }
    }

    /// Each name pins one permit. Without names the limit is what requests state.
    pub(super) fn in_force(&self, stated: u32) -> u32 {
        if self.names.is_empty() { stated } else { self.count() }
    }

    /// Follows a step of one request or none, before which everything due was settled. Returns
    /// whether the ledger's names and slots are right.
    pub(super) fn follow(&mut self, step: &Step<'_>) -> bool {
        let request = step.batch.requests.first().zip(step.replies.first());
        let is_answered = request.is_none_or(|(request, reply)| self.answer(step, request, reply));
        let kept = step.after.facts().map(|head| listed(&head.names)).unwrap_or_default();
        is_answered && kept == self.names && self.are_apart(step) && self.grants_are_right(step)
    }

    fn answer(&mut self, step: &Step<'_>, request: &Request, reply: &Reply) -> bool {
        match (request, reply) {
            (Request::Configure(Configure::Slots(names)), reply) => {
                self.call(step, listed(names), reply)
            }
            (Request::Configure(Configure::Unpin), reply) => self.call(step, Vec::new(), reply),
            (Request::Acquire(want), Reply::NoSuchSlot { there, .. }) => {
                listed(there) == self.names
                    && listed(&want.wishes).iter().any(|name| self.slot(name).is_none())
            }
            (_, Reply::Granted(grant)) => listed(&grant.names) == self.called(&grant.slots),
            _ => true,
        }
    }

    /// Gives names to slots. While anybody holds or waits, names may only be added at the end.
    fn call(&mut self, step: &Step<'_>, names: Vec<String>, reply: &Reply) -> bool {
        let is_used = step.before.entries().next().is_some();
        if is_used && !self.names.is_empty() && !names.starts_with(&self.names) {
            return matches!(reply, Reply::SlotsInUse { names } if listed(names) == self.names);
        }
        self.names = names;
        matches!(reply, Reply::Configured { .. })
    }

    /// Returns whether no slot is held twice, and every held slot has a name if slots have names.
    fn are_apart(&self, step: &Step<'_>) -> bool {
        let mut seen = BTreeSet::new();
        let mut held = step.after.entries().filter_map(slots_of).flat_map(Slots::iter);
        held.all(|slot| seen.insert(slot) && (self.names.is_empty() || slot < self.count()))
    }

    fn grants_are_right(&self, step: &Step<'_>) -> bool {
        let is_held_before = |ticket| {
            step.before.entries().any(|entry| entry.ticket == ticket && slots_of(entry).is_some())
        };
        let mut new = step.after.entries().filter(|entry| !is_held_before(entry.ticket));
        let are_right = new.all(|entry| {
            slots_of(entry).is_none_or(|slots| self.is_right(step, entry.ticket, slots))
        });
        are_right && (self.names.is_empty() || !self.is_left_out(step))
    }

    /// Returns whether a grant has the slot of its wish and otherwise the lowest slots, and takes
    /// no slot that a waiter before it needs.
    fn is_right(&self, step: &Step<'_>, ticket: Ticket, slots: &Slots) -> bool {
        let wish = self.wish_of(ticket);
        if self.names.is_empty() {
            return wish.is_none();
        }
        if wish.is_some_and(|wish| !slots.iter().any(|slot| slot == wish)) {
            return false;
        }
        let place = place_before(step, ticket);
        let held = held_after(step);
        let mut reserved = BTreeSet::new();
        for waiter in self.stayed(step).filter(|waiter| waiter.place < place) {
            let Some(wish) = waiter.wish else { return false };
            let is_passed_by_right = held.contains(&wish) || reserved.contains(&wish);
            if !is_passed_by_right || slots.iter().any(|slot| slot == wish) {
                return false;
            }
            reserved.insert(wish);
        }
        let mut others = slots.iter().filter(|slot| Some(*slot) != wish);
        let is_free = |slot: &u32| !held.contains(slot) && !reserved.contains(slot);
        others.all(|slot| !(0..slot).any(|lower| is_free(&lower)))
    }

    /// Returns whether a waiter is left in line although it could have been served.
    fn is_left_out(&self, step: &Step<'_>) -> bool {
        let mut taken = held_after(step);
        let held: u32 = step.after.entries().filter_map(slots_of).map(Slots::count).sum();
        for waiter in self.line(step) {
            let open = (0..self.count()).filter(|slot| !taken.contains(slot)).count();
            if waiter.wish.is_none_or(|wish| !taken.contains(&wish)) {
                let left = self.count().saturating_sub(held);
                return waiter.permits <= left && waiter.permits as usize <= open;
            }
            taken.extend(waiter.wish);
        }
        false
    }

    /// The waiters that stood in line before the step and still do, in their order.
    fn stayed(&self, step: &Step<'_>) -> impl Iterator<Item = WishingWaiter> {
        let stays = |waiter: &WishingWaiter| place_before(step, waiter.place.1) == waiter.place;
        self.line(step).into_iter().filter(stays)
    }

    /// The waiters after the step, in their order.
    fn line(&self, step: &Step<'_>) -> Vec<WishingWaiter> {
        let waiter = |entry: &Entry| WishingWaiter {
            place: place_of(entry),
            permits: entry.permits,
            wish: self.wish_of(entry.ticket),
        };
        let mut line: Vec<WishingWaiter> = step.after.line().map(waiter).collect();
        line.sort_unstable_by_key(|waiter| waiter.place);
        line
    }

    fn wish_of(&self, ticket: Ticket) -> Option<u32> {
        self.wished.get(&ticket).and_then(|name| self.slot(name))
    }

    fn slot(&self, name: &str) -> Option<u32> {
        self.names.iter().position(|known| known == name).and_then(|at| u32::try_from(at).ok())
    }

    fn called(&self, slots: &Slots) -> Vec<String> {
        let name = |slot: u32| self.names.get(slot as usize).cloned();
        slots.iter().map(name).collect::<Option<_>>().unwrap_or_default()
    }

    fn count(&self) -> u32 {
        u32::try_from(self.names.len()).unwrap_or(u32::MAX)
    }
}

fn listed(names: &SlotNames) -> Vec<String> {
    names.iter().map(str::to_owned).collect()
}

fn slots_of(entry: &Entry) -> Option<&Slots> {
    match &entry.standing {
        Standing::Holding { slots, .. } => Some(slots),
        Standing::Waiting { .. } => None,
    }
}

fn held_after(step: &Step<'_>) -> BTreeSet<u32> {
    step.after.entries().filter_map(slots_of).flat_map(Slots::iter).collect()
}

/// The place of a ticket before the step. Newcomers stand behind all others.
fn place_before(step: &Step<'_>, ticket: Ticket) -> (i64, Ticket) {
    let entry = step.before.entries().find(|entry| entry.ticket == ticket);
    entry.map_or((i64::MAX, ticket), place_of)
}

fn place_of(entry: &Entry) -> (i64, Ticket) {
    match &entry.standing {
        Standing::Waiting { rank, .. } => (*rank, entry.ticket),
        Standing::Holding { .. } => (i64::MAX, entry.ticket),
    }
}

#[cfg(test)]
mod tests {
    use seinpaal_proto::{
        Acquire, Batch, Enqueue, Inbox, Kind, MemoryState, Name, Permits, Priority, execute,
        time::SECOND,
    };

    use super::*;
    use crate::world::serve::Known;

    fn acquire() -> Request {
        Request::Acquire(Acquire {
            ticket: Ticket(1),
            kind: Kind::Semaphore,
            permits: Permits::ONE,
            wishes: SlotNames::none(),
            limit: None,
            enqueue: Enqueue::Yes { max_waiting: None },
            priority: Priority::default(),
            ttl: SECOND,
            margin: SECOND / 4,
            waiter_ttl: SECOND,
            not_after: None,
            about: String::new(),
        })
    }

    /// The judge's answers, one for each request.
    fn judged<const N: usize>(requests: [Request; N]) -> [bool; N] {
        let (mut naming, mut ledger) = (Naming::default(), MemoryState::default());
        requests.map(|request| {
            let (name, before) = (Name::new("n").expect("a name"), ledger.clone());
            let batch =
                Batch { name, inbox: Some(Inbox(1)), fence_seen: 0, requests: vec![request] };
            let Ok(outcome) = execute(&mut ledger, &mut Known(&[]), 1000 * SECOND, &batch);
            let replies = &outcome.replies.replies;
            naming.follow(&Step { before: &before, after: &ledger, batch: &batch, replies })
        })
    }

    #[test]
    fn a_waiter_beside_a_free_slot_is_left_out() {
        let name = || Request::Configure(Configure::Slots("a,b".parse().expect("names")));
        let pause = Request::Configure(Configure::Pause(String::new()));
        assert_eq!(judged([name(), acquire()]), [true, true]);
        assert_eq!(judged([name(), pause, acquire()]), [true, true, false]);
    }
}
