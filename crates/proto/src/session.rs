//! The session: one client's requests, timers, renewals and losses. It is pure: its caller tells it
//! the time.
//!
//! ```text
//!   ask    acquire · release · cancel · attach · detach · one_off      the program's wishes
//!   told   learn_clock · handle_replies · handle_failure · handle_wakeup · handle_timeout · look_again
//!   do     poll_call · poll_event · poll_timeout                        the driver's next tasks
//! ```
//!
//! At most one call is under way for each name. Requests that the program makes meanwhile go into
//! the next call, so many tasks share a round trip. Only renewals do not wait: a renewal that is
//! due, or that was not answered in time, overtakes the call under way. Every request is repeated
//! with the same tickets until it is answered.
//!
//! Times are microseconds of a monotonic clock that also counts while the machine sleeps. The
//! session counts a lease from the moment *before* it sent the request that proves the lease, and
//! stops believing in it a margin before its end.

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
mod lease;
mod outbox;
mod record;
mod renewal;
mod repetition;
mod schedule;
mod sent;
mod series;
mod tickets;
mod wants;

use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};

pub use config::{JumpBound, SessionConfig};
pub use event::{AcquireRefusal, Call, CallFailure, CallId, Event, Loss, OneOffId, Want};
pub use schedule::LeaseSchedule;

use crate::{
    id::{Inbox, Ticket, TicketSource, mix},
    name::Name,
    reply::{Replies, Wakeup, What},
    slot_names::SlotNames,
    time::Micros,
};
use agenda::Agenda;
use desk::Desk;
use record::StoreGrant;
use sent::Sent;
use series::Shelf;

/// One client. See the [module](self).
#[derive(Clone, Debug)]
pub struct Session {
    inbox: Inbox,
    config: SessionConfig,
    source: TicketSource,
    /// The desks are in boxes, because a tree moves its values when it grows.
    desks: BTreeMap<Name, Box<Desk>>,
    shelf: Shelf,
    tickets: BTreeMap<Ticket, Name>,
    agenda: Agenda,
    /// When the next alarm of each ticket goes off: danger, loss or the end of its wait.
    alarms: BTreeSet<(Micros, Ticket)>,
    calls: BTreeMap<CallId, Sent>,
    /// How many of the calls were sent while another call about the same name was under way.
    overtaking: usize,
    events: VecDeque<Event>,
    last_call: u64,
    last_one_off: u64,
    /// The last reading of the store's clock, and when it was asked for on ours.
    store_clock: Option<(Micros, Micros)>,
    /// The state from which the next number for jitter is drawn.
    draws: u64,
    /// The number of the last request. The outbox sends requests in the order of these numbers.
    numbers: u64,
    /// The latest instant that the session was told.
    latest: Micros,
    /// The highest fence that was seen at any name, or the latest reading of the store's clock if
    /// that is higher. Fences follow the clock, so this is a floor for the fences of every name.
    /// Every batch carries it: a store that has lost its memory then gives no fence twice.
    fence_seen: u64,
}

