//! The session: one client's work at one queue. It is pure: its caller tells it the time.
//!
//! ```text
//!   ask    one_off · pop · unpop · finish · close                       the program's wants
//!   told   handle_replies · handle_failure · handle_wakeup · handle_timeout · look_again
//!   do     poll_call · poll_event · poll_timeout                        the driver's next tasks
//! ```
//!
//! One batch is under way at a time. The session sends the same batch again until its outcome is
//! known or its deadline has passed. Requests that the program makes meanwhile go into the next
//! batch. All wants for items make one pop, which shares a batch with the deliveries that were
//! finished. So a busy worker makes one call for each item. An idle worker sends only what keeps
//! its place in line.
//!
//! Times are microseconds of a monotonic clock that also counts while the machine sleeps. The
//! session counts a lease from the moment *before* it sent the request that proves the lease, and
//! stops believing in it a margin before its end.

mod answer;
mod compose;
mod event;
mod failure;
mod fingerprint;
mod poppers;
mod timing;
mod wants;
mod work;

use alloc::collections::{BTreeSet, VecDeque};

pub use event::{
    Answer, Bearings, Call, Delivered, DeliveryEnd, Event, Loss, OneOffId, PopId, Until, Want,
};

use super::{
    item::Delivery,
    reply::{Replies, Wakeup, What},
    request::Request,
};
use crate::{
    id::{Inbox, mix},
    name::Name,
    session::{CallFailure, CallId, SessionConfig},
    time::Micros,
};
use compose::Sent;
use poppers::Poppers;
use work::{Alarm, DeliveriesInHand};

/// One client at one queue. See the [module](self).
#[derive(Clone, Debug)]
pub struct Session {
    inbox: Inbox,
    name: Name,
    config: SessionConfig,
    bearings: Bearings,
    one_offs: VecDeque<PendingOneOff>,
    finishes: VecDeque<Delivery>,
    poppers: Poppers,
    work: DeliveriesInHand,
    /// The deliveries that, by a wakeup, are over while a batch is under way. The answer to that
    /// batch may contain them.
    lost_early: BTreeSet<Delivery>,
    sent: Option<Sent>,
    events: VecDeque<Event>,
    last_call: u64,
    last_id: u64,
    /// Whether more items are wanted than were asked for.
    pop_due: bool,
    /// Whether the store may have a place in line for this session.
    in_line: bool,
    /// When to ask for items without being called.
    look_at: Option<Micros>,
    /// Whether the store has work left over.
    must_settle: bool,
    /// Whether a pop was given up. Nobody knows then which items it has leased.
    must_find: bool,
    retry_at: Option<Micros>,
    failures: u32,
    draws: u64,
}

/// A request for whose answer somebody waits.
#[derive(Clone, Debug)]
struct PendingOneOff {
    id: OneOffId,
    request: Request,
    at: Micros,
}

impl Session {
    /// Makes a session at a queue. It continues from the bearings of an earlier session.
    #[must_use]
    pub fn new(inbox: Inbox, name: Name, config: SessionConfig, bearings: Bearings) -> Self {
        Self {
            inbox,
            name,
            config,
            bearings,
            one_offs: VecDeque::new(),
            finishes: VecDeque::new(),
            poppers: Poppers::default(),
            work: DeliveriesInHand::default(),
            lost_early: BTreeSet::new(),
            sent: None,
            events: VecDeque::new(),
            last_call: 0,
            last_id: 0,
            pop_due: false,
            in_line: false,
            look_at: None,
            must_settle: false,
            must_find: false,
            retry_at: None,
            failures: 0,
            draws: inbox.0 as u64,
        }
    }

    // ---- told (`wants.rs` has the requests of the program)

    /// Takes in the store's answer to a call.
    pub fn handle_replies(&mut self, now: Micros, call: CallId, replies: Replies) {
        match self.sent.take_if(|sent| sent.call == Some(call)) {
            Some(sent) => self.take_answers(now, sent, replies),
            None => self.take_late_answers(replies),
        }
    }

    /// Takes in the failure of a call.
    pub fn handle_failure(&mut self, now: Micros, call: CallId, failure: CallFailure) {
        // The failure of a batch that was given up changes nothing any more.
        if self.sent.as_ref().is_some_and(|sent| sent.call == Some(call)) {
            self.take_failure(now, failure);
        }
    }

