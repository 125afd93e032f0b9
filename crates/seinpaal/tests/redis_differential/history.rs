//! Random histories of one name, as plain data. They can be run again, made shorter and printed.
//!
//! A history is drawn beside a ledger, so that its requests are about tickets that there are. Its
//! clients keep to what a session keeps to: their series begin like their inbox, numbers ascend, and
//! at most 64 tickets stand under one lease.

use std::collections::BTreeMap;

use fastrand::Rng;
use seinpaal_proto::{
    Acquire, Attach, Batch, Configure, Contact, Contacts, Enqueue, Fence, Inbox, Kind, LeaseId,
    Limit, LimitRule, MemoryState, Name, OnMismatch, Permits, Priority, Renew, Request, SlotNames,
    Slots, Standing, State, Ticket, Whom, execute,
    time::{SECOND, UNBOUNDED},
};

use super::differential::Ear;

/// The first reading of the clock.
pub(super) const START: u64 = 1_795_000_000_000_000;
/// How long a place in line lasts.
const WAITER_TTL: u64 = 15 * SECOND;

/// What happens in a history.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    calls: usize,
    most_clients: usize,
    /// Hardly anything expires, and operators seldom come.
    is_calm: bool,
    has_names: bool,
    is_guarded: bool,
}

impl Shape {
    pub(super) const MIXED: Self =
        Self { calls: 100, most_clients: 5, is_calm: false, has_names: false, is_guarded: false };
    pub(super) const CALM: Self = Self { is_calm: true, ..Self::MIXED };
    pub(super) const CROWD: Self = Self { calls: 400, most_clients: 90, ..Self::MIXED };
    pub(super) const NAMED: Self = Self { has_names: true, ..Self::MIXED };
    pub(super) const GUARDED: Self = Self { is_guarded: true, ..Self::MIXED };
}

/// An event.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Ear(Ear),
    /// The server loses the marker of its restart guard, as if it had lost all its data.
    LoseMarker,
    /// The clock moves by this many microseconds, and a batch arrives.
    Call {
        step: i64,
        batch: Batch,
    },
}

/// The clients that can be reached, and how long the restart guard lasts.
#[derive(Clone, Debug, Default)]
pub(super) struct Reachable {
    pub(super) inboxes: Vec<Inbox>,
    pub(super) guarded_for: Option<u64>,
}

impl Contacts for Reachable {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        if self.inboxes.contains(&inbox) { Contact::Listening } else { Contact::Silent }
    }

    fn guarded_for(&mut self) -> Option<u64> {
        self.guarded_for
    }
}

struct Client {
    inbox: Inbox,
    /// The series that it draws tickets from now.
    series: Ticket,
    /// The last number of each of its series.
    drawn: BTreeMap<Ticket, u32>,
    ttl: u64,
    attaches: u128,
}

struct Drawing {
    rng: Rng,
    shape: Shape,
    most: u32,
    clients: Vec<Client>,
    state: MemoryState,
    reachable: Reachable,
    now: u64,
    /// The client of the present call, unless an operator makes it.
    who: usize,
    by_operator: bool,
}

pub(super) fn name() -> Name {
    Name::new("a name").unwrap()
}

pub(super) fn draw(seed: u64, shape: Shape) -> Vec<Event> {
    let mut rng = Rng::with_seed(seed);
    let clients: Vec<_> =
        (0..rng.usize(1..=shape.most_clients)).map(|_| client(&mut rng)).collect();
    let most = if clients.len() > 10 { rng.u32(1..=100) } else { rng.u32(1..=5) };
    let reachable =
        Reachable { inboxes: clients.iter().map(|it| it.inbox).collect(), guarded_for: None };
    let mut events: Vec<_> =
        reachable.inboxes.iter().map(|inbox| Event::Ear(Ear::Opens(*inbox))).collect();
    let (state, now) = (MemoryState::default(), START);
    let mut drawing =
        Drawing { rng, shape, most, clients, state, reachable, now, who: 0, by_operator: false };
    for _ in 0..shape.calls {
        drawing.add(&mut events);
    }
    events
}

fn client(rng: &mut Rng) -> Client {
    let session = u128::from(rng.u64(..));
    let series = Ticket(session << 64 | u128::from(rng.u32(..)) << 32);
    Client {
        inbox: Inbox(session << 64 | u128::from(rng.u64(..))),
        series,
        drawn: BTreeMap::from([(series, 0)]),
        ttl: rng.choice([30 * SECOND, 30 * SECOND, 5 * SECOND, SECOND, SECOND / 10]).unwrap(),
        attaches: 0,
    }
}

