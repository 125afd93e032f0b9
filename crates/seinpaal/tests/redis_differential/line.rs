//! Histories in which a few sessions hand a name's permits to each other: what the scripts keep as
//! a line.
//!
//! Each is drawn beside a ledger. A session asks and stands in line, gives back what it holds,
//! proves what it was handed, and renews what it has. Time ends just before, at and after the
//! moments at which a lease ends.

use seinpaal_draw::Draw;
use seinpaal_proto::{
    Acquire, Configure, Enqueue, Kind, LeaseId, Limit, LimitRule, OnMismatch, Permits, Priority,
    time::{MILLISECOND, SECOND},
};

use super::{
    beside::{Beside, ticket},
    history::{Ask, Event, FenceSeen, inbox},
    model::Guard,
};

const CALLS: u64 = 150;

struct Draws {
    random: Draw,
    beside: Beside,
    ttl: u64,
    place_ttl: u64,
    margin: u64,
    limit: u32,
    sizes: Sizes,
    /// Of how many calls one comes when something ends, or about.
    haste: u64,
    /// Of how many requests one is rare.
    rarity: u64,
    /// The last number of each session, and the lease of its place.
    drawn: Vec<u32>,
    places: Vec<LeaseId>,
}

/// How many permits are asked for.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Sizes {
    /// Mostly one.
    Alike,
    /// One by those who read, all by those who write.
    ReadersAndWriters,
    /// Any number.
    Mixed,
}

/// A history of so many sessions.
pub(super) fn history(seed: u64, sessions: usize) -> Vec<Event> {
    drawn(seed, sessions, None, Sizes::Alike)
}

/// The same where those who wait mostly want another number of permits than what is given back.
pub(super) fn history_of_sizes(seed: u64, sessions: usize) -> Vec<Event> {
    let sizes = if seed.is_multiple_of(3) { Sizes::Mixed } else { Sizes::ReadersAndWriters };
    drawn(seed, sessions, None, sizes)
}

/// The same under a restart guard of this length, which begins anew now and then.
pub(super) fn guarded_history(seed: u64, sessions: usize, length: u64) -> Vec<Event> {
    drawn(seed, sessions, Some(Guard { length, kept: None }), Sizes::Alike)
}

fn drawn(seed: u64, sessions: usize, guard: Option<Guard>, sizes: Sizes) -> Vec<Event> {
    let mut random = Draw::new(seed);
    let ttls = [100 * MILLISECOND, SECOND, SECOND, 10 * SECOND, 20 * 3_600 * SECOND];
    let ttl = random.pick(&ttls);
    let other = random.pick(&ttls);
    let place_ttl = random.pick(&[ttl, ttl, ttl, other, ttl / 2]).max(100 * MILLISECOND);
    let margin = ttl / random.pick(&[4, 4, 4, 1, 50]);
    let limit = match sizes {
        Sizes::Alike => random.pick(&[1, 1, 1, 2, 3]),
        _ => random.pick(&[2, 3, 4, 1000]),
    };
    let (haste, rarity) = (random.pick(&[8, 40, 200]), random.pick(&[20, 60, 400]));
    let (drawn, places) = (vec![0; sessions], (0..sessions).map(place).collect());
    let beside = Beside::new(guard);
    let mut draw = Draws {
        random,
        beside,
        ttl,
        place_ttl,
        margin,
        limit,
        sizes,
        haste,
        rarity,
        drawn,
        places,
    };
    (0..sessions as u64).for_each(|i| draw.beside.push(Event::Listen(inbox(i))));
    for _ in 0..CALLS {
        draw.go_on();
    }
    draw.beside.events
}

fn place(session: usize) -> LeaseId {
    LeaseId((0x3a17 + session as u128) << 64)
}

impl Draws {
    fn go_on(&mut self) {
        if self.random.one_in(self.rarity) {
            let inbox = inbox(self.random.below(self.drawn.len() as u64));
            let hushes = self.random.one_in(3);
            self.beside.push(if hushes { Event::Hush(inbox) } else { Event::Listen(inbox) });
        }
        if self.beside.model.guard.is_some() && self.random.one_in(60) {
            self.beside.push(Event::LoseMarker);
        }
        if self.random.one_in(self.rarity) {
            self.move_a_place();
        }
        let session = self.session();
        let requests = if self.random.one_in(6) { 1 + self.random.below(3) } else { 1 };
        let asks = (0..requests).map(|_| self.ask(session)).collect();
        let fence = match self.random.below(4 * self.rarity) {
            0 => FenceSeen::Near(self.random.below(2 * SECOND) as i64 - SECOND as i64),
            _ => FenceSeen::None,
        };
        let inbox = match self.random.below(200) {
            0 => None,
            1 => Some(inbox(9)),
            _ => Some(inbox(session as u64)),
        };
        let step = self.step();
        self.beside.push(Event::Call { step, inbox, fence, asks });
    }

