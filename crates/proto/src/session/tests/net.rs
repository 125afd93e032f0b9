//! The network of the tests: one name, one ledger, virtual time.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

use crate::{
    Batch, Contact, Contacts, Fence, Inbox, MemoryState, Name, Replies, Request, State, Ticket,
    Wakeup, execute,
    id::mix,
    session::{AskId, CallId, Config, Event, Failure, Session, Wish},
    time::{MILLISECOND, Micros, SECOND},
};

/// What links do, in per cent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fate {
    pub(super) lose_requests: u64,
    pub(super) lose_replies: u64,
    pub(super) repeat: u64,
    pub(super) lose_wakeups: bool,
    pub(super) slow: bool,
    /// How long everything takes, if not a millisecond.
    pub(super) lag: Micros,
    /// Up to how much longer, each for itself: what was sent later may arrive earlier.
    pub(super) jumble: Micros,
    /// The session whose requests and wakeups are all lost.
    pub(super) cut_off: Option<usize>,
    /// The session whose connection has died without a word. What is sent over it fails after two seconds, or is
    /// sent over a new one as soon as an answer is overdue.
    pub(super) dead_way: Option<usize>,
    /// A planted mistake: sessions count from the reply, not from the request.
    pub(super) count_from_reply: bool,
}

enum Parcel {
    Request(usize, CallId, Batch),
    /// A copy of a request, whose reply nobody waits for.
    Echo(Batch),
    Replies(usize, CallId, Replies),
    Failure(usize, CallId),
    Wakeup(usize, Wakeup),
}

struct Everybody;

impl Contacts for Everybody {
    fn contact(&mut self, _: Inbox) -> Contact {
        Contact::Listening
    }
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

/// The store's clock is another than the sessions'.
const STORE_AHEAD: Micros = 1_700_000_000 * SECOND;

impl Net {
    pub(super) fn new(sessions: usize, seed: u64) -> Self {
        Self::with(sessions, seed, &Config::default())
    }