impl Drawing {
    fn one_in(&mut self, most: u32) -> bool {
        self.rng.u32(..most) == 0
    }

    fn add(&mut self, events: &mut Vec<Event>) {
        if self.one_in(12) {
            let inbox = self.clients[self.rng.usize(..self.clients.len())].inbox;
            events.push(Event::Ear(Ear::turn(inbox, &mut self.reachable.inboxes)));
        }
        if self.shape.is_guarded && self.one_in(40) {
            events.push(Event::LoseMarker);
        }
        let step = self.step();
        self.now = self.now.saturating_add_signed(step);
        self.who = self.rng.usize(..self.clients.len());
        self.by_operator = !self.shape.is_calm && self.one_in(15);
        let seen = if self.one_in(if self.shape.is_calm { 200 } else { 30 }) {
            self.now + self.rng.u64(..2 * SECOND)
        } else {
            0
        };
        let batch = Batch {
            name: name(),
            inbox: (!self.by_operator).then_some(self.clients[self.who].inbox),
            fence_seen: seen,
            requests: self.requests(),
        };
        let Ok(_) = execute(&mut self.state, &mut self.reachable, self.now, &batch);
        events.push(Event::Call { step, batch });
    }

    fn step(&mut self) -> i64 {
        let step = |micros: u64| micros as i64;
        match if self.shape.is_calm { self.rng.u32(3..43) } else { self.rng.u32(..20) } {
            0 => -step(self.rng.u64(..3 * SECOND)),
            1 => step(self.rng.u64(..40 * SECOND)),
            2 | 3 => step(self.rng.u64(..6 * SECOND)),
            // To the microsecond at which something ends, or just beside it.
            4 => {
                let leases = self.state.leases().flat_map(|lease| [lease.ends, lease.ends_wall]);
                let mut ends: Vec<u64> =
                    leases.chain(self.state.memories().map(|memory| memory.until)).collect();
                ends.extend(self.state.facts().map(|facts| facts.fence));
                let end = self.rng.choice(ends).unwrap_or(self.now) + self.rng.u64(..3);
                let soon = end.saturating_sub(1).clamp(self.now + 1, self.now + 100 * SECOND);
                step(soon - self.now)
            }
            5 => 0,
            _ => step(self.rng.u64(..SECOND / 5)),
        }
    }

    fn requests(&mut self) -> Vec<Request> {
        if self.one_in(15) {
            return vec![Request::Inspect { rows: self.rng.choice([0, 1, 3, 10_000]).unwrap() }];
        }
        let count = self.rng.choice([0, 1, 1, 1, 1, 1, 1, 2, 3]).unwrap();
        (0..count).map(|_| self.request()).collect()
    }

    fn request(&mut self) -> Request {
        let strange = self.by_operator || self.one_in(25);
        let whose = if strange { self.rng.usize(..self.clients.len()) } else { self.who };
        let ticket = self.ticket(whose);
        let own = self.clients[self.who].ttl;
        let ttl = match !self.shape.is_calm && self.one_in(20) {
            true => self.rng.choice([30 * SECOND, SECOND, SECOND / 10]).unwrap(),
            false => own,
        };
        match self.rng.u32(..if self.by_operator { 110 } else { 72 }) {
            0..25 if !self.by_operator => self.acquire(ttl),
            25..39 | 61..65 | 73..81 => {
                let some = self.one_in(if self.shape.is_calm { 50 } else { 8 });
                Request::Release { ticket, slots: some.then(|| self.slots()) }
            }
            39..43 => {
                let remember = self.rng.choice([0, SECOND, 30 * SECOND]).unwrap();
                Request::Cancel { ticket, remember, attach: self.attach_to_give_up(ticket) }
            }
            43 | 81..88 => Request::Evict { ticket },
            44..51 if !self.by_operator => self.renew_all(ttl),
            51..58 | 88..96 => self.renew_tickets(ticket, whose, ttl),
            65..70 if !self.by_operator => self.attach(ttl),
            70..73 if !self.by_operator => {
                let Ok(entry) = self.state.entry(ticket);
                let fence = entry.map_or(1, |entry| match entry.standing {
                    Standing::Holding { fence, .. } => fence.0,
                    Standing::Waiting { .. } => 1,
                });
                let fence = Fence(fence - u64::from(self.one_in(5)));
                Request::Detach { ticket, fence, ttl, margin: ttl / 4 }
            }
            _ if self.shape.is_calm && !self.one_in(10) => Request::Release { ticket, slots: None },
            _ => Request::Configure(self.change()),
        }
    }

