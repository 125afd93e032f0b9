//! The session: one client's requests, timers, renewals and losses. Pure: it is told what time it is.
//!
//! ```text
//!   ask    acquire · release · cancel · attach · detach · ask          what the program wants
//!   told   learn_clock · handle_replies · handle_failure · handle_wakeup · handle_timeout · look_again
//!   do     poll_call · poll_event · poll_timeout                        what the driver must now do
//! ```
//!
//! For each name at most one call is under way; what comes up meanwhile goes into the next one, so many
//! tasks share a round trip. Everything is repeated with the same tickets until it is answered.
//!
//! Times are microseconds of a monotonic clock that also counts while the machine sleeps. A lease is
//! believed in from the moment *before* the request that proves it was sent, less a margin.

mod answer;
mod belief;
mod compose;
mod config;
mod desk;
mod event;
mod failure;
mod fingerprint;
mod outbox;
mod record;
mod renewal;

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};

pub use config::{ClockBound, Config};
pub use event::{AskId, Call, CallId, Event, Failure, Loss, Refusal, Wish};

use crate::{
    id::{Fence, Inbox, LeaseId, Ticket, TicketSource, mix},
    name::Name,
    planted::{Bug, planted},
    reply::{Cause, Replies, Wakeup, What},
    request::Request,
    slots::Slots,
    time::Micros,
};
use compose::Sent;
use desk::Desk;
use record::{Exit, Phase, Record};

