//! Histories in which a few sessions hand a name's permits to each other. The scripts keep such a
//! name as a line.
//!
//! Each history is drawn beside a ledger. A session asks and stands in line, gives back the permits
//! that it holds, proves a permit that it was handed, and renews its leases. Time ends just before,
//! at and after the moments at which a lease ends.

#[path = "line/requests.rs"]
mod requests;

use fastrand::Rng;
use seinpaal_proto::{
    Configure, LeaseId, Limit,
    time::{MILLISECOND, SECOND},
};

use super::{
    beside::{Beside, ticket},
    history::{Event, FenceSeen, Sketch, inbox},
    model::Guard,
};

const CALLS: u64 = 150;

struct Draws {
    rng: Rng,
    beside: Beside,
    ttl: u64,
    place_ttl: u64,
    margin: u64,
    limit: u32,
    sizes: Sizes,
    begins_pinned: bool,
    /// One call in so many comes just when a lease or a memory ends, or about then.
    haste: u64,
    /// One request in so many is a rare one.
    rarity: u64,
    /// The last number of each session, and the lease of its place.
    drawn: Vec<u32>,
    places: Vec<LeaseId>,
}

/// How many permits are requested.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Sizes {
    /// Mostly one permit.
    Alike,
    /// One permit for readers, and all permits for writers.
    ReadersAndWriters,
    /// Any number of permits.
    Mixed,
}

/// A history of so many sessions.
pub(super) fn history(seed: u64, sessions: usize) -> Vec<Event> {
    drawn(seed, sessions, None, Sizes::Alike, false)
}

/// A history in which waiters mostly want another number of permits than is given back.
pub(super) fn history_of_sizes(seed: u64, sessions: usize) -> Vec<Event> {
    let sizes = if seed.is_multiple_of(3) { Sizes::Mixed } else { Sizes::ReadersAndWriters };
    drawn(seed, sessions, None, sizes, false)
}

/// A history in which a limit is pinned before the first session comes, and unpinned while somebody
/// waits. So then no limit is stored, and the next one that is stated may let waiters in.
pub(super) fn history_of_an_unpin(seed: u64, sessions: usize) -> Vec<Event> {
    let sizes = if seed.is_multiple_of(2) { Sizes::Mixed } else { Sizes::Alike };
    drawn(seed, sessions, None, sizes, true)
}

/// A history under a restart guard of this length, which begins anew now and then.
pub(super) fn guarded_history(seed: u64, sessions: usize, length: u64) -> Vec<Event> {
    drawn(seed, sessions, Some(Guard { length, kept: None }), Sizes::Alike, false)
}

fn drawn(
    seed: u64,
    sessions: usize,
    guard: Option<Guard>,
    sizes: Sizes,
    begins_pinned: bool,
) -> Vec<Event> {
    let mut rng = Rng::with_seed(seed);
    let ttls = [100 * MILLISECOND, SECOND, SECOND, 10 * SECOND, 20 * 3_600 * SECOND];
    let ttl = rng.choice(ttls).unwrap();
    let other = rng.choice(ttls).unwrap();
    let place_ttl = rng.choice([ttl, ttl, ttl, other, ttl / 2]).unwrap().max(100 * MILLISECOND);
    let margin = ttl / rng.choice([4, 4, 4, 1, 50]).unwrap();
    let limit = match sizes {
        Sizes::Alike => rng.choice([1, 1, 1, 2, 3]).unwrap(),
        _ => rng.choice([2, 3, 4, 1000]).unwrap(),
    };
    let (haste, rarity) = (rng.choice([8, 40, 200]).unwrap(), rng.choice([20, 60, 400]).unwrap());
    let (drawn, places) = (vec![0; sessions], (0..sessions).map(place).collect());
    let beside = Beside::new(guard);
    let mut draw = Draws {
        rng,
        beside,
        ttl,
        place_ttl,
        margin,
        limit,
        sizes,
        begins_pinned,
        haste,
        rarity,
        drawn,
        places,
    };
    (0..sessions as u64).for_each(|i| draw.beside.push(Event::Listen(inbox(i))));
    if begins_pinned {
        let sketches = vec![Sketch::Configure(Configure::Limit(Limit::ONE))];
        draw.beside.push(Event::Call { step: 1, inbox: None, fence: FenceSeen::None, sketches });
    }
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
        if self.rng.u64(..self.rarity) == 0 {
            let inbox = inbox(self.rng.u64(..self.drawn.len() as u64));
            let hushes = self.rng.u64(..3) == 0;
            self.beside.push(if hushes { Event::Hush(inbox) } else { Event::Listen(inbox) });
        }
        if self.beside.model.guard.is_some() && self.rng.u64(..60) == 0 {
            self.beside.push(Event::LoseMarker);
        }
        if self.rng.u64(..self.rarity) == 0 {
            self.move_a_place();
        }
        let session = self.session();
        let requests = if self.rng.u64(..6) == 0 { self.rng.u64(1..=3) } else { 1 };
        let sketches = (0..requests).map(|_| self.sketch(session)).collect();
        let fence = match self.rng.u64(..4 * self.rarity) {
            0 => FenceSeen::Near(self.rng.u64(..2 * SECOND) as i64 - SECOND as i64),
            _ => FenceSeen::None,
        };
        let inbox = match self.rng.u64(..200) {
            0 => None,
            1 => Some(inbox(9)),
            _ => Some(inbox(session as u64)),
        };
        let step = self.step();
        self.beside.push(Event::Call { step, inbox, fence, sketches });
    }

    /// Chooses a session, usually one that holds permits, so that the line does not only grow.
    fn session(&mut self) -> usize {
        let all = 0..self.drawn.len();
        let holding: Vec<_> =
            all.filter(|session| !self.beside.numbers(*session, true).is_empty()).collect();
        match holding.is_empty() || self.rng.bool() {
            true => self.rng.usize(..self.drawn.len()),
            false => *self.rng.choice(&holding).unwrap(),
        }
    }

    /// Moves the place of some session under another lease: a new one, or one that belongs to
    /// another session.
    fn move_a_place(&mut self) {
        let of = self.rng.usize(..self.places.len());
        let other = self.rng.usize(..self.places.len());
        let fresh = LeaseId(self.rng.u128(..1_000) << 64 | 0x77 << 32);
        let with_a_number = LeaseId((0x3a17 + of as u128) << 64 | 1);
        let others = [self.places[other], ticket(other, 0).into()];
        self.places[of] = self
            .rng
            .choice([fresh, fresh, place(of), with_a_number, others[0], others[1]])
            .unwrap();
    }

    fn step(&mut self) -> i64 {
        if self.rng.u64(..3 * self.rarity) == 0 {
            return -(self.rng.u64(..self.ttl / 2) as i64);
        }
        if self.rng.u64(..self.haste) != 0 {
            let little = self.rng.u64(..self.ttl / 40) as i64;
            return self.rng.choice([0, little, little]).unwrap();
        }
        let left = self.until_something_ends() as i64;
        let part = self.rng.u64(..left.max(1) as u64) as i64;
        self.rng
            .choice([left - 1, left, left + 1, part, part])
            .unwrap()
            .clamp(0, 11 * 3_600_000_000)
    }

    fn until_something_ends(&mut self) -> u64 {
        let Some(mut all) = self.beside.ends() else { return self.ttl };
        all.push(self.margin);
        *self.rng.choice(&all).unwrap()
    }
}
