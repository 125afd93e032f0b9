//! The session: one client's requests, timers, renewals and losses. It is pure: its caller says
//! what time it is.
//!
//! ```text
//!   ask    acquire · release · cancel · attach · detach · ask          what the program wants
//!   told   learn_clock · handle_replies · handle_failure · handle_wakeup · handle_timeout · look_again
//!   do     poll_call · poll_event · poll_timeout                        what the driver must now do
//! ```
//!
//! At most one call is under way for each name. What is asked meanwhile goes into the next call, so
//! many tasks share a round trip. Only renewals do not wait: a renewal that is due, or that was not
//! answered in time, overtakes the call under way. Every request is repeated with the same tickets
//! until it is answered.
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
mod few;
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
    slot_names::SlotNames,
    slots::Slots,
    time::Micros,
};
use agenda::Agenda;
use compose::Sent;
use desk::Desk;
use record::{Exit, Granted, Phase, Record};
use series::{SharedLease, Shelf};

/// One client. See the [module](self).
#[derive(Clone, Debug)]
pub struct Session {
    inbox: Inbox,
    config: Config,
    source: TicketSource,
    /// In boxes, because a tree moves its values when it grows.
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
    /// The highest fence that was seen at any name, or the latest reading of the store's clock if
    /// that is higher. Fences follow the clock, so this is a floor for the fences of every name.
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

    /// Asks for permits. Events about the returned ticket say how it goes.
    pub fn acquire(&mut self, now: Micros, name: &Name, wish: Wish) -> Ticket {
        let longest = self.config.longest_lease;
        let (lease, ticket) = self.draw_ticket(name, wish.ttl.min(longest));
        let number = self.next_number();
        self.add(now, name, Record::asking(ticket, number, lease, wish).within(longest));
        ticket
    }

    /// Asks to become the holder of a ticket that another client, or this one, holds or has
    /// detached. If this session holds the ticket, that grant ends at once, and an event says so.
    ///
    /// # Errors
    /// This session itself waits for the ticket or is giving it back.
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

    /// Gives a ticket up, whether it waits or holds.
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

    /// Detaches a held ticket. Its lease lasts for its ttl once more, and has no owner until a
    /// client attaches.
    pub fn detach(&mut self, now: Micros, ticket: Ticket) {
        self.with(now, ticket, |record| record.leave(now, Exit::Detach));
    }

    /// Sends any other request about a name. With `as_nobody` the request carries no inbox, as an
    /// operator's does. The session draws the lease of a request to a holder.
    pub fn ask(
        &mut self,
        now: Micros,
        name: &Name,
        mut request: Request,
        as_nobody: bool,
    ) -> AskId {
        if let Request::AskHolder(ask) = &mut request {
            ask.lease = self.source.lease();
        }
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

    /// The store's clock showed `shows` when it was asked at `asked_at` of our clock. Every reply
    /// tells the same. A driver calls this once before anything else, so that even the first
    /// request has a deadline (rule 16). The reading also counts as a fence that was seen: no fence
    /// given earlier is greater, unless the clock had already been set back. So fences keep growing
    /// if the clock is set back later and a name is forgotten (rule 10).
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
                let names = SlotNames::none(); // the proof tells them
                let granted = Granted { fence, slots, names, limit };
                self.take_grant_by_wakeup(now, wakeup.ticket, granted);
            }
            What::Ended(cause) => self.take_end(now, wakeup.ticket, cause),
            What::Asked => self.look_what_is_asked(now, wakeup.ticket),
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

    /// The next call to make. One call a name is under way, and only so many in all. A program that
    /// asks at very many names at once so waits here and not at the store; otherwise the session
    /// would take its own backlog for a store that is silent. Renewals go first.
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

    /// The settings of this session.
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
        let shared =
            desk.shared_leases.get_or_insert_with(ttl, || SharedLease::new(source.lease()));
        let ticket = shared.draw(source);
        let lease = shared.lease;
        desk.lease(lease, ttl);
        (lease, ticket)
    }

    /// A later ticket of the same series reached the store before this one, or this one's place has
    /// lapsed since. Nobody has ended the ticket, but it cannot be granted any more. So the session
    /// asks for the same permits with another ticket.
    fn renumber(&mut self, now: Micros, name: &Name, ticket: Ticket) {
        let desk = self.desk(name);
        let Some(record) = desk.records.get(&ticket).cloned() else { return };
        self.forget_quietly(name, ticket);
        let (lease, fresh) = self.draw_ticket(name, record.wish.ttl);
        self.events.push_back(Event::Renumbered { from: ticket, to: fresh });
        let number = self.next_number(); // It goes behind all tickets that were drawn before, or it would overtake them.
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

    /// Changes a record, and puts its name on the agenda for now.
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
