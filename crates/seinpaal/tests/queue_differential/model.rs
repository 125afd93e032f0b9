//! The ledger of queues, and what a history has learned from the answers.

use std::collections::{HashMap, HashSet};

use seinpaal_proto::{
    Contact, Contacts, Fence, Inbox, Name,
    queue::{
        Batch, Delivery, Due, How, ItemId, ItemPosition, MemoryQueue, Push, Renew, Reply, Request,
        Standing, State,
    },
    time::SECOND,
};

use super::queue_history::{ListPlace, Seen, Sketch, Turn};

/// The ledger, who listens, and what was answered.
#[derive(Default)]
pub(super) struct Model {
    pub(super) state: MemoryQueue,
    pub(super) listening: HashSet<Inbox>,
    pushed: Vec<ItemId>,
    delivered: Vec<Delivery>,
    last: HashMap<Inbox, Batch>,
    overtaken: u64,
    /// Until when a session is remembered, at least.
    pub(super) remembered: u64,
}

pub(super) struct Listening<'a>(pub(super) &'a HashSet<Inbox>);

impl Contacts for Listening<'_> {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        if self.0.contains(&inbox) { Contact::Listening } else { Contact::Silent }
    }
}

impl Model {
    pub(super) fn batch(
        &mut self,
        now: u64,
        session: Inbox,
        turn: Turn,
        seen: Seen,
        sketches: &[Sketch],
    ) -> Batch {
        let last = self.last.get(&session);
        let number = last.map_or(1_000_000, |last| last.number);
        self.overtaken += 1;
        let next = |number, not_after| Batch {
            name: Name::new("a name").unwrap(),
            session,
            number,
            not_after,
            seen: seen_at(now, seen),
            requests: sketches.iter().map(|sketch| self.request(now, sketch)).collect(),
        };
        let batch = match (turn, last) {
            (Turn::Again, Some(last)) => last.clone(),
            (Turn::Overtaken, Some(_)) => next(number - 500 - self.overtaken, now + SECOND),
            (Turn::Unnumbered, _) => next(0, 0),
            (Turn::Next(by), _) => next(number + 1_000, now.saturating_add_signed(by)),
            _ => next(number + 1_000, now + SECOND),
        };
        if batch.number > number {
            self.last.insert(session, batch.clone());
        }
        batch
    }

    fn request(&self, now: u64, sketch: &Sketch) -> Request {
        let finish = |at, how| Request::Finish { delivery: self.delivery(at), how };
        match sketch.clone() {
            Sketch::Push(push) => Request::Push(push_at(now, push)),
            Sketch::Pop(pop) => Request::Pop(pop),
            Sketch::Renew { ttl, margin, deliveries } => {
                let deliveries = deliveries.iter().map(|at| self.delivery(*at)).collect();
                Request::Renew(Renew { ttl, margin, deliveries })
            }
            Sketch::Acknowledge(at) => finish(at, How::Acknowledge),
            Sketch::GiveBack(at, delay) => finish(at, How::GiveBack { delay }),
            Sketch::Fail(at, delay, reason) => finish(at, How::Fail { delay, reason }),
            Sketch::Leave => Request::Leave,
            Sketch::Cancel(at, spares_work) => Request::Cancel { id: self.id(at), spares_work },
            Sketch::Replay(at) => Request::Replay { id: self.id(at) },
            Sketch::Drop(at) => Request::Drop { id: self.id(at) },
            Sketch::Purge(what) => Request::Purge(what),
            Sketch::Configure(change) => Request::Configure(change),
            Sketch::Inspect { rows } => Request::Inspect { rows },
            Sketch::List { after, rows } => Request::List { after: self.place(after), rows },
        }
    }

    fn place(&self, place: ListPlace) -> ItemPosition {
        let item = |at| self.state.clone().item(self.id(at)).ok().flatten();
        match place {
            ListPlace::Before(state) => ItemPosition::before(state),
            ListPlace::At(place) => place,
            ListPlace::Behind(at) => match item(at) {
                Some(item) => match (item.standing, item.group) {
                    (Standing::Ready { .. }, None) => ItemPosition::Open(item.rank, item.id),
                    (Standing::Ready { .. }, group) => {
                        ItemPosition::Grouped(group, item.rank, item.id)
                    }
                    (Standing::Delayed { due }, _) => ItemPosition::Delayed(due, item.id),
                    (Standing::InWork(work), _) => ItemPosition::InWork(work.ends, item.id),
                    (Standing::Dead { .. }, _) => ItemPosition::Dead(item.id),
                },
                None => ItemPosition::Dead(ItemId(1)),
            },
        }
    }

    /// One of the latest, or one that never was.
    fn delivery(&self, at: usize) -> Delivery {
        let nothing = Delivery { id: ItemId(u64::MAX), fence: Fence(7) };
        self.delivered.iter().rev().nth(at).copied().unwrap_or(nothing)
    }

    fn id(&self, at: usize) -> ItemId {
        self.pushed.iter().rev().nth(at).copied().unwrap_or(ItemId(u64::MAX))
    }

    pub(super) fn remember(&mut self, batch: &Batch, replies: &[Reply]) {
        if batch.number > 0 && !replies.is_empty() && !replies.contains(&Reply::Late) {
            self.remembered = self.remembered.max(batch.not_after);
        }
    }

    pub(super) fn learn(&mut self, replies: &[Reply]) {
        for reply in replies {
            match reply {
                Reply::Pushed { id } => self.pushed.push(*id),
                Reply::Popped { items, .. } => {
                    self.delivered.extend(items.iter().map(|popped| popped.delivery));
                }
                _ => {}
            }
        }
    }
}

fn seen_at(now: u64, seen: Seen) -> u64 {
    match seen {
        Seen::None => 0,
        Seen::Near(by) => now.saturating_add_signed(by),
        Seen::Absurd => u64::MAX,
    }
}

fn push_at(now: u64, push: Push) -> Push {
    let due = match push.due {
        Due::At(at) => Due::At(now - SECOND + at),
        due => due,
    };
    Push { due, ..push }
}
