//! The network of the tests: one name, one ledger, virtual time.

mod links;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

use crate::{
    Batch, Fence, Inbox, MemoryState, Name, Request, State, Ticket,
    id::mix,
    session::{Event, OneOffId, Session, SessionConfig, Want},
    time::{MILLISECOND, Micros, SECOND},
};
use links::Parcel;

/// The faults of links, in per cent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fate {
    pub(super) lose_requests: u64,
    pub(super) lose_replies: u64,
    pub(super) repeat: u64,
    pub(super) lose_wakeups: bool,
    pub(super) slow: bool,
    /// How long every message takes, if not a millisecond.
    pub(super) lag: Micros,
    /// The most that a message may take in addition, drawn for each, so that a later one may arrive
    /// earlier.
    pub(super) jumble: Micros,
    /// The session whose requests and wakeups are all lost.
    pub(super) cut_off: Option<usize>,
    /// The session whose connection has died without notice. A call over it fails after two
    /// seconds, or is repeated over a new connection as soon as an answer is overdue.
    pub(super) dead_way: Option<usize>,
    /// Whether to plant a mistake: sessions count from the reply, not from the request.
    pub(super) count_from_reply: bool,
}

pub(super) struct Net {
    pub(super) now: Micros,
    pub(super) sessions: Vec<Session>,
    pub(super) state: MemoryState,
    pub(super) fate: Fate,
    pub(super) calls: usize,
    /// The most requests in one call.
    pub(super) largest: usize,
    pub(super) told: Vec<(usize, Micros, Event)>,
    name: Name,
    inboxes: Vec<Inbox>,
    parcels: BTreeMap<(Micros, u64), Parcel>,
    held: BTreeMap<(Ticket, usize), (Fence, u32, Option<Micros>)>,
    wanted: BTreeSet<(Ticket, usize)>,
    draws: u64,
    count: u64,
}

impl Net {
    pub(super) fn new(sessions: usize, seed: u64) -> Self {
        Self::with(sessions, seed, &SessionConfig::default())
    }

    pub(super) fn with(sessions: usize, seed: u64, config: &SessionConfig) -> Self {
        let inboxes: Vec<Inbox> = (1..=sessions as u64)
            .map(|i| Inbox(u128::from(mix(i)) << 64 | u128::from(mix(seed))))
            .collect();
        Self {
            now: 1000 * SECOND,
            sessions: inboxes.iter().map(|&inbox| Session::new(inbox, config.clone())).collect(),
            state: MemoryState::default(),
            fate: Fate::default(),
            calls: 0,
            largest: 0,
            told: Vec::new(),
            name: Name::new("n").unwrap(),
            inboxes,
            parcels: BTreeMap::new(),
            held: BTreeMap::new(),
            wanted: BTreeSet::new(),
            draws: seed << 20,
            count: 0,
        }
    }

    pub(super) fn acquire(&mut self, who: usize, want: Want) -> Ticket {
        let name = self.name.clone();
        let ticket = self.sessions[who].acquire(self.now, &name, want);
        self.wanted.insert((ticket, who));
        ticket
    }

    pub(super) fn attach(&mut self, who: usize, ticket: Ticket, want: Want) {
        let name = self.name.clone();
        if self.sessions[who].attach(self.now, &name, ticket, want).is_ok() {
            self.listen(who);
            self.wanted.insert((ticket, who));
        }
    }

    pub(super) fn detach(&mut self, who: usize, ticket: Ticket) {
        self.held.remove(&(ticket, who));
        self.sessions[who].detach(self.now, ticket);
    }

    /// Sends a request as an operator does, without the session's inbox.
    pub(super) fn operate(&mut self, who: usize, request: Request) {
        let name = self.name.clone();
        self.sessions[who].one_off(self.now, &name, request, true);
    }

    pub(super) fn release(&mut self, who: usize, ticket: Ticket) {
        self.held.remove(&(ticket, who));
        self.sessions[who].release(self.now, ticket, None);
    }

    pub(super) fn cancel(&mut self, who: usize, ticket: Ticket) {
        self.wanted.remove(&(ticket, who));
        self.sessions[who].cancel(self.now, ticket);
    }

    /// Asks a question that does not carry the session's inbox.
    pub(super) fn one_off_as_nobody(&mut self, who: usize) -> OneOffId {
        let (name, request) = (self.name.clone(), Request::Inspect { rows: 0 });
        self.sessions[who].one_off(self.now, &name, request, true)
    }

    /// Returns how many questions were answered.
    pub(super) fn answered(&self) -> usize {
        let is_answer = |event: &Event| matches!(event, Event::Answer { .. });
        self.told.iter().filter(|(_, _, event)| is_answer(event)).count()
    }

    pub(super) fn holds(&self, who: usize, ticket: Ticket) -> bool {
        let held = self.held.get(&(ticket, who));
        held.is_some_and(|held| held.2.is_none_or(|until| until > self.now))
    }

    pub(super) fn fence(&self, ticket: Ticket) -> Fence {
        let granted = self.told.iter().rev().find_map(|(_, _, event)| match event {
            Event::Acquired { ticket: t, fence, .. } if *t == ticket => Some(*fence),
            _ => None,
        });
        granted.unwrap()
    }

