//! Histories in which one session is alone at a name, or nearly so. The scripts keep such a name as
//! one value.
//!
//! Each history is drawn beside a ledger. So a session gives back permits that it holds and asks
//! for permits that exist, as real sessions do, and time ends just before, at and after the moments
//! at which a lease or a memory ends.

#[path = "lone/requests.rs"]
mod requests;

use fastrand::Rng;
use seinpaal_proto::{
    Configure, Inbox, LeaseId,
    time::{MILLISECOND, SECOND},
};

use super::{
    beside::{Beside, ticket},
    history::{Event, FenceSeen, Sketch, inbox},
    model::Guard,
};

const CALLS: u64 = 200;
/// The longest lease: a day.
const LONGEST: u64 = 24 * 3_600 * SECOND;
/// The keys of a name that is held outlive its leases by at least this much.
const HALF_DAY: i64 = 12 * 3_600 * SECOND as i64;

/// The requests of a session for a while.
#[derive(Clone, Copy)]
struct Terms {
    ttl: u64,
    margin: u64,
    limit: u32,
    most_permits: u32,
    /// Of forty requests, at least six times this many give permits back.
    returns: u64,
    /// One call in so many comes just when a lease or a memory ends, or about then.
    haste: u64,
}

struct Draws {
    rng: Rng,
    beside: Beside,
    terms: Terms,
    /// Whether hardly anything expires, and no operator is there.
    is_calm: bool,
    /// Whether the first session holds many tickets, and renews them again and again.
    holds: bool,
    /// The last number of each session.
    drawn: Vec<u32>,
}

/// A history of this many sessions. The first is there most of the time.
pub(super) fn history(seed: u64, sessions: usize) -> Vec<Event> {
    drawn(seed, sessions, None, false)
}

/// A history in which the first session holds many tickets, and renews them again and again.
pub(super) fn holding_history(seed: u64, sessions: usize) -> Vec<Event> {
    drawn(seed, sessions, None, true)
}

/// A history of this many sessions under a restart guard of this length, which begins anew now and
/// then.
pub(super) fn guarded_history(seed: u64, sessions: usize, length: u64) -> Vec<Event> {
    drawn(seed, sessions, Some(Guard { length, kept: None }), false)
}

fn drawn(seed: u64, sessions: usize, guard: Option<Guard>, holds: bool) -> Vec<Event> {
    let mut rng = Rng::with_seed(seed);
    let (is_calm, first) = (rng.bool(), terms(&mut rng, holds));
    let (beside, drawn) = (Beside::new(guard), vec![0; sessions]);
    let mut draw = Draws { rng, beside, terms: first, is_calm, holds, drawn };
    (0..4).for_each(|i| draw.beside.push(Event::Listen(inbox(i))));
    let seldom = if holds { 60 } else { 15 };
    for _ in 0..CALLS {
        if draw.rng.u64(..seldom) == 0 {
            draw.terms = terms(&mut draw.rng, holds);
            draw.hush_or_listen();
            draw.leave();
        }
        if draw.beside.model.guard.is_some() && draw.rng.u64(..60) == 0 {
            draw.beside.push(Event::LoseMarker);
        }
        let event = draw.call();
        draw.beside.push(event);
    }
    draw.beside.events
}

fn terms(rng: &mut Rng, holds: bool) -> Terms {
    let ttl = match rng.u64(..8) {
        0 => 20 * 3_600 * SECOND,
        1 | 2 => 10 * SECOND,
        3 => SECOND,
        _ => 100 * MILLISECOND,
    };
    let terms = Terms {
        ttl,
        margin: ttl / rng.choice([4, 4, 1, 50, 2]).unwrap(),
        limit: if rng.u64(..12) == 0 { 40 } else { rng.choice([4, 4, 6, 8, 2, 1]).unwrap() },
        most_permits: rng.choice([1, 2, 3]).unwrap(),
        returns: rng.choice([1, 2, 3, 3, 4]).unwrap(),
        haste: rng.choice([3, 6, 12, 40]).unwrap(),
    };
    if !holds {
        return terms;
    }
    let haste = rng.choice([12, 40, 200]).unwrap();
    Terms { limit: rng.choice([5, 8, 20, 40]).unwrap(), returns: 1, haste, ..terms }
}

fn lease(session: usize) -> LeaseId {
    ticket(session, 0).into()
}

