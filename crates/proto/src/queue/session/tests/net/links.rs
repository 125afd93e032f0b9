//! The links of the network, and the fate of the messages on them.

use super::Net;
use crate::{
    Contact, Contacts, Inbox,
    queue::{Batch, Replies, State, Wakeup, execute},
    session::{CallFailure, CallId},
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
            self.listen(who);
            while let Some(call) = self.sessions[who].poll_call(self.now) {
                self.calls += 1;
                self.requests += call.batch.requests.len();
                self.largest_call = self.largest_call.max(call.batch.requests.len());
                self.post(who, call.id, Batch::clone(&call.batch));
            }
            self.listen(who);
        }
    }

    fn post(&mut self, who: usize, call: CallId, batch: Batch) {
        if self.draw(100) < self.fate.repeat {
            let late = self.now + self.draw(40 * SECOND);
            self.put(late, Parcel::Echo(batch.clone()));
        }
        if self.draw(100) < self.fate.lose_requests || self.fate.cut_off == Some(who) {
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
                        && let Some(sent) = &mut self.sessions[who].sent
                    {
                        (sent.first_at, sent.at) = (self.now, self.now);
                    }
                    self.sessions[who].handle_replies(self.now, call, replies);
                }
                Parcel::Failure(who, call) => {
                    let failure =
                        CallFailure { maybe_executed: true, is_passing: true, is_full: false };
                    self.sessions[who].handle_failure(self.now, call, failure);
                }
                Parcel::Wakeup(who, wakeup) => {
                    self.sessions[who].handle_wakeup(self.now, &wakeup);
                }
            }
        }
    }

    pub(super) fn execute(&mut self, batch: &Batch) -> Replies {
        let now = (self.now + STORE_AHEAD).saturating_add_signed(self.clock_step);
        let Ok(before) = self.state.head();
        let Ok(outcome) = execute(&mut self.state, &mut Everybody, now, batch);
        self.note_pushes(before.last, now);
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

    fn latency(&mut self) -> Micros {
        let most = if self.fate.slow { 300 * MILLISECOND } else { 1 };
        MILLISECOND.max(self.fate.lag) + self.draw(most)
    }

    fn put(&mut self, at: Micros, parcel: Parcel) {
        self.count += 1;
        self.parcels.insert((at, self.count), parcel);
    }
}
