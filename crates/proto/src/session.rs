//! The session: one client's requests, timers, renewals and losses. Pure: it is told what time it is.
//!
//! ```text
//!   ask    acquire · release · cancel · attach · detach · ask          what the program wants
//!   told   learn_clock · handle_replies · handle_failure · handle_wakeup · handle_timeout · look_again
//!   do     poll_call · poll_event · poll_timeout                        what the driver must now do
//! ```
//!
//! For each name at most one call is under way; what comes up meanwhile goes into the next one, so many
//! tasks share a round trip. Only renewals do not wait: one that is due, or was not answered in time, overtakes what
//! is under way. Everything is repeated with the same tickets until it is answered.
//!
//! Times are microseconds of a monotonic clock that also counts while the machine sleeps. A lease is
//! believed in from the moment *before* the request that proves it was sent, less a margin.

mod agenda;
mod answer;
mod belief;
mod compose;
mod config;
mod desk;
mod ending;
mod event;
mod failure;
mod fingerprint;
mod heard;
mod outbox;
mod record;
mod renewal;
mod repetition;
mod schedule;
mod series;
#[cfg(feature = "planted")]
mod unproved;

use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};

pub use config::{ClockBound, Config};
pub use event::{AskId, Call, CallId, Event, Failure, Loss, Refusal, Wish};
pub use schedule::Schedule;

use crate::{
    id::{Inbox, LeaseId, Ticket, TicketSource, mix},
    name::Name,
    planted::{Bug, planted},
    reply::{Cause, Replies, Wakeup, What},
    request::Request,
    slots::Slots,
    time::Micros,
};
use agenda::Agenda;
use compose::Sent;
use desk::Desk;
use record::{Exit, Granted, Phase, Record};
use series::{Shared, Shelf};

/// One client. See the [module](self).
#[derive(Clone, Debug)]
pub struct Session {
    inbox: Inbox,
    config: Config,
    source: TicketSource,
    /// In boxes: a tree moves what it has.
    desks: BTreeMap<Name, Box<Desk>>,
    shelf: Shelf,
    tickets: BTreeMap<Ticket, Name>,
    agenda: Agenda,
    /// When a ticket's next alarm goes off: danger, loss, timeout.
    alarms: BTreeSet<(Micros, Ticket)>,
    calls: BTreeMap<CallId, Sent>,
    /// How many of the calls overtake others.
    overtaking: usize,
    events: VecDeque<Event>,
    last_call: u64,
    last_ask: u64,
    /// What the store's clock showed, and when it was asked.
    store_clock: Option<(Micros, Micros)>,
    draws: u64,
    numbers: u64,
    /// The highest fence seen anywhere, or reading of the store's clock. Fences follow the clock, so it is a fair
    /// floor for every name.
    fence_seen: u64,
}

impl Session {
    /// A session that is told things at `inbox`, which must have been drawn at random: the tickets are
    /// derived from it.
    #[must_use]
    pub fn new(inbox: Inbox, config: Config) -> Self {
        Self {
            inbox,
            config,
            source: TicketSource::new(inbox),
            desks: BTreeMap::new(),
            shelf: Shelf::default(),
            tickets: BTreeMap::new(),
            agenda: Agenda::default(),
            alarms: BTreeSet::new(),
            calls: BTreeMap::new(),
            overtaking: 0,
            events: VecDeque::new(),
            last_call: 0,
            last_ask: 0,
            store_clock: None,
            draws: inbox.0 as u64,
            numbers: 0,
            fence_seen: 0,
        }
    }

    // ---- ask

    /// Wants permits. How it goes is told by events about the ticket.
    pub fn acquire(&mut self, now: Micros, name: &Name, wish: Wish) -> Ticket {
        let longest = self.config.longest_lease;
        let (lease, ticket) = self.draw_ticket(name, wish.ttl.min(longest));
        let number = self.next_number();
        self.add(now, name, Record::asking(ticket, number, lease, wish).within(longest));
        ticket
    }

    /// Wants to be the holder of a ticket that another client, or this one, holds or detached. What this session has of
    /// the ticket is over at once, and told.
    ///
    /// # Errors
    /// A ticket that this session itself waits for, or gives back, is nothing to attach to.
    pub fn attach(
        &mut self,
        now: Micros,
        name: &Name,
        ticket: Ticket,
        wish: Wish,
    ) -> Result<(), Refusal> {
        self.end_before_attach(ticket)?;
        let number = self.next_number();
        let longest = self.config.longest_lease;
        let lease = self.source.lease();
        self.add(now, name, Record::attaching(ticket, number, lease, wish).within(longest));
        Ok(())
    }