    pub(super) fn granted_at(&self, ticket: Ticket) -> Micros {
        let is_it =
            |event: &Event| matches!(event, Event::Acquired { ticket: t, .. } if *t == ticket);
        self.told.iter().find(|(_, _, event)| is_it(event)).unwrap().1
    }

    pub(super) fn waits(&self) -> Vec<Ticket> {
        self.wanted.iter().map(|(ticket, _)| *ticket).collect()
    }

    /// Returns how many calls were made that did not wait for another.
    pub(super) fn overtaking(&self) -> usize {
        self.sessions.iter().map(|session| session.overtaking).sum()
    }

    /// Returns how many tickets the store has in line.
    pub(super) fn waiting(&mut self) -> u32 {
        let Ok(head) = self.state.head();
        head.waiting
    }

    pub(super) fn forget_everything(&mut self) {
        self.state = MemoryState::default();
    }

    /// Looks at the name, which settles what is due.
    pub(super) fn touch(&mut self) {
        let (name, requests) = (self.name.clone(), Vec::new());
        self.execute(&Batch { name, inbox: None, fence_seen: 0, requests });
    }

    /// Makes the session forget a ticket of which the store was told nothing.
    pub(super) fn forget_in_session(&mut self, who: usize, ticket: Ticket) {
        let name = self.name.clone();
        self.held.remove(&(ticket, who));
        self.sessions[who].forget(&name, ticket);
    }

    pub(super) fn release_everything(&mut self) {
        for (ticket, who) in self.held.clone().into_keys() {
            self.release(who, ticket);
        }
    }

    pub(super) fn draw(&mut self, below: u64) -> u64 {
        self.draws += 1;
        mix(self.draws) % below
    }

    /// Lets a client acquire, release or give up, and a little time pass.
    pub(super) fn do_something(&mut self, limit: u32, ttl: Micros) {
        let who = self.draw(self.sessions.len() as u64) as usize;
        match self.draw(3) {
            0 => {
                let permits = 1 + self.draw(2) as u32;
                self.acquire(who, super::want(permits, limit, ttl));
            }
            1 => {
                let mine = self.held.keys().find(|key| key.1 == who).map(|key| key.0);
                mine.into_iter().for_each(|ticket| self.release(who, ticket));
            }
            _ if self.draw(4) == 0 => {
                let mine = self.wanted.iter().find(|key| key.1 == who).map(|key| key.0);
                mine.into_iter().for_each(|ticket| self.cancel(who, ticket));
            }
            _ => {}
        }
        let pause = self.draw(400) * MILLISECOND;
        self.run_for(pause);
    }

    /// Does as [`do_something`](Self::do_something), and also detaches tickets and attaches to
    /// them.
    pub(super) fn hand_around(&mut self, tickets: &mut Vec<Ticket>, limit: u32) {
        let who = self.draw(self.sessions.len() as u64) as usize;
        let some = self.draw(tickets.len() as u64 + 1) as usize;
        let (want, some) = (super::want(1, limit, super::TTL), tickets.get(some).copied());
        match (self.draw(4), some) {
            (0, Some(ticket)) if self.holds(who, ticket) => self.detach(who, ticket),
            (1, Some(ticket)) => self.attach(who, ticket, want),
            (2, _) => tickets.push(self.acquire(who, want)),
            _ => self.do_something(limit, super::TTL),
        }
        let pause = self.draw(400) * MILLISECOND;
        self.run_for(pause);
    }

    pub(super) fn inbox(&self, who: usize) -> Inbox {
        self.inboxes[who]
    }

    /// Checks that all sessions together believe in no more permits than the limit.
    pub(super) fn check(&self, limit: u32) {
        let believed = self.believed();
        assert!(believed <= limit, "{believed} of {limit} at {}: {:?}", self.now, self.held);
    }

    /// Returns how many permits all clients believe to hold at this moment. A ticket that changes
    /// hands counts once, because the old holder takes a moment to hear of it.
    pub(super) fn believed(&self) -> u32 {
        let held = self.held.iter().filter(|(_, held)| held.2.is_none_or(|until| until > self.now));
        let tickets: BTreeMap<Ticket, u32> = held.map(|(key, held)| (key.0, held.1)).collect();
        tickets.values().sum()
    }

    /// Returns the sessions that believe to hold a ticket at this moment.
    pub(super) fn holders_of(&self, ticket: Ticket) -> Vec<usize> {
        (0..self.sessions.len()).filter(|who| self.holds(*who, ticket)).collect()
    }

    pub(super) fn run_for(&mut self, time: Micros) {
        let end = self.now + time;
        loop {
            self.step();
            let timeouts = self.sessions.iter().filter_map(Session::poll_timeout);
            let parcel = self.parcels.keys().next().map(|key| key.0);
            let Some(next) = timeouts.chain(parcel).min().filter(|next| *next <= end) else {
                break;
            };
            self.now = next.max(self.now);
            self.deliver();
        }
        self.now = end;
    }
}