    /// Takes in a wakeup of the store. The wakeup may be late, repeated, or about a delivery that
    /// is long over.
    pub fn handle_wakeup(&mut self, now: Micros, wakeup: &Wakeup) {
        match wakeup.what {
            What::Called => self.look_by(now),
            What::Watch { look_in } => self.look_by(now + look_in),
            What::Lost(delivery) => self.take_loss(delivery),
        }
    }

    /// Looks at everything again, because wakeups may have been lost.
    pub fn look_again(&mut self, now: Micros) {
        self.retry_at = None;
        self.look_by(now);
        for delivery in self.work.in_hand() {
            self.work.renew_at(delivery, now);
        }
    }

    /// Does everything that is due, as time has passed.
    pub fn handle_timeout(&mut self, now: Micros) {
        self.ring(now);
        self.end_wishes_in_time(now);
        if self.sent.as_ref().is_some_and(|sent| sent.over_at <= now) {
            self.give_up_batch(now);
        }
        if self.look_at.is_some_and(|at| at <= now) {
            self.look_at = None;
            self.pop_due = true;
        }
    }

    /// Handles the alarms of deliveries that are due.
    fn ring(&mut self, now: Micros) {
        while let Some((delivery, alarm)) = self.work.ring(now) {
            match alarm {
                Alarm::Danger => self.events.push_back(Event::Danger { delivery }),
                Alarm::Lost => {
                    self.events.push_back(Event::Lost { delivery, loss: Loss::Silence });
                    // The store may still count the delivery as in work. It is given back once the
                    // store can be reached.
                    self.give_back(delivery);
                }
                Alarm::GiveUp => self.take_end(delivery, DeliveryEnd::Unknown),
            }
        }
    }

    fn end_wishes_in_time(&mut self, now: Micros) {
        while let Some((_, pop)) = self.poppers.next_deadline().filter(|(at, _)| *at <= now) {
            // If the store did not answer, nobody knows whether there were items.
            let is_silent = self.is_store_silent(now, pop);
            self.poppers.remove(pop);
            let event = if is_silent { Event::Failed { pop } } else { Event::TimedOut { pop } };
            self.events.push_back(event);
        }
    }

    // ---- do

    /// Returns the next call to make. One call is under way at a time.
    pub fn poll_call(&mut self, now: Micros) -> Option<Call> {
        if self.retry_at.is_some_and(|at| at > now) {
            return None;
        }
        match &self.sent {
            Some(sent) if sent.call.is_some() => None,
            Some(_) => self.send(now),
            None => {
                self.sent = self.compose(now);
                self.send(now)
            }
        }
    }

    /// Returns the next event for the program.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout) and
    /// [`poll_call`](Self::poll_call) next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Micros> {
        let deadline = self.poppers.next_deadline().map(|(at, _)| at);
        let alarms = [self.work.next_alarm(), deadline, self.look_at];
        alarms.into_iter().flatten().chain(self.next_call_at()).min()
    }

    // ---- see

    /// Returns whether nothing is held, wanted, owed or under way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.sent.is_none()
            && self.events.is_empty()
            && self.poppers.is_empty()
            && self.work.is_empty()
            && !self.has_to_send()
    }

    /// Returns the bearings from which the next session continues, at this queue or another.
    #[must_use]
    pub fn bearings(&self) -> Bearings {
        self.bearings
    }

    // ---- inside

    /// Takes in that a delivery is over. If the answer with the delivery is still to come, the loss
    /// is kept until then.
    fn take_loss(&mut self, delivery: Delivery) {
        match self.work.get(delivery) {
            // The answer to the request that finishes the delivery says more.
            Some(held) if held.leaving.is_some() => {}
            Some(_) => {
                self.work.remove(delivery);
                self.events.push_back(Event::Lost { delivery, loss: Loss::Ended });
            }
            None if self.sent.is_some() => drop(self.lost_early.insert(delivery)),
            None => {}
        }
    }

    /// Ends a delivery that the program has finished. The store has ended it, too, or nobody knows
    /// whether it has.
    fn take_end(&mut self, delivery: Delivery, end: DeliveryEnd) {
        let Some(leaving) = self.work.remove(delivery).and_then(|held| held.leaving) else {
            return;
        };
        // An earlier call may have ended the delivery, and then this one finds it over.
        let end = if end == DeliveryEnd::Lost && leaving.is_doubtful {
            DeliveryEnd::Unknown
        } else {
            end
        };
        if !leaving.is_told {
            self.events.push_back(Event::Finished { delivery, end });
        }
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