impl Draws {
    /// Changes who listens. If a client does not listen, the store's own clock also ends its
    /// leases.
    fn hush_or_listen(&mut self) {
        match self.rng.u64(..3) {
            0 => self.beside.push(Event::Hush(inbox(0))),
            1 => self.beside.push(Event::Listen(inbox(0))),
            _ => {}
        }
    }

    /// Gives back every ticket of the first session, in a drawn order, and may undo the settings of
    /// operators.
    fn leave(&mut self) {
        let mut held = self.beside.numbers(0, true);
        let back = |number| Sketch::Release { ticket: ticket(0, number), slots: None };
        while !held.is_empty() {
            let at = self.rng.usize(..held.len());
            self.push_at_once(back(held.swap_remove(at)));
        }
        if self.rng.bool() {
            self.push_at_once(Sketch::Configure(Configure::Unpin));
            self.push_at_once(Sketch::Configure(Configure::Resume));
        }
        if self.rng.bool() {
            self.sleep();
        }
    }

    /// Lets nearly as much time pass as the ended tickets are remembered, and asks for one of them.
    fn sleep(&mut self) {
        let left = self.until_something_ends() as i64 + self.rng.choice([-1, -1, 0, 1]).unwrap();
        let step = left.clamp(0, HALF_DAY - 1);
        let sketches = vec![if self.rng.bool() { self.acquire(0) } else { self.acquire_again(0) }];
        self.beside.push(Event::Call {
            step,
            inbox: Some(inbox(0)),
            fence: FenceSeen::None,
            sketches,
        });
        let again = self.acquire_again(0);
        self.push_at_once(again);
    }

    fn push_at_once(&mut self, sketch: Sketch) {
        let (inbox, fence) = (Some(inbox(0)), FenceSeen::None);
        self.beside.push(Event::Call { step: 1, inbox, fence, sketches: vec![sketch] });
    }

    fn call(&mut self) -> Event {
        let sessions = self.drawn.len();
        let (seldom, often) = if self.holds { (80, 6) } else { (12, 3) };
        let is_another = self.rng.u64(..seldom) == 0;
        let session = if is_another { self.rng.usize(..sessions) } else { 0 };
        let by = if self.rng.u64(..40) == 0 { self.rng.u64(..4) } else { session as u64 };
        let inbox: Option<Inbox> = (self.rng.u64(..60) != 0).then(|| inbox(by));
        let are_many = self.rng.u64(..often) == 0;
        let requests = if are_many { self.rng.u64(1..=4) } else { 1 };
        let sketches = (0..requests).map(|_| {
            // Now and then a request belongs to another session, which has the same inbox then.
            let is_another = self.rng.u64(..40) == 0;
            let other = self.rng.usize(..sessions);
            self.sketch(if is_another { other } else { session })
        });
        let sketches = sketches.collect();
        Event::Call { step: self.step(), inbox, fence: self.fence(), sketches }
    }

    /// The fence that the caller has seen. It is seldom far ahead of the clock, because no later
    /// request takes the lean path then.
    fn fence(&mut self) -> FenceSeen {
        let ttl = self.terms.ttl.min(SECOND);
        match self.rng.u64(..600) {
            0..12 => FenceSeen::Near(self.rng.u64(..4 * ttl) as i64 - ttl as i64),
            12 => FenceSeen::Near(HALF_DAY + self.rng.i64(..2)),
            13 => FenceSeen::Absurd,
            _ => FenceSeen::None,
        }
    }

    fn step(&mut self) -> i64 {
        if self.rng.u64(..150) == 0 {
            let half = (self.terms.ttl as i64 / 2).min(HALF_DAY);
            return -self.rng.choice([1, 1, half]).unwrap();
        }
        let haste = self.terms.haste * if self.is_calm { 10 } else { 1 };
        if self.rng.u64(..haste) != 0 {
            let little = self.rng.u64(..self.terms.ttl / 20) as i64;
            return self.rng.choice([0, 1, little, little]).unwrap();
        }
        let left = self.until_something_ends() as i64;
        let part = self.rng.u64(..left.max(1) as u64) as i64;
        let step = self.rng.choice([left - 1, left, left + 1, part, part, 2 * left]).unwrap();
        step.clamp(0, HALF_DAY - 1)
    }

    /// The time until a drawn lease or memory ends, or a margin.
    fn until_something_ends(&mut self) -> u64 {
        let Some(mut all) = self.beside.ends() else { return self.terms.ttl };
        all.push(self.terms.margin);
        *self.rng.choice(&all).unwrap()
    }
}