    fn end_before_attach(&mut self, ticket: Ticket) -> Result<(), Refusal> {
        let Some(name) = self.tickets.get(&ticket).cloned() else { return Ok(()) };
        let Some(record) = self.desk(&name).records.get(&ticket) else { return Ok(()) };
        match (record.phase, record.is_delivered) {
            (Phase::Leaving, _) => return Err(Refusal::Ended(Cause::Released)),
            (Phase::Held, true) => self.lose(&name, ticket, Loss::Ended(Cause::Attached)),
            _ if record.is_attaching => self.refuse(&name, ticket, Refusal::Ended(Cause::Attached)),
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    /// Gives back a ticket's permits, or these slots of them.
    pub fn release(&mut self, now: Micros, ticket: Ticket, slots: Option<Slots>) {
        self.with(now, ticket, |record| record.release(now, slots));
    }

    /// Does not want a ticket any more, whatever has become of it.
    pub fn cancel(&mut self, now: Micros, ticket: Ticket) {
        let Some(name) = self.tickets.get(&ticket).cloned() else { return };
        let desk = self.desk(&name);
        let is_unsent = desk.records.get(&ticket).is_some_and(|record| record.sent_at.is_none());
        if is_unsent || planted(Bug::CancelsNothing) {
            self.forget(&name, ticket);
        } else {
            self.with(now, ticket, |record| record.leave(now, Exit::Cancel));
        }
    }

    /// Leaves a held ticket to itself: its lease lasts its ttl once more and belongs to nobody until
    /// somebody attaches.
    pub fn detach(&mut self, now: Micros, ticket: Ticket) {
        self.with(now, ticket, |record| record.leave(now, Exit::Detach));
    }

    /// Asks anything else about a name. `as_nobody` leaves the inbox out.
    pub fn ask(&mut self, now: Micros, name: &Name, request: Request, as_nobody: bool) -> AskId {
        self.last_ask += 1;
        let id = AskId(self.last_ask);
        self.desk(name).asks.push_back((id, request, as_nobody));
        self.look_at(now, name);
        id
    }

    /// Gives back and cancels everything.
    pub fn close(&mut self, now: Micros) {
        let tickets: Vec<Ticket> = self.tickets.keys().copied().collect();
        for ticket in tickets {
            self.cancel(now, ticket);
        }
    }

    // ---- told

    /// The store told what its clock `shows`, and was asked at `asked_at` of ours; as every reply does. A driver
    /// says it once before anything else, so that the very first request has a deadline (rule 16). No fence that
    /// was given before can be greater than it, but where the clock had been set back already: so it counts as one
    /// that was seen, should the clock be set back and a name be forgotten (rule 10).
    pub fn learn_clock(&mut self, shows: Micros, asked_at: Micros) {
        self.fence_seen = self.fence_seen.max(shows);
        self.store_clock = Some((shows, asked_at));
    }

    /// The store answered a call.
    pub fn handle_replies(&mut self, now: Micros, call: CallId, replies: Replies) {
        if let Some(sent) = self.calls.remove(&call) {
            self.learn_clock(replies.now, sent.at);
            self.take_answers(now, sent, replies);
        }
    }

    /// A call failed.
    pub fn handle_failure(&mut self, now: Micros, call: CallId, failure: Failure) {
        if let Some(sent) = self.calls.remove(&call) {
            self.take_failure(now, sent, failure);
        }
    }

    /// The store says that something happened. It may be late, repeated or about a ticket long gone.
    pub fn handle_wakeup(&mut self, now: Micros, wakeup: Wakeup) {
        match wakeup.what {
            What::Granted { .. } if !self.tickets.contains_key(&wakeup.ticket) => {
                self.give_back(now, &wakeup.name, wakeup.ticket);
            }
            What::Granted { fence, slots, limit } => {
                self.take_grant_by_wakeup(now, wakeup.ticket, Granted { fence, slots, limit });
            }
            What::Ended(cause) => self.take_end(now, wakeup.ticket, cause),
        }
    }

    /// Wakeups may have been lost.
    pub fn look_again(&mut self, now: Micros) {
        let names: Vec<Name> = self.desks.keys().cloned().collect();
        for name in names {
            self.desk(&name).make_all_due(now);
            self.look_at(now, &name);
        }
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Micros) {
        while let Some(&(at, ticket)) = self.alarms.first()
            && at <= now
        {
            self.alarms.pop_first();
            self.ring(now, ticket);
        }
    }

    // ---- do

    /// The next call to make. Only so many are under way at a time, one a name: what a program asks for at once at very
    /// many names waits here and not at the store, whose silence would be told otherwise. Renewals go first.
    pub fn poll_call(&mut self, now: Micros) -> Option<Call> {
        while let Some(name) = self.next_name(now) {
            self.desk(&name).agenda_at = None;
            let call = self.compose(now, &name);
            self.plan(&name);
            if call.is_some() {
                return call;
            }
        }
        None
    }

    /// The next thing to tell the program.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) and [`poll_call`](Self::poll_call) next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Micros> {
        let alarm = self.alarms.first().map(|(at, _)| *at);
        self.next_turn().into_iter().chain(alarm).min()
    }

    // ---- see

    /// Whether nothing is held, wanted, owed or under way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.tickets.is_empty()
            && self.calls.is_empty()
            && self.desks.values().all(|desk| desk.is_idle())
    }