    /// A ticket of this client: mostly one that holds or waits, and sometimes one that is over or
    /// that was never drawn.
    fn ticket(&mut self, whose: usize) -> Ticket {
        let client = &self.clients[whose];
        let is_known = |ticket: Ticket| client.drawn.contains_key(&ticket.series().ticket(0));
        let entries = self.state.entries();
        let live = entries
            .filter(|it| {
                is_known(it.ticket) || it.inbox == Some(client.inbox) || it.inbox.is_none()
            })
            .map(|it| it.ticket);
        let live: Vec<_> = live.collect();
        match self.rng.choice(live).filter(|_| self.rng.u32(..6) > 0) {
            Some(ticket) => ticket,
            None => {
                let (series, last) = self.rng.choice(client.drawn.iter()).unwrap();
                series.series().ticket(self.rng.u32(1..=last + 2))
            }
        }
    }

    fn acquire(&mut self, ttl: u64) -> Request {
        let (calm, most) = (self.shape.is_calm, self.most);
        self.begin_a_series_if_full();
        let again = self.one_in(if calm { 25 } else { 5 });
        let skip = u32::from(self.one_in(10));
        let client = &mut self.clients[self.who];
        let last = client.drawn.entry(client.series).or_default();
        let number = match again && *last > 0 {
            true => self.rng.u32(1..=*last),
            false => {
                *last += 1 + skip;
                *last
            }
        };
        let ticket = client.series.series().ticket(number);
        let stated = match if calm && !self.one_in(30) { 3 } else { self.rng.u32(..12) } {
            0 => None,
            1 => Some(self.rng.u32(..most + 2)),
            _ => Some(most),
        };
        use OnMismatch::{Adopt, Exact, Refuse, Set};
        let on_mismatch = self.rng.choice([Refuse, Refuse, Adopt, Set, Exact]).unwrap();
        let enqueue = match if calm && !self.one_in(40) { 2 } else { self.rng.u32(..6) } {
            0 => Enqueue::No,
            1 => Enqueue::Yes { max_waiting: Some(self.rng.u32(..3)) },
            _ => Enqueue::Yes { max_waiting: None },
        };
        let kind = match self.rng.u32(..120) {
            0..3 => Kind::Mutex,
            3 | 4 => Kind::RwLock,
            _ => Kind::Semaphore,
        };
        let wishes = self.shape.has_names && self.one_in(3) || self.one_in(80);
        let about = if !calm && self.one_in(20) { "other" } else { "client" };
        Request::Acquire(Acquire {
            ticket,
            kind,
            permits: Permits::new(if self.one_in(3) { self.rng.u32(1..=most) } else { 1 }).unwrap(),
            limit: stated.map(|limit| LimitRule { limit: Limit::new(limit).unwrap(), on_mismatch }),
            enqueue,
            priority: Priority::new(if self.one_in(6) { self.rng.i32(-1..4) } else { 0 }).unwrap(),
            ttl,
            margin: self.rng.choice([ttl / 4, ttl / 4, ttl / 4, 0, UNBOUNDED]).unwrap(),
            waiter_ttl: WAITER_TTL,
            not_after: self
                .one_in(10)
                .then(|| self.now.saturating_add_signed(self.rng.i64(-10..10))),
            wishes: if wishes { self.names(2) } else { SlotNames::none() },
            about: about.to_owned(),
        })
    }

    /// A lease has at most 64 tickets.
    fn begin_a_series_if_full(&mut self) {
        let series = self.clients[self.who].series.series();
        let count = self.state.entries().filter(|it| it.ticket.series() == series).count();
        if count >= 60 || self.one_in(60) {
            let fresh = u128::from(self.rng.u32(..)) << 32;
            let ttl = self.rng.choice([30 * SECOND, 5 * SECOND, SECOND]).unwrap();
            let client = &mut self.clients[self.who];
            client.series = Ticket(client.inbox.0 >> 64 << 64 | fresh);
            client.drawn.insert(client.series, 0);
            if self.rng.bool() {
                client.ttl = ttl;
            }
        }
    }

