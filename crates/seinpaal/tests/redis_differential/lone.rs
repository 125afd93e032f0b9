//! Histories in which one session is alone at a name, or nearly so: what the scripts keep as one
//! value.
//!
//! Each is drawn beside a ledger. So a session gives back what it holds and asks for what there is,
//! as real ones do, and time ends just before, at and after the moments at which a lease or a
//! memory ends.

#[path = "lone/requests.rs"]
mod requests;

use seinpaal_draw::Draw;
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
/// The keys of a name that is held outlive its leases by this much at least.
const HALF_DAY: i64 = 12 * 3_600 * SECOND as i64;

/// The requests of a session for a while.
#[derive(Clone, Copy)]
struct Terms {
    ttl: u64,
    margin: u64,
    limit: u32,
    most_permits: u64,
    /// Of forty requests, at least six times as many give back.
    returns: u64,
    /// One call in so many comes just when something ends, or about then.
    haste: u64,
}

struct Draws {
    random: Draw,
    beside: Beside,
    terms: Terms,
    /// Hardly anything runs out, and no operator is there.
    is_calm: bool,
    /// The first session holds many tickets, and renews them again and again.
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
    let mut random = Draw::new(seed);
    let (is_calm, first) = (random.one_in(2), terms(&mut random, holds));
    let (beside, drawn) = (Beside::new(guard), vec![0; sessions]);
    let mut draw = Draws { random, beside, terms: first, is_calm, holds, drawn };
    (0..4).for_each(|i| draw.beside.push(Event::Listen(inbox(i))));
    for _ in 0..CALLS {
        if draw.random.one_in(if holds { 60 } else { 15 }) {
            draw.terms = terms(&mut draw.random, holds);
            draw.hush_or_listen();
            draw.leave();
        }
        if draw.beside.model.guard.is_some() && draw.random.one_in(60) {
            draw.beside.push(Event::LoseMarker);
        }
        let event = draw.call();
        draw.beside.push(event);
    }
    draw.beside.events
}

fn terms(random: &mut Draw, holds: bool) -> Terms {
    let ttl = match random.below(8) {
        0 => 20 * 3_600 * SECOND,
        1 | 2 => 10 * SECOND,
        3 => SECOND,
        _ => 100 * MILLISECOND,
    };
    let terms = Terms {
        ttl,
        margin: ttl / random.pick(&[4, 4, 1, 50, 2]),
        limit: if random.one_in(12) { 40 } else { random.pick(&[4, 4, 6, 8, 2, 1]) },
        most_permits: random.pick(&[1, 2, 3]),
        returns: random.pick(&[1, 2, 3, 3, 4]),
        haste: random.pick(&[3, 6, 12, 40]),
    };
    if !holds {
        return terms;
    }
    let haste = random.pick(&[12, 40, 200]);
    Terms { limit: random.pick(&[5, 8, 20, 40]), returns: 1, haste, ..terms }
}

fn lease(session: usize) -> LeaseId {
    ticket(session, 0).into()
}

impl Draws {
    /// Where nobody listens, the store's own clock ends leases, too.
    fn hush_or_listen(&mut self) {
        match self.random.below(3) {
            0 => self.beside.push(Event::Hush(inbox(0))),
            1 => self.beside.push(Event::Listen(inbox(0))),
            _ => {}
        }
    }

    /// Gives back every ticket of the first session, in a drawn order, and may undo what operators
    /// have set.
    fn leave(&mut self) {
        let mut held = self.beside.numbers(0, true);
        let back = |number| Sketch::Release { ticket: ticket(0, number), slots: None };
        while !held.is_empty() {
            let at = self.random.below(held.len() as u64) as usize;
            self.push_at_once(back(held.swap_remove(at)));
        }
        if self.random.one_in(2) {
            self.push_at_once(Sketch::Configure(Configure::Unpin));
            self.push_at_once(Sketch::Configure(Configure::Resume));
        }
        if self.random.one_in(2) {
            self.sleep();
        }
    }

    /// Lets nearly as much time pass as the tickets that are over are remembered, and asks for one
    /// of them.
    fn sleep(&mut self) {
        let left = self.until_something_ends() as i64 + self.random.pick(&[-1, -1, 0, 1]);
        let step = left.clamp(0, HALF_DAY - 1);
        let sketches =
            vec![if self.random.one_in(2) { self.acquire(0) } else { self.acquire_again(0) }];
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
        let sessions = self.drawn.len() as u64;
        let is_another = self.random.one_in(if self.holds { 80 } else { 12 });
        let session = if is_another { self.random.below(sessions) as usize } else { 0 };
        let by = if self.random.one_in(40) { self.random.below(4) } else { session as u64 };
        let inbox: Option<Inbox> = (!self.random.one_in(60)).then(|| inbox(by));
        let are_many = self.random.one_in(if self.holds { 6 } else { 3 });
        let requests = if are_many { 1 + self.random.below(4) } else { 1 };
        let sketches = (0..requests).map(|_| {
            // Now and then a request is another's, which has the same inbox then.
            let is_another = self.random.one_in(40);
            let other = self.random.below(sessions) as usize;
            self.sketch(if is_another { other } else { session })
        });
        let sketches = sketches.collect();
        Event::Call { step: self.step(), inbox, fence: self.fence(), sketches }
    }

    /// The fence that the caller has seen. It is seldom far ahead of the clock, since no later
    /// request takes the lean path then.
    fn fence(&mut self) -> FenceSeen {
        let ttl = self.terms.ttl.min(SECOND);
        match self.random.below(600) {
            0..12 => FenceSeen::Near(self.random.below(4 * ttl) as i64 - ttl as i64),
            12 => FenceSeen::Near(HALF_DAY + self.random.below(2) as i64),
            13 => FenceSeen::Absurd,
            _ => FenceSeen::None,
        }
    }

    fn step(&mut self) -> i64 {
        if self.random.one_in(150) {
            let half = (self.terms.ttl as i64 / 2).min(HALF_DAY);
            return -self.random.pick(&[1, 1, half]);
        }
        let haste = self.terms.haste * if self.is_calm { 10 } else { 1 };
        if !self.random.one_in(haste) {
            let little = self.random.below(self.terms.ttl / 20) as i64;
            return self.random.pick(&[0, 1, little, little]);
        }
        let left = self.until_something_ends() as i64;
        let part = self.random.below(left.max(1) as u64) as i64;
        let step = self.random.pick(&[left - 1, left, left + 1, part, part, 2 * left]);
        step.clamp(0, HALF_DAY - 1)
    }

    /// The time until a lease or a memory ends, whichever is drawn, or a margin.
    fn until_something_ends(&mut self) -> u64 {
        let Some(mut all) = self.beside.ends() else { return self.terms.ttl };
        all.push(self.terms.margin);
        self.random.pick(&all)
    }
}
