//! The session: one client's work at one queue. Pure: it is told what time it is.
//!
//! ```text
//!   ask    ask · pop · unpop · finish · close                           what the program wants
//!   told   handle_replies · handle_failure · handle_wakeup · handle_timeout · look_again
//!   do     poll_call · poll_event · poll_timeout                        what the driver must now do
//! ```
//!
//! One batch is under way at a time, and the same one again until its outcome is known or its deadline has
//! passed; what comes up meanwhile goes into the next one. All wishes for items are one pop, which goes with
//! what was finished: a busy worker makes one call an item. Idle, nothing is sent but what keeps the place
//! in line.
//!
//! Times are microseconds of a monotonic clock that also counts while the machine sleeps. A lease is
//! believed in from the moment *before* the request that proves it was sent, less a margin.

mod answer;
mod compose;
mod event;
mod failure;
mod fingerprint;
mod poppers;
mod work;

use alloc::collections::{BTreeSet, VecDeque};

pub use event::{Answer, AskId, Bearings, Call, Delivered, End, Event, Loss, PopId, Until, Wish};

use super::{
    item::Delivery,
    ledger::PLACE_TTL,
    reply::{Replies, Wakeup, What},
    request::{How, Request},
};
use crate::{
    id::{Inbox, mix},
    name::Name,
    planted::{Bug, planted},
    session::{CallId, Config, Failure},
    time::{MILLISECOND, Micros, SECOND},
};
use compose::Sent;
use poppers::Poppers;
use work::{Alarm, DeliveriesInHand};

/// A store that leaves a call unanswered for this long is silent. It is a tenth of that for a wish that could not even
/// be sent.
const SILENCE: Micros = SECOND;

/// One client at one queue. See the [module](self).
#[derive(Clone, Debug)]
pub struct Session {
    inbox: Inbox,
    name: Name,
    config: Config,
    bearings: Bearings,
    asks: VecDeque<Ask>,
    finishes: VecDeque<Delivery>,
    poppers: Poppers,
    work: DeliveriesInHand,
    /// Said to be over while the answer to a pop is awaited, in which they may be.
    lost_early: BTreeSet<Delivery>,
    sent: Option<Sent>,
    events: VecDeque<Event>,
    last_call: u64,
    last_id: u64,
    /// More is wanted than was asked for.
    pop_due: bool,
    /// The store may have our place.
    in_line: bool,
    /// When to look without being called.
    look_at: Option<Micros>,
    /// The store has work left over.
    must_settle: bool,
    /// A pop was given up, and what it may have leased is not known.
    must_find: bool,
    retry_at: Option<Micros>,
    failures: u32,
    draws: u64,
}

/// A request that somebody waits for.
#[derive(Clone, Debug)]
struct Ask {
    id: AskId,
    request: Request,
    at: Micros,
}