impl Session {
    /// Makes a session whose wakeups come to `inbox`. The inbox must have been drawn at random,
    /// since the session derives its tickets from it.
    #[must_use]
    pub fn new(inbox: Inbox, config: SessionConfig) -> Self {
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
            last_one_off: 0,
            store_clock: None,
            draws: inbox.0 as u64,
            numbers: 0,
            latest: 0,
            fence_seen: 0,
        }
    }

    // ---- told (`wants.rs` has the requests of the program)

    /// Notes that the store's clock showed `shows` when it was asked at `asked_at` of our clock.
    /// Every reply also tells the store's clock. A driver calls this once before anything else, so
    /// that even the first request has a deadline (rule 16). The reading also counts as a fence
    /// that was seen: no fence given earlier is greater, unless the clock had already been set
    /// back. So fences keep growing if the clock is set back later and a name is forgotten (rule
    /// 10).
    pub fn learn_clock(&mut self, shows: Micros, asked_at: Micros) {
        self.fence_seen = self.fence_seen.max(shows);
        self.store_clock = Some((shows, asked_at));
    }

    /// Takes in the store's answer to a call.
    pub fn handle_replies(&mut self, now: Micros, call: CallId, replies: Replies) {
        self.latest = now;
        // A call ends once. A second answer, or one after a failure, is dropped.
        if let Some(sent) = self.calls.remove(&call) {
            self.learn_clock(replies.now, sent.at);
            self.take_answers(now, sent, replies);
        }
    }

    /// Takes in the failure of a call.
    pub fn handle_failure(&mut self, now: Micros, call: CallId, failure: CallFailure) {
        self.latest = now;
        if let Some(sent) = self.calls.remove(&call) {
            self.take_failure(now, sent, failure);
        }
    }

    /// Takes in a wakeup of the store. The wakeup may be late, repeated or about a ticket that is
    /// long over.
    pub fn handle_wakeup(&mut self, now: Micros, wakeup: Wakeup) {
        self.latest = now;
        match wakeup.what {
            What::Granted { .. } if !self.tickets.contains_key(&wakeup.ticket) => {
                self.release_unwanted(now, &wakeup.name, wakeup.ticket);
            }
            What::Granted { fence, slots, limit } => {
                // A wakeup has no names of slots. The renewal that proves the grant has them.
                let names = SlotNames::none();
                let granted = StoreGrant { fence, slots, names, limit };
                self.take_grant_by_wakeup(now, wakeup.ticket, granted);
            }
            What::Ended(cause) => self.take_end(now, wakeup.ticket, cause),
        }
    }

    /// Asks the store about every ticket, because wakeups may have been lost, for instance when the
    /// connection was made again.
    pub fn look_again(&mut self, now: Micros) {
        let names: Vec<Name> = self.desks.keys().cloned().collect();
        for name in names {
            self.desk(&name).make_all_due(now);
            self.look_at(now, &name);
        }
    }

    /// Sets off the alarms that are due, as time has passed.
    pub fn handle_timeout(&mut self, now: Micros) {
        self.latest = now;
        while let Some(&(at, ticket)) = self.alarms.first()
            && at <= now
        {
            self.alarms.pop_first();
            self.ring(now, ticket);
        }
    }

    // ---- do

    /// Returns the next call to make. One call a name is under way, and only so many in all. So a
    /// program that asks at very many names at once waits here and not at the store; otherwise the
    /// session would mistake its own backlog for a silent store. Names have their turn in the order
    /// in which they became due. Names at which nothing is held and nobody waits come last.
    pub fn poll_call(&mut self, now: Micros) -> Option<Call> {
        self.latest = now;
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

    /// Returns the next event for the program.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout) and
    /// [`poll_call`](Self::poll_call) next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Micros> {
        let alarm = self.alarms.first().map(|(at, _)| *at);
        self.next_turn().into_iter().chain(alarm).min()
    }

    // ---- see

    /// Returns whether nothing is held, wanted, owed or under way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.tickets.is_empty()
            && self.calls.is_empty()
            && self.desks.values().all(|desk| desk.is_idle())
    }

    /// Returns the settings of this session.
    #[must_use]
    pub fn config(&self) -> &SessionConfig {
        &self.config
    }

    // ---- inside

    fn desk(&mut self, name: &Name) -> &mut Desk {
        let Self { desks, shelf, .. } = self;
        let new = || Box::new(Desk::new(shelf.take(name)));
        desks.entry(name.clone()).or_insert_with(new)
    }

    /// Draws a number from 0 to 1023, for jitter. It is not random; it only differs between
    /// sessions and calls.
    fn draw(&mut self) -> u64 {
        self.draws = self.draws.wrapping_add(1);
        mix(self.draws) & 1023
    }
}

#[cfg(test)]
mod tests;