    /// Usually a session that holds something, so that the line does not only grow.
    fn session(&mut self) -> usize {
        let all = 0..self.drawn.len();
        let holding: Vec<_> =
            all.filter(|session| !self.beside.numbers(*session, true).is_empty()).collect();
        match holding.is_empty() || self.random.one_in(2) {
            true => self.random.below(self.drawn.len() as u64) as usize,
            false => self.random.pick(&holding),
        }
    }

    /// Under a lease of its own, or under another session's.
    fn move_a_place(&mut self) {
        let of = self.random.below(self.places.len() as u64) as usize;
        let other = self.random.below(self.places.len() as u64) as usize;
        let fresh = LeaseId(u128::from(self.random.below(1_000)) << 64 | 0x77 << 32);
        let with_a_number = LeaseId((0x3a17 + of as u128) << 64 | 1);
        let others = [self.places[other], ticket(other, 0).into()];
        self.places[of] =
            self.random.pick(&[fresh, fresh, place(of), with_a_number, others[0], others[1]]);
    }

    fn step(&mut self) -> i64 {
        if self.random.one_in(3 * self.rarity) {
            return -(self.random.below(self.ttl / 2) as i64);
        }
        if !self.random.one_in(self.haste) {
            let little = self.random.below(self.ttl / 40) as i64;
            return self.random.pick(&[0, little, little]);
        }
        let left = self.until_something_ends() as i64;
        let part = self.random.below(left.max(1) as u64) as i64;
        self.random.pick(&[left - 1, left, left + 1, part, part]).clamp(0, 11 * 3_600_000_000)
    }

    fn until_something_ends(&mut self) -> u64 {
        let Some(mut all) = self.beside.ends() else { return self.ttl };
        all.push(self.margin);
        self.random.pick(&all)
    }

    fn ask(&mut self, session: usize) -> Ask {
        if self.random.one_in(self.rarity) {
            return self.rarely(session);
        }
        let (held, waiting) =
            (self.beside.numbers(session, true), self.beside.numbers(session, false));
        match self.random.below(10) {
            0..5 if !held.is_empty() => self.release(session, &held),
            5 if !held.is_empty() => self.renew(session, None),
            6 | 7 if !held.is_empty() => self.prove(session, &held),
            6..9 if !waiting.is_empty() => self.renew(session, Some(self.places[session])),
            _ if waiting.len() > self.random.below(3) as usize => {
                self.renew(session, Some(self.places[session]))
            }
            _ => self.acquire(session),
        }
    }

    fn release(&mut self, session: usize, held: &[u32]) -> Ask {
        Ask::Release { ticket: ticket(session, self.random.pick(held)), slots: None }
    }

    fn renew(&mut self, session: usize, place: Option<LeaseId>) -> Ask {
        let wrong = if self.random.one_in(12) { 1 + self.random.below(2) } else { 0 };
        let ttl = if place.is_some() { self.place_ttl } else { self.ttl };
        let ttl = if self.random.one_in(6) { (ttl / 2).max(100 * MILLISECOND) } else { ttl };
        let lease = place.unwrap_or_else(|| ticket(session, 0).into());
        Ask::RenewAll { lease, ttl, margin: self.some_margin(), wrong }
    }