impl Session {
    /// A session at a queue, which goes on where the one before it there ended.
    #[must_use]
    pub fn new(inbox: Inbox, name: Name, config: Config, bearings: Bearings) -> Self {
        Self {
            inbox,
            name,
            config,
            bearings,
            asks: VecDeque::new(),
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

    // ---- ask

    /// Asks anything but for items. What came of it is told by an [`Event::Answer`].
    pub fn ask(&mut self, now: Micros, request: Request) -> AskId {
        let id = AskId(self.next_id());
        self.asks.push_back(Ask { id, request, at: now });
        id
    }

    /// Wants items.
    pub fn pop(&mut self, wish: Wish) -> PopId {
        let id = PopId(self.next_id());
        let ttl = wish.ttl.min(self.config.longest_lease);
        self.poppers.add(id, Wish { ttl, ..wish });
        self.pop_due = true;
        id
    }

    /// Wants no more items. Those that were delivered stay in hand.
    pub fn unpop(&mut self, pop: PopId) {
        self.poppers.remove(pop);
    }

    /// Ends a delivery; whoever it was for wants another one, if it goes on. How it went is told by an
    /// [`Event::Finished`].
    pub fn finish(&mut self, delivery: Delivery, how: How) {
        if let Some(taker) = self.work.takers.remove(&delivery) {
            let more = |popper: &mut poppers::Popper| {
                popper.in_hand = popper.in_hand.saturating_sub(1);
            };
            self.pop_due |= self.poppers.change(taker, more);
        }
        let is_in_hand = self.work.get(delivery).is_some_and(|held| held.leaving.is_none());
        if is_in_hand {
            self.work.change(delivery, |held| held.leave(how, false));
            self.finishes.push_back(delivery);
        } else {
            self.events.push_back(Event::Finished { delivery, end: End::Lost });
        }
    }

    /// Wants nothing more, and gives back what is in hand.
    pub fn close(&mut self) {
        let pops: alloc::vec::Vec<_> = self.poppers.ids().map(|(id, _)| id).collect();
        pops.into_iter().for_each(|pop| self.poppers.remove(pop));
        for delivery in self.work.in_hand() {
            self.events.push_back(Event::Lost { delivery, loss: Loss::Ended });
            self.give_back(delivery);
        }
    }

    // ---- told

    /// The store answered a call.
    pub fn handle_replies(&mut self, now: Micros, call: CallId, replies: Replies) {
        match self.sent.take_if(|sent| sent.call == Some(call)) {
            Some(sent) => self.take_answers(now, sent, replies),
            None => self.take_late_answers(replies),
        }
    }

    /// A call failed.
    pub fn handle_failure(&mut self, now: Micros, call: CallId, failure: Failure) {
        if self.sent.as_ref().is_some_and(|sent| sent.call == Some(call)) {
            self.take_failure(now, failure);
        }
    }

    /// The store says that something happened. It may be late, repeated or about what is long over.
    pub fn handle_wakeup(&mut self, now: Micros, wakeup: &Wakeup) {
        match wakeup.what {
            What::Called => self.look_by(now),
            What::Watch { look_in } => self.look_by(now + look_in),
            What::Lost(_) if planted(Bug::QueueLossUnheard) => {}
            What::Lost(delivery) => self.take_loss(delivery),
        }
    }

    /// Wakeups may have been lost.
    pub fn look_again(&mut self, now: Micros) {
        self.retry_at = None;
        self.look_by(now);
        for delivery in self.work.in_hand() {
            self.work.renew_at(delivery, now);
        }
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Micros) {
        while let Some((delivery, alarm)) = self.work.ring(now) {
            match alarm {
                Alarm::Danger => self.events.push_back(Event::Danger { delivery }),
                Alarm::Lost => {
                    self.events.push_back(Event::Lost { delivery, loss: Loss::Silence });
                    // The store may have it still: it is given back once it can be reached.
                    self.give_back(delivery);
                }
                Alarm::GiveUp => self.take_end(delivery, End::Unknown),
            }
        }
        while let Some((_, pop)) = self.poppers.next_deadline().filter(|(at, _)| *at <= now) {
            let is_silent = self.is_store_silent(now, pop);
            self.poppers.remove(pop);
            let event = if is_silent { Event::Failed { pop } } else { Event::TimedOut { pop } };
            self.events.push_back(event);
        }
        if self.sent.as_ref().is_some_and(|sent| sent.over_at <= now) {
            self.give_up_batch(now);
        }
        if self.look_at.is_some_and(|at| at <= now) {
            self.look_at = None;
            self.pop_due = true;
        }
    }

    // ---- do

    /// The next call to make. One is under way at a time.
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

    /// The next thing to tell the program.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) and [`poll_call`](Self::poll_call) next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Micros> {
        let deadline = self.poppers.next_deadline().map(|(at, _)| at);
        let alarms = [self.work.next_alarm(), deadline, self.look_at];
        alarms.into_iter().flatten().chain(self.next_call_at()).min()
    }

    // ---- see

    /// Whether nothing is held, wanted, owed or under way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.sent.is_none()
            && self.events.is_empty()
            && self.poppers.is_empty()
            && self.work.is_empty()
            && !self.has_to_send()
    }

