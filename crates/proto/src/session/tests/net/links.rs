//! The links of the network, and the fate of the messages on them.

use super::Net;
use crate::{
    Batch, Contact, Contacts, Inbox, Replies, Wakeup, execute,
    session::{CallFailure, CallId, Event},
    time::{MILLISECOND, Micros, SECOND},
};

pub(super) enum Parcel {
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

/// The store's clock differs from the sessions' by this.
const STORE_AHEAD: Micros = 1_700_000_000 * SECOND;

impl Net {
    pub(super) fn step(&mut self) {
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

    pub(super) fn deliver(&mut self) {
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
                    // A client that hears of the failure of its connection makes another one.
                    self.fate.dead_way = self.fate.dead_way.filter(|dead| *dead != who);
                    let failure =
                        CallFailure { maybe_executed: true, is_passing: true, is_full: false };
                    self.sessions[who].handle_failure(self.now, call, failure);
                }
                Parcel::Wakeup(who, wakeup) => self.sessions[who].handle_wakeup(self.now, wakeup),
            }
        }
    }

    pub(super) fn execute(&mut self, batch: &Batch) -> Replies {
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

    pub(super) fn listen(&mut self, who: usize) {
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