/// One client. See the [module](self).
#[derive(Clone, Debug)]
pub struct Session {
    inbox: Inbox,
    config: Config,
    source: TicketSource,
    desks: BTreeMap<Name, Desk>,
    tickets: BTreeMap<Ticket, Name>,
    /// When a desk wants to be looked at next.
    agenda: BTreeSet<(Micros, Name)>,
    /// When a ticket's next alarm goes off: danger, loss, timeout.
    alarms: BTreeSet<(Micros, Ticket)>,
    calls: BTreeMap<CallId, Sent>,
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
    /// The highest fence of a permit that was detached. Grants up to it may be another client's by now.
    detached_to: u64,
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
            tickets: BTreeMap::new(),
            agenda: BTreeSet::new(),
            alarms: BTreeSet::new(),
            calls: BTreeMap::new(),
            events: VecDeque::new(),
            last_call: 0,
            last_ask: 0,
            store_clock: None,
            draws: inbox.0 as u64,
            numbers: 0,
            fence_seen: 0,
            detached_to: 0,
        }
    }

    // ---- ask

    /// Wants permits. How it goes is told by events about the ticket.
    pub fn acquire(&mut self, now: Micros, name: &Name, wish: Wish) -> Ticket {
        let ticket = self.source.ticket();
        let longest = self.config.longest_lease;
        let lease = self.shared_lease(name, wish.ttl.min(longest));
        let number = self.next_number();
        self.add(now, name, Record::asking(ticket, number, lease, wish).within(longest));
        ticket
    }

    /// Wants to be the holder of a ticket that another client holds or detached.
    pub fn attach(&mut self, now: Micros, name: &Name, ticket: Ticket, wish: Wish) {
        let number = self.next_number();
        let longest = self.config.longest_lease;
        self.add(now, name, Record::attaching(ticket, number, wish).within(longest));
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
        self.detached_to = self.detached_to.max(self.fence_of(ticket));
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
            What::Granted { fence, .. } if !self.tickets.contains_key(&wakeup.ticket) => {
                self.give_back(now, &wakeup.name, wakeup.ticket, fence);
            }
            What::Granted { fence, slots, limit } => {
                self.take_grant_by_wakeup(now, wakeup.ticket, fence, slots, limit);
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

    /// A ticket that was not granted when last heard of may be now. Nothing is believed before the store
    /// has said so.
    pub fn look_at_ticket(&mut self, now: Micros, wakeup: Wakeup) {
        let ticket = wakeup.ticket;
        let Some(name) = self.tickets.get(&ticket).cloned() else {
            return self.handle_wakeup(now, wakeup);
        };
        let desk = self.desk(&name);
        let is_under_way = desk.under_way.is_some();
        let Some(record) = desk.records.get_mut(&ticket) else { return };
        if matches!(record.phase, Phase::Asking | Phase::Waiting) {
            record.is_hinted = is_under_way;
            desk.send_again(ticket);
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

    /// The next call to make. Any number may be under way.
    pub fn poll_call(&mut self, now: Micros) -> Option<Call> {
        while let Some((at, name)) = self.agenda.first().cloned()
            && at <= now
        {
            self.agenda.pop_first();
            self.desk(&name).agenda_at = None;
            if let Some(call) = self.compose(now, &name) {
                return Some(call);
            }
            self.plan(&name);
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
        let agenda = self.agenda.first().map(|(at, _)| *at);
        let alarm = self.alarms.first().map(|(at, _)| *at);
        agenda.into_iter().chain(alarm).min()
    }

    // ---- see

    /// Whether nothing is held, wanted, owed or under way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.tickets.is_empty() && self.calls.is_empty() && self.desks.values().all(Desk::is_idle)
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
        if !self.desks.contains_key(name) {
            let waiter_lease = self.source.lease();
            self.desks.insert(name.clone(), Desk::new(waiter_lease));
        }
        self.desks.get_mut(name).unwrap_or_else(|| unreachable!("inserted above"))
    }

    fn shared_lease(&mut self, name: &Name, ttl: Micros) -> LeaseId {
        let fresh = self.source.lease();
        let desk = self.desk(name);
        let lease = *desk.shared_leases.entry(ttl).or_insert(fresh);
        desk.lease(lease, ttl);
        lease
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
        self.tickets.remove(&ticket);
        let desk = self.desk(name);
        let Some(record) = desk.remove(ticket) else { return };
        if let Some(alarm) = record.alarm_at() {
            self.alarms.remove(&(alarm, ticket));
        }
        self.plan(name);
    }

    /// Looks at a desk at `at`, or earlier if it was to be looked at earlier.
    fn look_at(&mut self, at: Micros, name: &Name) {
        let desk = self.desk(name);
        match desk.agenda_at {
            Some(earlier) if earlier <= at => {}
            before => {
                desk.agenda_at = Some(at);
                before.map(|before| self.agenda.remove(&(before, name.clone())));
                self.agenda.insert((at, name.clone()));
            }
        }
    }

    /// Puts a desk on the agenda for its next deadline, or clears it away.
    fn plan(&mut self, name: &Name) {
        let Some(desk) = self.desks.get(name) else { return };
        if desk.is_idle() {
            if let Some(at) = desk.agenda_at {
                self.agenda.remove(&(at, name.clone()));
            }
            self.desks.remove(name);
        } else if let Some(at) = desk.next_due() {
            self.look_at(at, name);
        }
    }

    /// A ticket's alarm: its wait is over, it is in danger, or it is lost.
    fn ring(&mut self, now: Micros, ticket: Ticket) {
        let Some(name) = self.tickets.get(&ticket).cloned() else { return };
        let Some(record) = self.desk(&name).records.get_mut(&ticket) else { return };
        match record.phase {
            Phase::Leaving => self.give_up_leaving(&name, ticket),
            _ if !record.is_delivered => {
                self.events.push_back(Event::Refused { ticket, refusal: Refusal::TimedOut });
                self.cancel(now, ticket);
            }
            _ if record.is_lost(now) => {
                // The store may have it still: it is given up there once it can be reached.
                self.events.push_back(Event::Lost { ticket, loss: Loss::Silence });
                self.cancel(now, ticket);
            }
            _ => {
                record.in_danger = true;
                let next = record.alarm_at();
                self.move_alarm(ticket, None, next);
                self.events.push_back(Event::Danger { ticket });
            }
        }
    }

    /// A grant that nobody waits for any more: a fail-over has undone that its ticket left. Left alone, it would
    /// keep others out for a ttl, and there may be many. One that may have been detached is left alone.
    fn give_back(&mut self, now: Micros, name: &Name, ticket: Ticket, fence: Fence) {
        if fence.0 > self.detached_to {
            let number = self.next_number();
            self.add(now, name, Record::orphan(now, ticket, number, self.config.ttl));
        }
    }

    fn fence_of(&self, ticket: Ticket) -> u64 {
        let desk = self.tickets.get(&ticket).and_then(|name| self.desks.get(name));
        let grant = desk.and_then(|desk| desk.records.get(&ticket)?.grant.as_ref());
        grant.map_or(0, |(fence, ..)| fence.0)
    }

    /// The store has been silent for two ttls, so that whatever it had has run out, or will never do as asked.
    fn give_up_leaving(&mut self, name: &Name, ticket: Ticket) {
        let exit = self.desk(name).records.get(&ticket).map(|record| record.exit);
        self.events.push_back(match exit {
            Some(Exit::Detach) => Event::Lost { ticket, loss: Loss::Silence },
            _ => Event::Released { ticket, was_held: false, left: 0, given: None },
        });
        self.forget(name, ticket);
    }

    /// The ticket is not held any more; what the store still has of it runs out by itself or is cancelled.
    fn lose(&mut self, name: &Name, ticket: Ticket, loss: Loss) {
        self.events.push_back(Event::Lost { ticket, loss });
        self.forget(name, ticket);
    }

    fn take_end(&mut self, now: Micros, ticket: Ticket, cause: Cause) {
        let Some(name) = self.tickets.get(&ticket).cloned() else { return };
        let Some(record) = self.desk(&name).records.get(&ticket) else { return };
        match record.phase {
            Phase::Leaving => self.look_at(now, &name),
            _ if record.is_delivered => self.lose(&name, ticket, Loss::Ended(cause)),
            _ => {
                self.events.push_back(Event::Refused { ticket, refusal: Refusal::Ended(cause) });
                self.forget(&name, ticket);
            }
        }
    }

    /// A number from 0 to 1023, for jitter. Not random, only uneven between sessions and calls.
    fn draw(&mut self) -> u64 {
        self.draws = self.draws.wrapping_add(1);
        mix(self.draws) & 1023
    }
}

#[cfg(test)]
mod tests;