    fn some_margin(&mut self) -> u64 {
        let part = self.random.pick(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3]);
        if self.random.one_in(80) { 0 } else { self.margin / part }
    }

    fn prove(&mut self, session: usize, held: &[u32]) -> Ask {
        let mut tickets = vec![ticket(session, self.random.pick(held))];
        if self.random.one_in(20) {
            tickets.push(ticket(session, self.drawn[session]));
        }
        let (ttl, margin) = (self.ttl, self.some_margin());
        Ask::RenewTickets { lease: ticket(session, 0).into(), ttl, margin, tickets }
    }

    fn acquire(&mut self, session: usize) -> Ask {
        self.drawn[session] += 1;
        let waiting = self.beside.numbers(session, false);
        let number = match self.random.below(24) {
            0 => self.drawn[session].saturating_sub(self.random.below(4) as u32).max(1),
            1 if !waiting.is_empty() => self.random.pick(&waiting),
            _ => self.drawn[session],
        };
        let facts = self.beside.model.state.facts();
        let stated = facts.and_then(|facts| facts.stated).unwrap_or(self.limit);
        let margin = self.some_margin();
        let ttl = match self.random.below(20) {
            0 | 1 => self.ttl * 6 / 5,
            2 => (self.ttl / 5).max(100 * MILLISECOND),
            _ => self.ttl,
        };
        let about = self.about();
        let random = &mut self.random;
        let most = u64::from(self.limit) + u64::from(random.one_in(12));
        let permits = match self.sizes {
            Sizes::ReadersAndWriters if random.one_in(12) => 1 + random.below(most) as u32,
            Sizes::ReadersAndWriters => random.pick(&[1, 1, self.limit]),
            Sizes::Alike if !random.one_in(6) => 1,
            Sizes::Alike | Sizes::Mixed => 1 + random.below(most) as u32,
        };
        let limit = match random.below(100) {
            0 => stated + 1,
            1 => stated.saturating_sub(1).max(1),
            _ => stated,
        };
        let on_mismatch = random.pick(&[OnMismatch::Refuse, OnMismatch::Adopt, OnMismatch::Set]);
        let rule = LimitRule { limit: Limit::new(limit).unwrap(), on_mismatch };
        let not_after = random.one_in(12).then(|| random.pick(&[-1, 0, 1, 50]));
        let acquire = Acquire {
            ticket: ticket(session, number),
            kind: if random.one_in(200) { Kind::Mutex } else { Kind::Semaphore },
            permits: Permits::new(permits).unwrap(),
            wishes: seinpaal_proto::SlotNames::none(),
            limit: (limit != 1 || random.one_in(2)).then_some(rule),
            enqueue: match random.below(12) {
                0 | 1 => Enqueue::No,
                2 => Enqueue::Yes { max_waiting: Some(random.below(3) as u32) },
                _ => Enqueue::Yes { max_waiting: None },
            },
            priority: Priority::new(random.pick(&[0, 0, 0, 0, 0, 0, 0, 0, 1, -1])).unwrap(),
            lease: if random.one_in(200) { LeaseId(5 << 64) } else { ticket(session, 0).into() },
            ttl,
            margin,
            waiter_lease: self.places[session],
            waiter_ttl: self.place_ttl + random.pick(&[0, 0, 0, 0, 0, 0, 0, 1, self.place_ttl / 5]),
            not_after: None,
            about,
        };
        Ask::Acquire { acquire, not_after }
    }

    /// Now and then what the scripts look for, of another session.
    fn about(&mut self) -> String {
        if !self.random.one_in(self.rarity) {
            return self.random.pick(&["", "", "two words"]).to_owned();
        }
        let other = self.random.below(self.drawn.len() as u64);
        let series = ticket(other as usize, 0).to_string();
        let long = self.random.pick(&[200, 255, 256]);
        let owner = format!("{}{}", inbox(other), &series[..24]);
        match self.random.below(4) {
            0 => owner,
            1 => owner.repeat(4),
            2 => series[..24].to_owned(),
            _ => "x".repeat(long),
        }
    }

    fn rarely(&mut self, session: usize) -> Ask {
        let back = self.random.below(4) as u32;
        let ticket = ticket(session, self.drawn[session].saturating_sub(back).max(1));
        match self.random.below(14) {
            12 | 13 => Ask::HandOver { ticket, lease: LeaseId(77 << 64), by: "eve" },
            0..2 => Ask::Evict { ticket },
            2..5 => Ask::Cancel { ticket, remember: self.ttl, attach: None },
            5 if self.random.one_in(3) => {
                Ask::Configure(Configure::Limit(Limit::new(self.limit).unwrap()))
            }
            6 if self.random.one_in(3) => Ask::Configure(Configure::Pause("repairs".to_owned())),
            5..8 => Ask::Configure(Configure::Unpin),
            8 => Ask::Configure(Configure::Resume),
            9 => Ask::Release { ticket, slots: None },
            _ => Ask::Inspect { rows: 1000 },
        }
    }
}