    /// What it goes by.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    // ---- inside

    fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn desk(&mut self, name: &Name) -> &mut Desk {
        let Self { desks, source, shelf, .. } = self;
        let new = || Box::new(Desk::new(source.lease(), shelf.take(name)));
        desks.entry(name.clone()).or_insert_with(new)
    }

    /// A new ticket, and the lease that it will stand under.
    fn draw_ticket(&mut self, name: &Name, ttl: Micros) -> (LeaseId, Ticket) {
        self.desk(name);
        let Self { desks, source, .. } = self;
        let desk = desks.get_mut(name).unwrap_or_else(|| unreachable!("made above"));
        let shared = desk.shared_leases.entry(ttl).or_insert_with(|| Shared::new(source.lease()));
        let ticket = shared.draw(source);
        let lease = shared.lease;
        desk.lease(lease, ttl);
        (lease, ticket)
    }

    /// A ticket that was overtaken by a later one of its series before the store heard of it, or whose place has lapsed
    /// since: nobody has ended it, and it cannot be granted any more. What was wanted of it is asked for with another.
    fn renumber(&mut self, now: Micros, name: &Name, ticket: Ticket) {
        let desk = self.desk(name);
        let Some(record) = desk.records.get(&ticket).cloned() else { return };
        self.forget_quietly(name, ticket);
        let (lease, fresh) = self.draw_ticket(name, record.wish.ttl);
        self.events.push_back(Event::Renumbered { from: ticket, to: fresh });
        let number = self.next_number(); // behind all tickets that were drawn before, or it would overtake them
        self.add(now, name, record.asking_anew(fresh, number, lease));
    }

    fn add(&mut self, now: Micros, name: &Name, record: Record) {
        let ticket = record.ticket;
        if let Some(alarm) = record.alarm_at() {
            self.alarms.insert((alarm, ticket));
        }
        let (lease, ttl) = (record.lease, record.wish.ttl);
        let desk = self.desk(name);
        desk.lease(lease, ttl).users += 1;
        desk.insert(record);
        self.tickets.insert(ticket, name.clone());
        self.look_at(now, name);
    }

    /// Changes a record and looks at its desk at once.
    fn with(&mut self, now: Micros, ticket: Ticket, change: impl FnOnce(&mut Record)) {
        let Some(name) = self.tickets.get(&ticket).cloned() else { return };
        let desk = self.desk(&name);
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        let before = record.alarm_at();
        change(record);
        let after = record.alarm_at();
        desk.refile(ticket);
        self.move_alarm(ticket, before, after);
        self.look_at(now, &name);
    }

    fn move_alarm(&mut self, ticket: Ticket, before: Option<Micros>, after: Option<Micros>) {
        if before != after {
            before.map(|at| self.alarms.remove(&(at, ticket)));
            after.map(|at| self.alarms.insert((at, ticket)));
        }
    }

    fn forget(&mut self, name: &Name, ticket: Ticket) {
        if self.forget_quietly(name, ticket) {
            self.plan(name);
        }
    }

    /// Says whether it was here.
    fn forget_quietly(&mut self, name: &Name, ticket: Ticket) -> bool {
        self.tickets.remove(&ticket);
        let Some(record) = self.desk(name).remove(ticket) else { return false };
        if let Some(alarm) = record.alarm_at() {
            self.alarms.remove(&(alarm, ticket));
        }
        true
    }

    /// A number from 0 to 1023, for jitter. Not random, only uneven between sessions and calls.
    fn draw(&mut self) -> u64 {
        self.draws = self.draws.wrapping_add(1);
        mix(self.draws) & 1023
    }
}

#[cfg(test)]
mod tests;