    /// What the next session must go on from, at this queue or another.
    #[must_use]
    pub fn bearings(&self) -> Bearings {
        self.bearings
    }

    // ---- inside

    fn next_call_at(&self) -> Option<Micros> {
        let retry_at = self.retry_at.unwrap_or(0);
        match &self.sent {
            Some(sent) if sent.call.is_some() => Some(sent.over_at),
            Some(sent) => Some(retry_at.min(sent.over_at)),
            None if self.has_to_send() => Some(retry_at),
            None => self.work.next_renewal().map(|at| at.max(retry_at)),
        }
    }

    /// Whether the store, and not the lack of items, kept a wish waiting until its deadline.
    fn is_store_silent(&self, now: Micros, pop: PopId) -> bool {
        let unanswered_for = self.sent.as_ref().map_or(0, |sent| now.saturating_sub(sent.first_at));
        let Some(popper) = self.poppers.get(pop) else { return false };
        let was_never_answered = popper.is_asked && !popper.is_answered;
        let long = if popper.is_asked { SILENCE } else { SILENCE / 10 };
        was_never_answered || self.failures > 0 || unanswered_for >= long
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn has_to_send(&self) -> bool {
        !self.asks.is_empty()
            || !self.finishes.is_empty()
            || self.must_settle
            || self.must_find
            || (self.pop_due && self.poppers.want_any())
            || (self.in_line && !self.poppers.want_any())
    }

    /// Looks at `at`, or earlier if it was to look earlier.
    fn look_by(&mut self, at: Micros) {
        if self.in_line || self.sent.is_some() {
            self.look_at = Some(self.look_at.map_or(at, |earlier| earlier.min(at)));
        }
    }

    /// A place was given or renewed.
    fn stand_in_line(&mut self, now: Micros) {
        let draw = self.draw();
        if planted(Bug::QueueHintLost) {
            self.look_at = None;
        }
        // Not later than what was told while the answer was under way.
        self.look_by(now + PLACE_TTL / 3 - PLACE_TTL / 30 * draw / 1024);
    }

    fn give_back(&mut self, delivery: Delivery) {
        self.work.change(delivery, |held| held.leave(How::GiveBack { delay: 0 }, true));
        self.finishes.push_back(delivery);
    }

    fn take_loss(&mut self, delivery: Delivery) {
        match self.work.get(delivery) {
            // What it is answered says more.
            Some(held) if held.leaving.is_some() => {}
            Some(_) => {
                self.work.remove(delivery);
                self.events.push_back(Event::Lost { delivery, loss: Loss::Ended });
            }
            None if self.sent.is_some() => drop(self.lost_early.insert(delivery)),
            None => {}
        }
    }

    /// A delivery that was to end has ended, or nobody can say.
    fn take_end(&mut self, delivery: Delivery, end: End) {
        let Some(leaving) = self.work.remove(delivery).and_then(|held| held.leaving) else {
            return;
        };
        let end = if end == End::Lost && leaving.is_doubtful { End::Unknown } else { end };
        if !leaving.is_told {
            self.events.push_back(Event::Finished { delivery, end });
        }
    }

    /// A number from 0 to 1023, for jitter. Not random, only uneven between sessions and calls.
    fn draw(&mut self) -> u64 {
        self.draws = self.draws.wrapping_add(1);
        mix(self.draws) & 1023
    }

    /// How long to wait before the next try.
    fn pause(&mut self) -> Micros {
        self.failures += 1;
        let pause = ((25 * MILLISECOND) << self.failures.min(7)).min(2 * SECOND);
        pause / 2 + pause / 2 * self.draw() / 1024
    }
}

#[cfg(test)]
mod tests;
