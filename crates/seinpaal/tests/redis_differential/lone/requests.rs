//! The requests that are drawn for a session that is alone, or nearly.

use seinpaal_draw::Draw;
use seinpaal_proto::{
    Acquire, Configure, Enqueue, Kind, LeaseId, Limit, LimitRule, OnMismatch, Permits, Priority,
    Ticket,
};

use super::{
    super::{beside::ticket, history::Sketch},
    Draws, LONGEST, Terms, lease,
};

/// Longer than a ticket in a record may say of its holder.
const LONG: &str = "a line that is longer than the number of bytes that a ticket within a record has room for, which is \
    two hundred and fifty-five, and so it goes on and on, until it has as many as that, and then some more, so that \
    nobody can say that it fits where it does not";

impl Draws {
    pub(super) fn sketch(&mut self, session: usize) -> Sketch {
        if self.holds && self.random.one_in(2) {
            return self.renew(session);
        }
        let returns = self.terms.returns;
        match self.random.below(40) {
            at if at < 6 * returns || (at < 34 && self.is_full()) => self.release(session),
            at if at < 34 => self.acquire(session),
            34 => self.acquire_again(session),
            35..38 => self.renew(session),
            38 => Sketch::Inspect { rows: 1000 },
            _ if self.is_calm => self.release(session),
            _ => self.rarely(session),
        }
    }

    /// Returns whether every permit is held. Now and then it says that one is free all the same, so
    /// that a session asks in vain.
    fn is_full(&mut self) -> bool {
        let facts = self.beside.model.state.facts();
        facts.is_some_and(|facts| facts.held >= facts.limit()) && !self.random.one_in(12)
    }

    fn release(&mut self, session: usize) -> Sketch {
        let held = self.beside.numbers(session, true);
        let ticket = match held.is_empty() || self.random.one_in(20) {
            true => self.recent(session),
            false => ticket(session, self.random.pick(&held)),
        };
        Sketch::Release { ticket, slots: None }
    }

    /// One of the last tickets of a session.
    fn recent(&mut self, session: usize) -> Ticket {
        let back = self.random.pick(&[0, 0, 1, 2, 3, 4]);
        ticket(session, self.drawn[session].saturating_sub(back).max(1))
    }

    pub(super) fn acquire(&mut self, session: usize) -> Sketch {
        self.drawn[session] += if self.random.one_in(20) { 2 } else { 1 };
        self.acquire_of(session, ticket(session, self.drawn[session]))
    }

    pub(super) fn acquire_again(&mut self, session: usize) -> Sketch {
        let ticket = self.recent(session);
        self.acquire_of(session, ticket)
    }

    fn acquire_of(&mut self, session: usize, ticket: Ticket) -> Sketch {
        let Terms { ttl, margin, .. } = self.terms;
        let random = &mut self.random;
        let acquire = Acquire {
            ticket,
            kind: if random.one_in(200) { Kind::Mutex } else { Kind::Semaphore },
            permits: Permits::ONE,
            wishes: seinpaal_proto::SlotNames::none(),
            limit: None,
            enqueue: match random.below(40) {
                0 => Enqueue::Yes { max_waiting: None },
                _ => Enqueue::No,
            },
            priority: Priority::default(),
            lease: if random.one_in(500) { ticket.into() } else { lease(session) },
            ttl: if random.one_in(8) { LONGEST.min(2 * ttl) } else { ttl },
            margin: if random.one_in(12) { margin / 3 } else { margin },
            waiter_lease: LeaseId((0x3a17 + session as u128) << 64),
            waiter_ttl: ttl,
            not_after: None,
            about: about(random).to_owned(),
        };
        let not_after = random.one_in(12).then(|| random.pick(&[-1, 0, 1, 50]));
        Sketch::Acquire { acquire: self.fitting(acquire), not_after }
    }

    /// With the limit that is in force, and no more permits than there are, most of the time.
    fn fitting(&mut self, acquire: Acquire) -> Acquire {
        let facts = self.beside.model.state.facts();
        let (held, stated) = facts.map_or((0, None), |facts| (facts.held, facts.stated));
        let limit = match stated {
            Some(limit) if held > 0 && !self.random.one_in(20) => limit,
            _ => self.terms.limit,
        };
        let room = limit.saturating_sub(held).clamp(1, self.terms.most_permits as u32);
        let permits = 1 + self.random.below(u64::from(room)) as u32;
        let on_mismatch = self.random.pick(&[OnMismatch::Refuse, OnMismatch::Adopt]);
        let rule = LimitRule { limit: Limit::new(limit).unwrap(), on_mismatch };
        Acquire {
            permits: Permits::new(permits).unwrap(),
            limit: (limit != 1 || self.random.one_in(2)).then_some(rule),
            ..acquire
        }
    }

    fn renew(&mut self, session: usize) -> Sketch {
        let Terms { ttl, margin, .. } = self.terms;
        let ttl = if self.random.one_in(4) { LONGEST.min(3 * ttl) } else { ttl };
        let lease = lease(session);
        if self.random.one_in(if self.holds { 20 } else { 5 }) {
            let tickets = (0..1 + self.random.below(2)).map(|_| self.recent(session)).collect();
            return Sketch::RenewTickets { lease, ttl, margin, tickets };
        }
        let often = if self.holds { 12 } else { 3 };
        let wrong = if self.random.one_in(often) { 1 + self.random.below(2) } else { 0 };
        Sketch::RenewAll { lease, ttl, margin, wrong }
    }

    fn rarely(&mut self, session: usize) -> Sketch {
        let ticket = self.recent(session);
        if self.holds && self.random.one_in(4) {
            return Sketch::HandOver { ticket, lease: LeaseId(77 << 64), by: "eve" };
        }
        match self.random.below(16) {
            0..4 => Sketch::Evict { ticket },
            4 | 5 => Sketch::Cancel { ticket, remember: self.terms.ttl, attach: None },
            6 => Sketch::Configure(Configure::Limit(Limit::new(self.terms.limit).unwrap())),
            7 if self.random.one_in(3) => Sketch::Configure(Configure::Pause("repairs".to_owned())),
            7..10 => Sketch::Configure(Configure::Unpin),
            10..12 => Sketch::Configure(Configure::Resume),
            _ => Sketch::Inspect { rows: 1000 },
        }
    }
}

fn about(random: &mut Draw) -> &'static str {
    match random.below(300) {
        0 if random.one_in(3) => LONG,
        0 => &LONG[..255],
        2..100 => "two words",
        _ => "",
    }
}
