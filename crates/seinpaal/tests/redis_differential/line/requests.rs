//! The requests that are drawn for a session at a line.

use seinpaal_proto::{
    Acquire, Configure, Enqueue, Kind, LeaseId, Limit, LimitRule, OnMismatch, Permits, Priority,
    time::MILLISECOND,
};

use super::{
    super::{
        beside::ticket,
        history::{Sketch, inbox},
    },
    Draws, Sizes,
};

impl Draws {
    pub(super) fn sketch(&mut self, session: usize) -> Sketch {
        if self.rng.u64(..self.rarity) == 0 {
            return self.rarely(session);
        }
        if self.is_left_unstated() && self.somebody_waits() && self.rng.u64(..6) == 0 {
            return Sketch::Configure(Configure::Unpin);
        }
        let (held, waiting) =
            (self.beside.numbers(session, true), self.beside.numbers(session, false));
        match self.rng.u64(..10) {
            0..5 if !held.is_empty() => self.release(session, &held),
            5 if !held.is_empty() => self.renew(session, None),
            6 | 7 if !held.is_empty() => self.prove(session, &held),
            6..9 if !waiting.is_empty() => self.renew(session, Some(self.places[session])),
            _ if waiting.len() > self.rng.usize(..3) => {
                self.renew(session, Some(self.places[session]))
            }
            _ => self.acquire(session),
        }
    }

    /// Clients have no need to state the limit that an operator has pinned.
    fn is_left_unstated(&self) -> bool {
        let facts = self.beside.model.state.facts();
        self.begins_pinned && facts.is_some_and(|facts| facts.pinned.is_some())
    }

    fn somebody_waits(&self) -> bool {
        self.beside.model.state.facts().is_some_and(|facts| facts.waiting > 0)
    }

    fn release(&mut self, session: usize, held: &[u32]) -> Sketch {
        Sketch::Release { ticket: ticket(session, *self.rng.choice(held).unwrap()), slots: None }
    }

    fn renew(&mut self, session: usize, place: Option<LeaseId>) -> Sketch {
        let wrong = if self.rng.u64(..12) == 0 { self.rng.u64(1..=2) } else { 0 };
        let ttl = if place.is_some() { self.place_ttl } else { self.ttl };
        let ttl = if self.rng.u64(..6) == 0 { (ttl / 2).max(100 * MILLISECOND) } else { ttl };
        let lease = place.unwrap_or_else(|| ticket(session, 0).into());
        Sketch::RenewAll { lease, ttl, margin: self.some_margin(), wrong }
    }

    fn some_margin(&mut self) -> u64 {
        let part = self.rng.choice([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3]).unwrap();
        if self.rng.u64(..80) == 0 { 0 } else { self.margin / part }
    }

    fn prove(&mut self, session: usize, held: &[u32]) -> Sketch {
        let mut tickets = vec![ticket(session, *self.rng.choice(held).unwrap())];
        if self.rng.u64(..20) == 0 {
            tickets.push(ticket(session, self.drawn[session]));
        }
        let (ttl, margin) = (self.ttl, self.some_margin());
        Sketch::RenewTickets { lease: ticket(session, 0).into(), ttl, margin, tickets }
    }