    fn names(&mut self, most: usize) -> SlotNames {
        let from = self.rng.usize(..4);
        SlotNames::new(
            ["a 1", "b;2", "c", "d%", "e", "x"][from..from + self.rng.usize(1..=most)].to_vec(),
        )
        .unwrap()
    }

    fn slots(&mut self) -> Slots {
        let mut slots = Slots::none();
        for _ in 0..self.rng.u32(..3) {
            let first = self.rng.u32(..6);
            slots.insert(first, first + self.rng.u32(..3));
        }
        slots
    }

    fn attach_to_give_up(&mut self, ticket: Ticket) -> Option<LeaseId> {
        if self.by_operator || !self.one_in(3) {
            return None;
        }
        let Ok(entry) = self.state.entry(ticket);
        let held = entry.filter(|entry| !entry.lease.is_place()).map(|entry| entry.lease);
        let other = LeaseId(self.clients[self.who].series.0 ^ 7 << 40);
        Some(held.filter(|_| self.rng.u32(..3) > 0).unwrap_or(other))
    }

    fn renew_all(&mut self, ttl: u64) -> Request {
        let client = &self.clients[self.who];
        let leases = self.state.leases().filter(|lease| lease.inbox == Some(client.inbox));
        let leases: Vec<_> = leases.map(|lease| lease.id).collect();
        let guess =
            if self.rng.u32(..3) == 0 { client.series.place() } else { client.series.lease() };
        let lease = self.rng.choice(leases).filter(|_| self.rng.u32(..4) > 0).unwrap_or(guess);
        let Ok(kept) = self.state.lease(lease);
        let (members, digest) = kept.map_or((1, 1), |kept| (kept.members, kept.digest));
        let whom = Whom::All { members, digest: digest ^ u64::from(self.one_in(5)) };
        let ttl = if lease.is_place() { WAITER_TTL } else { ttl };
        Request::Renew(Renew { lease, ttl, margin: ttl / 4, whom })
    }

    fn renew_tickets(&mut self, ticket: Ticket, whose: usize, ttl: u64) -> Request {
        let series = self.clients[self.who].series;
        let fresh = |by: u128| LeaseId(series.0 ^ by << 40);
        let lease = match (self.by_operator, self.rng.u32(..6)) {
            (true, 0..3) => LeaseId::from(ticket),
            (true, _) => fresh(3),
            (_, 0) => fresh(1),
            (_, 1..4) if ticket.series() == series.series() => ticket.lease(),
            _ => series.lease(),
        };
        let mut tickets = vec![ticket];
        if self.rng.bool() {
            for _ in 0..self.rng.usize(..40) {
                let other = self.ticket(whose);
                if !tickets.contains(&other) {
                    tickets.push(other);
                }
            }
        }
        let ttl = if self.one_in(4) { 0 } else { ttl };
        Request::Renew(Renew { lease, ttl, margin: ttl / 4, whom: Whom::Tickets(tickets) })
    }

    fn attach(&mut self, ttl: u64) -> Request {
        let all: Vec<_> = self.state.entries().map(|entry| entry.ticket).collect();
        let ticket = self.rng.choice(all).filter(|_| self.rng.u32(..8) > 0);
        let ticket = ticket.unwrap_or_else(|| self.ticket(self.who));
        let again = self.one_in(5);
        let client = &mut self.clients[self.who];
        if !again || client.attaches == 0 {
            client.attaches += 1;
        }
        let lease = client.inbox.0 >> 64 << 64 | (0x8000_0000 + client.attaches) << 32;
        let not_after =
            self.one_in(12).then(|| self.now.saturating_add_signed(self.rng.i64(-10..10)));
        Request::Attach(Attach {
            ticket,
            lease: LeaseId(lease),
            ttl,
            margin: ttl / 4,
            not_after,
            about: "another client".to_owned(),
        })
    }

    fn change(&mut self) -> Configure {
        match self.rng.u32(..if self.shape.has_names { 9 } else { 6 }) {
            0 => Configure::Limit(Limit::new(self.rng.u32(..self.most + 2)).unwrap()),
            1 | 2 => Configure::Unpin,
            3 => Configure::Pause("for repairs\n\"now\"".to_owned()),
            4 | 5 => Configure::Resume,
            _ => {
                let names = ["a 1", "b;2", "c", "d%", "e"];
                Configure::Slots(SlotNames::new(names[..self.rng.usize(1..=5)].to_vec()).unwrap())
            }
        }
    }
}
