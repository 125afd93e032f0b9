//! Checks that one step of the ledger keeps the rules.

use seinpaal_proto::{
    Contact, Name,
    queue::{Batch, Delivery, How, Item, ItemId, MemoryQueue, Request, Standing, Work},
    time::Micros,
};

use super::{
    bounds::Bounds,
    broken::Broken,
    world::{Client, Fate, Ghost, Told, World},
};
use crate::traffic::Life;

/// A step of the ledger.
pub(super) struct Step<'a> {
    pub(super) bounds: &'a Bounds,
    pub(super) before: &'a MemoryQueue,
    pub(super) after: &'a MemoryQueue,
    pub(super) batch: &'a Batch,
    pub(super) store_now: Micros,
}

impl World {
    /// Returns whether a client believes in a delivery that is not its own any more. A client may
    /// not know yet that an item was cancelled.
    pub(super) fn believes_wrongly(&self) -> bool {
        let clients = self.clients.iter().filter(|client| client.life != Life::Gone);
        let believed = clients.flat_map(|client| &client.held);
        believed.filter(|held| held.until.is_none_or(|until| until > self.now)).any(|held| {
            let it = self.ledger.all_items().find(|item| item.id == held.delivery.id);
            let goes_on = it.and_then(Item::work).map(|work| work.fence);
            let nth = self.nth(held.delivery.id);
            let is_cancelled = nth.is_some_and(|nth| self.ghost.items[nth].fate == Fate::Cancelled);
            goes_on != Some(held.delivery.fence) && !is_cancelled
        })
    }
}

fn find(queue: &MemoryQueue, id: ItemId) -> Option<&Item> {
    queue.all_items().find(|item| item.id == id)
}

/// The rule that is broken by an item which the world does not know: its `about` was changed.
const STRANGE: Option<Broken> = Some(Broken::Books);

/// The number of an item in the order of pushes. The model writes it into the item's `about`.
fn nth(item: &Item) -> usize {
    item.about.parse().unwrap_or(usize::MAX)
}

