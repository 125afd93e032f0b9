//! Random histories of one queue, as plain data. They can be run again, made shorter and printed.
//!
//! A history is drawn beside a ledger, so that its requests are about jobs and attempts that there
//! are. A call says when it arrives, so that a shorter history has the same numbers.

use fastrand::Rng;
use seinpaal_proto::{
    Contact, Contacts, Fence, Inbox, Limit, Name, Priority,
    queue::{
        Batch, Configure, Dedup, Delivery, Due, FailureReason, How, ItemId, ItemPosition,
        ItemState, MemoryQueue, Pop, Purge, Push, Renew, Reply, Request, State, execute,
    },
    time::{MILLISECOND, SECOND, UNBOUNDED},
};

use super::differential::Ear;

/// The first reading of the clock.
pub(super) const START: u64 = 1_795_000_000_000_000;

/// What happens in a history.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    calls: usize,
    most_clients: usize,
    most_requests: usize,
    most_jobs: u32,
    groups: usize,
    /// One request in so many is something other than a push, a pop, an acknowledgement or a
    /// renewal.
    odd: u32,
}

impl Shape {
    pub(super) const MIXED: Self =
        Self { calls: 150, most_clients: 4, most_requests: 4, most_jobs: 4, groups: 3, odd: 3 };
    /// What goes on all the time.
    pub(super) const CALM: Self = Self { odd: 25, ..Self::MIXED };
    /// More is due at the same time than one call may do.
    pub(super) const LARGE: Self =
        Self { calls: 60, most_requests: 60, most_jobs: 64, ..Self::MIXED };
    pub(super) const GROUPED: Self = Self { groups: 40, ..Self::MIXED };
    pub(super) const CROWD: Self = Self { most_clients: 60, ..Self::MIXED };
}

/// An event.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Ear(Ear),
    /// A batch arrives at this time.
    Call {
        now: u64,
        batch: Batch,
    },
}

/// The clients that can be reached.
#[derive(Clone, Debug, Default)]
pub(super) struct Reachable(pub(super) Vec<Inbox>);

impl Contacts for Reachable {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        if self.0.contains(&inbox) { Contact::Listening } else { Contact::Silent }
    }
}

struct Client {
    inbox: Inbox,
    last: Batch,
    ttl: u64,
    held: Vec<Delivery>,
}

struct Drawing {
    rng: Rng,
    shape: Shape,
    clients: Vec<Client>,
    state: MemoryQueue,
    reachable: Reachable,
    pushed: Vec<ItemId>,
    now: u64,
    overtaken: u64,
    /// How many more jobs may be popped. The script ends leases by bounds, so if there are more than
    /// it looks at in a call, another one may be first.
    room: u32,
}

pub(super) fn name() -> Name {
    Name::new("a name").unwrap()
}

pub(super) fn draw(seed: u64, shape: Shape) -> Vec<Event> {
    let mut rng = Rng::with_seed(seed);
    let clients: Vec<_> =
        (0..rng.usize(1..=shape.most_clients)).map(|_| client(&mut rng)).collect();
    let reachable = Reachable(clients.iter().map(|it| it.inbox).collect());
    let mut events: Vec<_> =
        reachable.0.iter().map(|inbox| Event::Ear(Ear::Opens(*inbox))).collect();
    let (state, pushed, now) = (MemoryQueue::default(), Vec::new(), START);
    let mut drawing =
        Drawing { rng, shape, clients, state, reachable, pushed, now, overtaken: 0, room: 0 };
    for _ in 0..shape.calls {
        drawing.add(&mut events);
    }
    events
}

fn client(rng: &mut Rng) -> Client {
    let inbox = Inbox(u128::from(rng.u64(..)) << 64 | u128::from(rng.u64(..)));
    let ttl = rng.choice([30 * SECOND, 5 * SECOND, SECOND, SECOND / 10]).unwrap();
    let (name, requests) = (name(), Vec::new());
    let last = Batch { name, session: inbox, number: 1_000, not_after: 0, seen: 0, requests };
    Client { inbox, last, ttl, held: Vec::new() }
}

impl Drawing {
    fn one_in(&mut self, most: u32) -> bool {
        self.rng.u32(..most) == 0
    }

    fn add(&mut self, events: &mut Vec<Event>) {
        if self.one_in(15) {
            let inbox = self.clients[self.rng.usize(..self.clients.len())].inbox;
            events.push(Event::Ear(Ear::turn(inbox, &mut self.reachable.0)));
        }
        self.now = self.now.saturating_add_signed(self.step());
        let who = self.rng.usize(..self.clients.len());
        let batch = self.batch(who);
        let Ok(outcome) = execute(&mut self.state, &mut self.reachable, self.now, &batch);
        for reply in outcome.replies.replies {
            match reply {
                Reply::Pushed { id } => self.pushed.push(id),
                Reply::Popped { items, .. } => {
                    self.clients[who].held.extend(items.iter().map(|it| it.delivery));
                }
                _ => {}
            }
        }
        events.push(Event::Call { now: self.now, batch });
    }