    fn acquire(&mut self, session: usize) -> Sketch {
        self.drawn[session] += 1;
        let waiting = self.beside.numbers(session, false);
        let number = match self.rng.u64(..24) {
            0 => self.drawn[session].saturating_sub(self.rng.u32(..4)).max(1),
            1 if !waiting.is_empty() => *self.rng.choice(&waiting).unwrap(),
            _ => self.drawn[session],
        };
        let facts = self.beside.model.state.facts();
        let stated = facts.and_then(|facts| facts.stated).unwrap_or(self.limit);
        let margin = self.some_margin();
        let ttl = match self.rng.u64(..20) {
            0 | 1 => self.ttl * 6 / 5,
            2 => (self.ttl / 5).max(100 * MILLISECOND),
            _ => self.ttl,
        };
        let about = self.about();
        let is_unstated = self.is_left_unstated();
        let rng = &mut self.rng;
        let most = self.limit + u32::from(rng.u64(..12) == 0);
        let permits = match self.sizes {
            Sizes::ReadersAndWriters if rng.u64(..12) == 0 => rng.u32(1..=most),
            Sizes::ReadersAndWriters => rng.choice([1, 1, self.limit]).unwrap(),
            Sizes::Alike if rng.u64(..6) != 0 => 1,
            Sizes::Alike | Sizes::Mixed => rng.u32(1..=most),
        };
        let limit = match rng.u64(..100) {
            0 => stated + 1,
            1 => stated.saturating_sub(1).max(1),
            _ => stated,
        };
        let on_mismatch =
            rng.choice([OnMismatch::Refuse, OnMismatch::Adopt, OnMismatch::Set]).unwrap();
        let rule = LimitRule { limit: Limit::new(limit).unwrap(), on_mismatch };
        let not_after = (rng.u64(..12) == 0).then(|| rng.choice([-1, 0, 1, 50]).unwrap());
        let acquire = Acquire {
            ticket: ticket(session, number),
            kind: if rng.u64(..200) == 0 { Kind::Mutex } else { Kind::Semaphore },
            permits: Permits::new(permits).unwrap(),
            wishes: seinpaal_proto::SlotNames::none(),
            limit: (!is_unstated && (limit != 1 || rng.bool())).then_some(rule),
            enqueue: match rng.u64(..12) {
                0 | 1 => Enqueue::No,
                2 => Enqueue::Yes { max_waiting: Some(rng.u32(..3)) },
                _ => Enqueue::Yes { max_waiting: None },
            },
            priority: Priority::new(rng.choice([0, 0, 0, 0, 0, 0, 0, 0, 1, -1]).unwrap()).unwrap(),
            lease: if rng.u64(..200) == 0 { LeaseId(5 << 64) } else { ticket(session, 0).into() },
            ttl,
            margin,
            waiter_lease: self.places[session],
            waiter_ttl: self.place_ttl
                + rng.choice([0, 0, 0, 0, 0, 0, 0, 1, self.place_ttl / 5]).unwrap(),
            not_after: None,
            about,
        };
        Sketch::Acquire { acquire, not_after }
    }

    /// A session's description of itself. Now and then it is the bytes by which the scripts look
    /// for another session.
    fn about(&mut self) -> String {
        if self.rng.u64(..self.rarity) != 0 {
            return self.rng.choice(["", "", "two words"]).unwrap().to_owned();
        }
        let other = self.rng.u64(..self.drawn.len() as u64);
        let series = ticket(other as usize, 0).to_string();
        let long = self.rng.choice([200, 255, 256]).unwrap();
        let owner = format!("{}{}", inbox(other), &series[..24]);
        match self.rng.u64(..4) {
            0 => owner,
            1 => owner.repeat(4),
            2 => series[..24].to_owned(),
            _ => "x".repeat(long),
        }
    }

    fn rarely(&mut self, session: usize) -> Sketch {
        let back = self.rng.u32(..4);
        let ticket = ticket(session, self.drawn[session].saturating_sub(back).max(1));
        match self.rng.u64(..14) {
            0..2 => Sketch::Evict { ticket },
            2..5 => Sketch::Cancel { ticket, remember: self.ttl, attach: None },
            5 if self.rng.u64(..3) == 0 => {
                Sketch::Configure(Configure::Limit(Limit::new(self.limit).unwrap()))
            }
            6 if self.rng.u64(..3) == 0 => {
                Sketch::Configure(Configure::Pause("repairs".to_owned()))
            }
            5..8 => Sketch::Configure(Configure::Unpin),
            8 => Sketch::Configure(Configure::Resume),
            9 => Sketch::Release { ticket, slots: None },
            _ => Sketch::Inspect { rows: 1000 },
        }
    }
}