impl Step<'_> {
    pub(super) fn judge(&self, clients: &[Client], ghost: &mut Ghost) -> Option<Broken> {
        if ghost.was_set_back && self.before.is_empty() {
            // The ledger takes its numbers from the clock, and from what the asking client has
            // heard (docs/guide/promises.md).
            ghost.last = ghost.last.min(self.batch.seen);
        }
        self.ends(clients, ghost)
            .or_else(|| self.pushes(ghost))
            .or_else(|| self.deliveries(ghost))
            .or_else(|| self.dead(ghost))
            .or_else(|| self.is_crowded().then_some(Broken::Limit))
            .or_else(|| self.passes(ghost).then_some(Broken::Order))
            .or_else(|| self.after.check().is_err().then_some(Broken::Books))
    }

    /// Judges the fate of each item that was in the queue before the step.
    fn ends(&self, clients: &[Client], ghost: &mut Ghost) -> Option<Broken> {
        for item in self.before.all_items() {
            let Some(tale) = ghost.items.get_mut(nth(item)) else { return STRANGE };
            let after = find(self.after, item.id);
            let over = item.work().is_some_and(|work| self.is_over(work, clients));
            let how = item.work().filter(|_| !over).and_then(|work| self.how(item.id, work));
            let cancelled =
                self.batch.requests.contains(&Request::Cancel { id: item.id, spares_work: false });
            let Some(after) = after else {
                match (how, cancelled, item.work(), &item.standing) {
                    (Some(How::Acknowledge), _, Some(work), _) => {
                        (tale.fate, tale.done_by) = (Fate::Acknowledged, Some(work.fence.0));
                    }
                    (_, true, ..) => tale.fate = Fate::Cancelled,
                    (_, _, _, Standing::Dead { .. }) => {} // purged at the end
                    _ if tale.is_doubled => {}
                    _ => return Some(Broken::Lost),
                }
                continue;
            };
            let goes_on = item.work().map(|work| work.fence) == after.work().map(|work| work.fence);
            if item.work().is_some() && !goes_on && !over && how.is_none() {
                return Some(Broken::Ended);
            }
            if over && goes_on {
                return Some(Broken::Ended);
            }
            let is_given_back = matches!(how, Some(How::GiveBack { .. })) && !goes_on;
            tale.returned += u32::from(is_given_back);
            if self.loses_its_place(item, after, how) {
                return Some(Broken::Order);
            }
        }
        None
    }

    /// Returns how this batch ends a delivery.
    fn how(&self, id: ItemId, work: &Work) -> Option<&How> {
        let it = Delivery { id, fence: work.fence };
        self.batch.requests.iter().find_map(|request| match request {
            Request::Finish { delivery, how } if *delivery == it => Some(how),
            _ => None,
        })
    }

    /// Returns whether an item lost its place. An item that comes back at once must keep its place,
    /// and a waiting item must not move.
    fn loses_its_place(&self, before: &Item, after: &Item, how: Option<&How>) -> bool {
        let was_delayed = |item: &Item| matches!(item.standing, Standing::Delayed { .. });
        let later = matches!(
            how,
            Some(How::GiveBack { delay } | How::Fail { delay, .. }) if *delay > 0
        );
        before.rank != after.rank && !was_delayed(before) && !later
    }

    fn is_over(&self, work: &Work, clients: &[Client]) -> bool {
        let clock = self.before.facts().map_or(0, |head| {
            head.clock + self.store_now.saturating_sub(head.wall).min(head.bound)
        });
        let owner = clients.iter().find(|client| client.inbox == work.by);
        let is_silent = owner.is_none_or(|owner| owner.contact != Contact::Listening);
        let is_silent = is_silent && work.by != self.batch.session;
        work.ends <= clock || (is_silent && work.ends_wall <= self.store_now)
    }

    fn pushes(&self, ghost: &mut Ghost) -> Option<Broken> {
        let is_new = |item: &&Item| find(self.before, item.id).is_none();
        for item in self.after.all_items().filter(is_new) {
            let is_excused = ghost.was_set_back; // a batch's deadline moves with the store's clock
            let Some(tale) = ghost.items.get_mut(nth(item)) else { return STRANGE };
            tale.is_doubled |= tale.fate != Fate::Unpushed;
            if tale.is_doubled && !is_excused {
                return Some(Broken::Again);
            }
            if tale.answer == Told::NotPushed && !is_excused {
                return Some(Broken::Answer);
            }
            if item.id.0 <= ghost.last {
                return Some(Broken::Number);
            }
            ghost.last = item.id.0;
            (tale.id, tale.fate) = (Some(item.id.0), Fate::There);
        }
        None
    }

    fn deliveries(&self, ghost: &mut Ghost) -> Option<Broken> {
        let mut works: Vec<_> =
            self.after.all_items().filter_map(|it| Some((it, it.work()?))).collect();
        works.sort_by_key(|(_, work)| work.fence);
        for (item, work) in works {
            let went_on = find(self.before, item.id).and_then(Item::work);
            if went_on.is_some_and(|before| before.fence == work.fence) {
                continue;
            }
            if ghost.fences.contains_key(&work.fence.0) {
                return Some(Broken::Again);
            }
            if work.fence.0 <= ghost.last {
                return Some(Broken::Number);
            }
            ghost.last = work.fence.0;
            let Some(tale) = ghost.items.get_mut(nth(item)) else { return STRANGE };
            if tale.fate != Fate::There && !tale.is_doubled {
                return Some(Broken::Again);
            }
            tale.deliveries += 1;
            ghost.fences.insert(work.fence.0, (nth(item), tale.deliveries));
            let most = self.bounds.items.get(nth(item)).map_or(0, |spec| spec.most);
            let counted = tale.deliveries - tale.returned;
            if (item.attempt != counted || counted > most) && !tale.is_doubled {
                return Some(Broken::Count);
            }
        }
        None
    }

    fn dead(&self, ghost: &mut Ghost) -> Option<Broken> {
        for item in self.after.all_items() {
            let Standing::Dead { .. } = item.standing else { continue };
            let Some(tale) = ghost.items.get_mut(nth(item)) else { return STRANGE };
            let most = self.bounds.items.get(nth(item)).map_or(0, |spec| spec.most);
            if tale.fate == Fate::There {
                tale.fate = Fate::Dead;
                if tale.deliveries - tale.returned != most && !tale.is_doubled {
                    return Some(Broken::Count);
                }
            }
        }
        None
    }

    fn is_crowded(&self) -> bool {
        let in_work = || self.after.all_items().filter(|item| item.work().is_some());
        let all = in_work().count() as u32;
        let is_too_many = |limit: Option<u32>, count| limit.is_some_and(|limit| count > limit);
        is_too_many(self.bounds.limit, all)
            || in_work()
                .filter_map(|item| item.group.as_ref())
                .any(|group| is_too_many(self.bounds.group_limit, in_group(self.after, group)))
    }

    /// Returns whether an item was delivered although another comes first, was ready before and
    /// still is, and its group has room.
    fn passes(&self, ghost: &Ghost) -> bool {
        let is_new = |item: &&Item| {
            let went_on = find(self.before, item.id).and_then(Item::work);
            item.work().is_some_and(|work| went_on.is_none_or(|before| before.fence != work.fence))
        };
        let is_ready = |item: &&Item| matches!(item.standing, Standing::Ready { .. });
        let stays = |item: &&Item| find(self.before, item.id).filter(is_ready).is_some();
        let has_room = |item: &&Item| match (&item.group, self.bounds.group_limit) {
            (Some(group), Some(limit)) => in_group(self.after, group) < limit,
            _ => true,
        };
        let waits = || self.after.all_items().filter(is_ready).filter(stays).filter(has_room);
        self.after.all_items().filter(is_new).any(|item| {
            waits().any(|other| other.place() < item.place()) || self.is_early(item, ghost)
        })
    }

    /// Returns whether the item was delivered before it was due.
    fn is_early(&self, item: &Item, ghost: &Ghost) -> bool {
        let delayed = find(self.before, item.id).map(|before| &before.standing);
        let is_early = matches!(delayed, Some(Standing::Delayed { due }) if *due > self.store_now);
        is_early && !ghost.was_set_back
    }
}

fn in_group(queue: &MemoryQueue, group: &Name) -> u32 {
    let in_work = queue.all_items().filter(|item| item.work().is_some());
    in_work.filter(|item| item.group.as_ref() == Some(group)).count() as u32
}