    fn step(&mut self) -> i64 {
        let second = SECOND as i64;
        // In a crowd it matters which sessions were forgotten before the clock is set back.
        let first = if self.clients.len() > 4 { 3 } else { 0 };
        match self.rng.u32(first..40) {
            0 => -self.rng.i64(0..3_600 * second),
            1 | 2 => -self.rng.i64(0..2 * second),
            3 => self.rng.i64(0..300 * second),
            4..8 => self.rng.i64(0..3 * second),
            8..16 => self.rng.i64(0..second / 3),
            16..19 => 0,
            // Exactly as long as a lease or a call.
            19 | 20 => self.rng.choice([second / 10, second, 5 * second]).unwrap(),
            _ => self.rng.i64(0..second / 25),
        }
    }

    /// The next batch of a client, or one that comes again, late or without a number.
    fn batch(&mut self, who: usize) -> Batch {
        let last = self.clients[who].last.clone();
        // In a crowd, another session may be forgotten first than in the ledger.
        let is_known = last.not_after >= self.now || self.clients.len() <= 4;
        if is_known && !last.requests.is_empty() && self.one_in(12) {
            return last;
        }
        let seen = match self.rng.u32(..60) {
            0 => u64::MAX,
            1..4 => self.now.saturating_add_signed(self.rng.i64(-10..10) * SECOND as i64),
            _ => 0,
        };
        let requests = self.requests(who);
        let not_after = self.now + self.rng.u64(..20 * SECOND);
        let mut batch = Batch { not_after, seen, requests, ..last };
        match self.rng.u32(..30) {
            0 => batch.number = 0,
            // One that a later batch has overtaken. No two batches have the same number.
            1 => {
                self.overtaken += 1;
                batch.number -= self.overtaken;
            }
            2 => {
                batch.number += 1_000;
                batch.not_after = self.now.saturating_add_signed(self.rng.i64(-3..3));
            }
            _ => batch.number += 1_000,
        }
        if batch.number > last.number {
            self.clients[who].last = batch.clone();
        }
        batch
    }

    fn requests(&mut self, who: usize) -> Vec<Request> {
        let most = self.shape.most_requests;
        let count = match self.rng.u32(..10) {
            0 => 0,
            1..6 if most < 10 => 1,
            _ => self.rng.usize(1..=most),
        };
        let Ok(head) = self.state.head();
        self.room = 64_u32.saturating_sub(head.in_work);
        (0..count).map(|_| self.request(who)).collect()
    }

    fn request(&mut self, who: usize) -> Request {
        if self.one_in(self.shape.odd) {
            return self.odd_request(who);
        }
        match self.rng.u32(..12) {
            0..5 => Request::Push(self.push()),
            5..8 if self.room > 0 => Request::Pop(self.pop(who)),
            8 => self.renew(who),
            _ => Request::Finish { delivery: self.delivery(who), how: How::Acknowledge },
        }
    }

    fn odd_request(&mut self, who: usize) -> Request {
        let delay = self.rng.choice([0, 0, 1, 100 * MILLISECOND, SECOND, u64::MAX]).unwrap();
        match self.rng.u32(..28) {
            0..3 => Request::Finish { delivery: self.delivery(who), how: How::GiveBack { delay } },
            3..8 => {
                let reason = self.rng.choice(["", "no route to host: 5 %d", "é€"]).unwrap();
                let reason = FailureReason::new(reason);
                Request::Finish { delivery: self.delivery(who), how: How::Fail { delay, reason } }
            }
            8 => Request::Leave,
            9..12 => Request::Cancel { id: self.id(), spares_work: self.rng.bool() },
            12 => Request::Replay { id: self.id() },
            13 => Request::Drop { id: self.id() },
            14 if self.one_in(3) => {
                Request::Purge(if self.rng.bool() { Purge::Dead } else { Purge::Waiting })
            }
            15..20 => Request::Configure(self.change()),
            20..24 => self.list(),
            24 => Request::Inspect { rows: self.rng.choice([0, 1, 3, 1000]).unwrap() },
            _ => Request::Push(self.push()),
        }
    }

    /// An attempt of this client mostly, and mostly one that is not over.
    fn delivery(&mut self, who: usize) -> Delivery {
        let who = if self.one_in(20) { self.rng.usize(..self.clients.len()) } else { who };
        let held = &mut self.clients[who].held;
        if held.is_empty() {
            return Delivery { id: ItemId(self.now), fence: Fence(7) };
        }
        let at = self.rng.usize(held.len().saturating_sub(64)..held.len());
        if self.rng.u32(..6) == 0 { held[at] } else { held.remove(at) }
    }

    fn id(&mut self) -> ItemId {
        let from = self.pushed.len().saturating_sub(30);
        self.rng.choice(&self.pushed[from..]).copied().unwrap_or(ItemId(u64::MAX))
    }

