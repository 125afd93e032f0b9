//! The requests that are drawn for a session that is alone, or nearly.

use fastrand::Rng;
use seinpaal_proto::{
    Acquire, Configure, Enqueue, Kind, LeaseId, Limit, LimitRule, OnMismatch, Permits, Priority,
    Ticket,
};

use super::{
    super::{beside::ticket, history::Sketch},
    Draws, LONGEST, Terms, lease,
};

/// A longer description than a ticket in a record has room for.
const LONG: &str = "a line that is longer than the number of bytes that a ticket within a record has room for, which is \
    two hundred and fifty-five, and so it goes on and on, until it has as many as that, and then some more, so that \
    nobody can say that it fits where it does not";

impl Draws {
    pub(super) fn sketch(&mut self, session: usize) -> Sketch {
        if self.holds && self.rng.bool() {
            return self.renew(session);
        }
        let returns = self.terms.returns;
        match self.rng.u64(..40) {
            at if at < 6 * returns || (at < 34 && self.is_full()) => self.release(session),
            at if at < 34 => self.acquire(session),
            34 => self.acquire_again(session),
            35..38 => self.renew(session),
            38 => Sketch::Inspect { rows: 1000 },
            _ if self.is_calm => self.release(session),
            _ => self.rarely(session),
        }
    }

    /// Returns whether every permit is held. Now and then it returns `false` although all are held,
    /// so that a session asks in vain.
    fn is_full(&mut self) -> bool {
        let facts = self.beside.model.state.facts();
        facts.is_some_and(|facts| facts.held >= facts.limit()) && self.rng.u64(..12) != 0
    }

    fn release(&mut self, session: usize) -> Sketch {
        let held = self.beside.numbers(session, true);
        let ticket = match held.is_empty() || self.rng.u64(..20) == 0 {
            true => self.recent(session),
            false => ticket(session, *self.rng.choice(&held).unwrap()),
        };
        Sketch::Release { ticket, slots: None }
    }

    /// One of the last tickets of a session.
    fn recent(&mut self, session: usize) -> Ticket {
        let back = self.rng.choice([0, 0, 1, 2, 3, 4]).unwrap();
        ticket(session, self.drawn[session].saturating_sub(back).max(1))
    }

    pub(super) fn acquire(&mut self, session: usize) -> Sketch {
        self.drawn[session] += if self.rng.u64(..20) == 0 { 2 } else { 1 };
        self.acquire_of(session, ticket(session, self.drawn[session]))
    }

    pub(super) fn acquire_again(&mut self, session: usize) -> Sketch {
        let ticket = self.recent(session);
        self.acquire_of(session, ticket)
    }

    fn acquire_of(&mut self, session: usize, ticket: Ticket) -> Sketch {
        let Terms { ttl, margin, .. } = self.terms;
        let rng = &mut self.rng;
        let acquire = Acquire {
            ticket,
            kind: if rng.u64(..200) == 0 { Kind::Mutex } else { Kind::Semaphore },
            permits: Permits::ONE,
            wishes: seinpaal_proto::SlotNames::none(),
            limit: None,
            enqueue: match rng.u64(..40) {
                0 => Enqueue::Yes { max_waiting: None },
                _ => Enqueue::No,
            },
            priority: Priority::default(),
            lease: if rng.u64(..500) == 0 { ticket.into() } else { lease(session) },
            ttl: if rng.u64(..8) == 0 { LONGEST.min(2 * ttl) } else { ttl },
            margin: if rng.u64(..12) == 0 { margin / 3 } else { margin },
            waiter_lease: LeaseId((0x3a17 + session as u128) << 64),
            waiter_ttl: ttl,
            not_after: None,
            about: about(rng).to_owned(),
        };
        let not_after = (rng.u64(..12) == 0).then(|| rng.choice([-1, 0, 1, 50]).unwrap());
        Sketch::Acquire { acquire: self.fitting(acquire), not_after }
    }

    /// Fits the request to the name: most of the time it states the limit in force, and asks for no
    /// more permits than there are.
    fn fitting(&mut self, acquire: Acquire) -> Acquire {
        let facts = self.beside.model.state.facts();
        let (held, stated) = facts.map_or((0, None), |facts| (facts.held, facts.stated));
        let limit = match stated {
            Some(limit) if held > 0 && self.rng.u64(..20) != 0 => limit,
            _ => self.terms.limit,
        };
        let room = limit.saturating_sub(held).clamp(1, self.terms.most_permits);
        let permits = self.rng.u32(1..=room);
        let on_mismatch = self.rng.choice([OnMismatch::Refuse, OnMismatch::Adopt]).unwrap();
        let rule = LimitRule { limit: Limit::new(limit).unwrap(), on_mismatch };
        Acquire {
            permits: Permits::new(permits).unwrap(),
            limit: (limit != 1 || self.rng.bool()).then_some(rule),
            ..acquire
        }
    }

    fn renew(&mut self, session: usize) -> Sketch {
        let Terms { ttl, margin, .. } = self.terms;
        let ttl = if self.rng.u64(..4) == 0 { LONGEST.min(3 * ttl) } else { ttl };
        let lease = lease(session);
        let (seldom, often) = if self.holds { (20, 12) } else { (5, 3) };
        if self.rng.u64(..seldom) == 0 {
            let tickets = (0..self.rng.u64(1..=2)).map(|_| self.recent(session)).collect();
            return Sketch::RenewTickets { lease, ttl, margin, tickets };
        }
        let wrong = if self.rng.u64(..often) == 0 { self.rng.u64(1..=2) } else { 0 };
        Sketch::RenewAll { lease, ttl, margin, wrong }
    }

    fn rarely(&mut self, session: usize) -> Sketch {
        let ticket = self.recent(session);
        match self.rng.u64(..16) {
            0..4 => Sketch::Evict { ticket },
            4 | 5 => Sketch::Cancel { ticket, remember: self.terms.ttl, attach: None },
            6 => Sketch::Configure(Configure::Limit(Limit::new(self.terms.limit).unwrap())),
            7 if self.rng.u64(..3) == 0 => {
                Sketch::Configure(Configure::Pause("repairs".to_owned()))
            }
            7..10 => Sketch::Configure(Configure::Unpin),
            10..12 => Sketch::Configure(Configure::Resume),
            _ => Sketch::Inspect { rows: 1000 },
        }
    }
}

fn about(rng: &mut Rng) -> &'static str {
    match rng.u64(..300) {
        0 if rng.u64(..3) == 0 => LONG,
        0 => &LONG[..255],
        2..100 => "two words",
        _ => "",
    }
}