    pub(super) fn with(sessions: usize, seed: u64, config: &Config) -> Self {
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

    pub(super) fn acquire(&mut self, who: usize, wish: Wish) -> Ticket {
        let name = self.name.clone();
        let ticket = self.sessions[who].acquire(self.now, &name, wish);
        self.wanted.insert((ticket, who));
        ticket
    }

    pub(super) fn attach(&mut self, who: usize, ticket: Ticket, wish: Wish) {
        let name = self.name.clone();
        if self.sessions[who].attach(self.now, &name, ticket, wish).is_ok() {
            self.listen(who);
            self.wanted.insert((ticket, who));
        }
    }

    pub(super) fn detach(&mut self, who: usize, ticket: Ticket) {
        self.held.remove(&(ticket, who));
        self.sessions[who].detach(self.now, ticket);
    }

    /// Somebody asks as nobody.
    pub(super) fn operate(&mut self, who: usize, request: Request) {
        let name = self.name.clone();
        self.sessions[who].ask(self.now, &name, request, true);
    }

    pub(super) fn release(&mut self, who: usize, ticket: Ticket) {
        self.held.remove(&(ticket, who));
        self.sessions[who].release(self.now, ticket, None);
    }

    pub(super) fn cancel(&mut self, who: usize, ticket: Ticket) {
        self.wanted.remove(&(ticket, who));
        self.sessions[who].cancel(self.now, ticket);
    }

    /// A question that does not carry the session's inbox.
    pub(super) fn ask_as_nobody(&mut self, who: usize) -> AskId {
        self.ask(who, Request::Inspect { rows: 0 })
    }

    /// Sends a request of an operator.
    pub(super) fn ask(&mut self, who: usize, request: Request) -> AskId {
        let name = self.name.clone();
        self.sessions[who].ask(self.now, &name, request, true)
    }

    /// How many questions were answered.
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

    /// How many calls were made that did not wait for another.
    pub(super) fn overtaking(&self) -> usize {
        self.sessions.iter().map(|session| session.overtaking).sum()
    }

    /// How many the store has in line.
    pub(super) fn waiting(&mut self) -> u32 {
        let Ok(head) = self.state.head();
        head.waiting
    }

    pub(super) fn forget_everything(&mut self) {
        self.state = MemoryState::default();
    }

    /// Somebody looks at the name, which settles what is due.
    pub(super) fn touch(&mut self) {
        let (name, requests) = (self.name.clone(), Vec::new());
        self.execute(&Batch { name, inbox: None, fence_seen: 0, requests });
    }

    /// The session believes to have lost it; the store was never told.
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

    /// Somebody acquires, releases or gives up, and a little time passes.
    pub(super) fn do_something(&mut self, limit: u32, ttl: Micros) {
        let who = self.draw(self.sessions.len() as u64) as usize;
        match self.draw(3) {
            0 => {
                let permits = 1 + self.draw(2) as u32;
                self.acquire(who, super::wish(permits, limit, ttl));
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

    /// The same, with tickets that are detached and attached to.
    pub(super) fn hand_around(&mut self, tickets: &mut Vec<Ticket>, limit: u32) {
        let who = self.draw(self.sessions.len() as u64) as usize;
        let some = self.draw(tickets.len() as u64 + 1) as usize;
        let (wish, some) = (super::wish(1, limit, super::TTL), tickets.get(some).copied());
        match (self.draw(4), some) {
            (0, Some(ticket)) if self.holds(who, ticket) => self.detach(who, ticket),
            (1, Some(ticket)) => self.attach(who, ticket, wish),
            (2, _) => tickets.push(self.acquire(who, wish)),
            _ => self.do_something(limit, super::TTL),
        }
        let pause = self.draw(400) * MILLISECOND;
        self.run_for(pause);
    }

    pub(super) fn inbox(&self, who: usize) -> Inbox {
        self.inboxes[who]
    }

    /// What everybody believes to hold at this moment is within the limit.
    pub(super) fn check(&self, limit: u32) {
        let believed = self.believed();
        assert!(believed <= limit, "{believed} of {limit} at {}: {:?}", self.now, self.held);
    }

    /// How many permits everybody believes to hold at this moment. A ticket that changes hands counts once: for a
    /// moment, the old holder has not heard of it.
    pub(super) fn believed(&self) -> u32 {
        let held = self.held.iter().filter(|(_, held)| held.2.is_none_or(|until| until > self.now));
        let tickets: BTreeMap<Ticket, u32> = held.map(|(key, held)| (key.0, held.1)).collect();
        tickets.values().sum()
    }

    /// Who believes to hold a ticket at this moment.
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

    fn step(&mut self) {
        for who in 0..self.sessions.len() {
            self.sessions[who].handle_timeout(self.now);
            while let Some(call) = self.sessions[who].poll_call(self.now) {
                self.calls += 1;
                self.largest = self.largest.max(call.batch.requests.len());
                if call.overdue.is_some() && self.fate.dead_way == Some(who) {
                    self.fate.dead_way = None;
                }
                self.post(who, call.id, call.batch);
            }
            self.listen(who);
        }
    }

    fn post(&mut self, who: usize, call: CallId, batch: Batch) {
        if self.draw(100) < self.fate.repeat {
            let late = self.now + self.draw(3 * SECOND);
            self.put(late, Parcel::Echo(batch.clone()));
        }
        let is_cut = [self.fate.cut_off, self.fate.dead_way].contains(&Some(who));
        if self.draw(100) < self.fate.lose_requests || is_cut {
            return self.put(self.now + 2 * SECOND, Parcel::Failure(who, call));
        }
        let at = self.now + self.latency();
        self.put(at, Parcel::Request(who, call, batch));
    }

    fn deliver(&mut self) {
        while let Some(entry) = self.parcels.first_entry()
            && entry.key().0 <= self.now
        {
            match entry.remove() {
                Parcel::Request(who, call, batch) => {
                    let replies = self.execute(&batch);
                    let is_lost = self.draw(100) < self.fate.lose_replies;
                    let at = self.now + if is_lost { 2 * SECOND } else { self.latency() };
                    let parcel = if is_lost {
                        Parcel::Failure(who, call)
                    } else {
                        Parcel::Replies(who, call, replies)
                    };
                    self.put(at, parcel);
                }
                Parcel::Echo(batch) => drop(self.execute(&batch)),
                Parcel::Replies(who, call, replies) => {
                    if self.fate.count_from_reply
                        && let Some(sent) = self.sessions[who].calls.get_mut(&call)
                    {
                        sent.at = self.now;
                    }
                    self.sessions[who].handle_replies(self.now, call, replies);
                }
                Parcel::Failure(who, call) => {
                    // Who hears that a connection has failed makes another.
                    self.fate.dead_way = self.fate.dead_way.filter(|dead| *dead != who);
                    let failure =
                        Failure { maybe_executed: true, is_passing: true, is_full: false };
                    self.sessions[who].handle_failure(self.now, call, failure);
                }
                Parcel::Wakeup(who, wakeup) => self.sessions[who].handle_wakeup(self.now, wakeup),
            }
        }
    }

    fn execute(&mut self, batch: &Batch) -> Replies {
        let now = self.now + STORE_AHEAD;
        let Ok(outcome) = execute(&mut self.state, &mut Everybody, now, batch);
        for wakeup in outcome.wakeups {
            let who = self.inboxes.iter().position(|inbox| *inbox == wakeup.inbox).unwrap();
            let is_lost = self.fate.lose_wakeups && self.draw(2) == 1;
            if !is_lost && self.fate.cut_off != Some(who) {
                let at = self.now + self.latency();
                self.put(at, Parcel::Wakeup(who, wakeup));
            }
        }
        outcome.replies
    }

    fn listen(&mut self, who: usize) {
        while let Some(event) = self.sessions[who].poll_event() {
            match &event {
                Event::Acquired { ticket, fence, slots, valid_until, .. } => {
                    self.held.insert((*ticket, who), (*fence, slots.count(), *valid_until));
                    if !self.wanted.remove(&(*ticket, who)) {
                        self.release(who, *ticket);
                    }
                }
                Event::Renewed { ticket, valid_until } => {
                    let held = self.held.entry((*ticket, who));
                    held.and_modify(|held| held.2 = *valid_until);
                }
                Event::Lost { ticket, .. } => drop(self.held.remove(&(*ticket, who))),
                Event::Refused { ticket, .. } => drop(self.wanted.remove(&(*ticket, who))),
                Event::Renumbered { from, to } if self.wanted.remove(&(*from, who)) => {
                    self.wanted.insert((*to, who));
                }
                _ => {}
            }
            self.told.push((who, self.now, event));
        }
    }

    fn latency(&mut self) -> Micros {
        let most = if self.fate.slow { 300 * MILLISECOND } else { 1 + self.fate.jumble };
        let least = if self.fate.lag > 0 { self.fate.lag } else { MILLISECOND };
        least + self.draw(most)
    }

    fn put(&mut self, at: Micros, parcel: Parcel) {
        self.count += 1;
        self.parcels.insert((at, self.count), parcel);
    }
}