    fn push(&mut self) -> Push {
        let rng = &mut self.rng;
        let due = match rng.u32(..16) {
            0 | 1 => Due::In(rng.u64(..2 * SECOND)),
            2 => Due::At(self.now - SECOND + rng.u64(..4 * SECOND)),
            3 => Due::In(rng.choice([0, 1, 100 * MILLISECOND, u64::MAX]).unwrap()),
            _ => Due::Now,
        };
        let windows = [0, 1, 5 * MILLISECOND, SECOND, 5 * SECOND];
        let dedup = Dedup {
            key: Name::new(rng.choice(["k", "k 1", "ké", "l"]).unwrap()).unwrap(),
            window: rng.choice(windows).unwrap(),
        };
        let payloads = [&b""[..], b"two words", b"\0\r\n\xff$-1\r\n", &[7; 40]];
        Push {
            payload: rng.choice(payloads).unwrap().to_vec(),
            priority: Priority::new(rng.choice([0, 0, 0, 1, -1, 100, -100]).unwrap()).unwrap(),
            due,
            group: (rng.u32(..3) == 0).then(|| group(rng.usize(..self.shape.groups))),
            dedup: (rng.u32(..10) == 0).then_some(dedup),
            most: rng.u32(1..=3),
            about: about(rng),
        }
    }

    fn pop(&mut self, who: usize) -> Pop {
        let (ttl, margin) = self.terms(who);
        let rng = &mut self.rng;
        let items = rng.u32(1..=self.shape.most_jobs.min(self.room));
        self.room -= items;
        let (wait, drains) = (rng.bool(), rng.u32(..4) == 0);
        Pop { items, ttl, margin, wait, drains, about: about(rng) }
    }

    fn renew(&mut self, who: usize) -> Request {
        let (ttl, margin) = self.terms(who);
        let held = &self.clients[who].held;
        let mut deliveries = held[held.len().saturating_sub(20)..].to_vec();
        deliveries.retain(|_| self.rng.u32(..4) > 0);
        if self.one_in(4) {
            deliveries.push(self.delivery(who));
        }
        Request::Renew(Renew { ttl, margin, deliveries })
    }

    fn terms(&mut self, who: usize) -> (u64, u64) {
        let ttl = self.clients[who].ttl;
        let margins = [ttl / 4, ttl / 4, ttl / 4, 7 * MILLISECOND, UNBOUNDED, 0];
        (ttl, self.rng.choice(margins).unwrap())
    }

    fn change(&mut self) -> Configure {
        let limit = self.rng.choice([None, Some(0), Some(1), Some(2), Some(3)]).unwrap();
        let limit = limit.map(|limit| Limit::new(limit).unwrap());
        match self.rng.u32(..9) {
            0 | 1 => Configure::Limit(limit),
            2 | 3 => Configure::GroupLimit(limit),
            4 => Configure::Pause(self.rng.choice(["", "for repairs\n\"now\""]).unwrap().into()),
            5 => Configure::Limit(None),
            _ => Configure::Resume,
        }
    }

    fn list(&mut self) -> Request {
        let state = self.rng.choice(ItemState::ALL).unwrap();
        let before = ItemPosition::before(state);
        // The script lists attempts by bounds of their ends, so only a whole list is the same.
        if state == ItemState::InWork {
            return Request::List { after: before, rows: 500 };
        }
        let Ok(all) = self.state.items_after(&before, 30);
        let behind = self.rng.choice(all).map(|item| match (state, item.group) {
            (ItemState::Ready, None) => ItemPosition::Open(item.rank, item.id),
            (ItemState::Ready, group) => ItemPosition::Grouped(group, item.rank, item.id),
            (ItemState::Delayed, _) => ItemPosition::Delayed(START, item.id),
            _ => ItemPosition::Dead(item.id),
        });
        let behind = behind.filter(|_| self.rng.bool());
        let odd = self.rng.choice([
            ItemPosition::Open(i64::MAX >> 11, ItemId(UNBOUNDED)),
            ItemPosition::before_open(),
            ItemPosition::Grouped(Name::new("ab").ok(), -(1 << 53), ItemId(0)),
            ItemPosition::Delayed(UNBOUNDED, ItemId(0)),
        ]);
        let after = if self.one_in(10) { odd.unwrap() } else { behind.unwrap_or(before) };
        Request::List { after, rows: self.rng.choice([0, 1, 2, 3, 500]).unwrap() }
    }
}

fn group(at: usize) -> Name {
    let name = ["a", "a b", "ab", "zürich"].get(at).map(|name| (*name).to_owned());
    Name::new(&name.unwrap_or_else(|| format!("g{at}"))).unwrap()
}

fn about(rng: &mut Rng) -> String {
    rng.choice(["", "me", "1 2 3", "\u{1f}a\u{1e}b\nc %d"]).unwrap().to_owned()
}
