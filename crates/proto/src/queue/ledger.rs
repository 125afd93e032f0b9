//! The ledger of a queue: which item is next, who works on it, who is called. The specification of
//! every store.
//!
//! ```text
//!   state, contacts, now, batch ──▶ execute ──▶ state', replies, wakeups
//!                                    │
//!                       advance the clock (bounded)
//!                       what is due: leases that ended, items that fell due, groups that have room again
//!                       each request in turn, or the answers of the same batch before
//!                       call idle workers for what is available, tell the first in line when to look
//!                       forget what is old
//! ```

mod expire;
mod finish;
mod first;
mod inspect;
mod list;
mod order;
mod pop;
mod push;
mod steer;
mod workers;

use alloc::vec::Vec;

use super::{
    reply::{Replies, Reply, Wakeup, What},
    request::{Batch, Request},
    state::{Head, SessionRecord, State},
};
use crate::{
    id::Inbox,
    ledger::{Contact, Contacts},
    name::Name,
    planted::{Mistake, planted},
    time::{Micros, SECOND, UNBOUNDED},
};

/// How much waiting outweighs one step of an item's priority.
pub const AGING: Micros = 60 * SECOND;
/// How long a worker that was called may take to come.
pub const CALL_WAIT: Micros = SECOND;
/// How long an idle worker keeps its place without being heard from. It is renewed at a third of
/// this.
pub const PLACE_TTL: Micros = 180 * SECOND;
/// The most bytes of payload in the answers to one batch; a single item may be longer than what is
/// left.
pub const MOST_PAYLOAD: usize = 4 << 20;

/// Ends of leases, items that fall due, calls and removals that one call may do (rule 18).
const WORK: u32 = 128;
/// How many sessions and keys a call forgets, beside one for each of its requests. A call adds one
/// session, and each push adds one key.
const FORGET: usize = 4;
/// Numbers that clients claim to have seen are believed up to here (Lua's numbers are exact to
/// 2^53).
const MOST_SEEN: u64 = 1 << 52;

/// The result of executing a batch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Outcome {
    /// For the sender.
    pub replies: Replies,
    /// For whom it concerns.
    pub wakeups: Vec<Wakeup>,
}

/// Executes a batch at the time `now` of the store's clock.
///
/// # Errors
/// Only those of `state`; then nothing of the batch may take effect.
pub fn execute<S: State, C: Contacts>(
    state: &mut S,
    contacts: &mut C,
    now: Micros,
    batch: &Batch,
) -> Result<Outcome, S::Error> {
    let head = state.head()?;
    let mut ledger = Ledger {
        state,
        contacts,
        name: &batch.name,
        asker: batch.session,
        now,
        is_new: head.wall == 0,
        head,
        work: WORK,
        room: MOST_PAYLOAD,
        backlog: false,
        wakeups: Vec::new(),
    };
    ledger.begin(batch.seen)?;
    let replies = ledger.replies(batch)?;
    ledger.finish(replies)
}

/// One batch being executed.
struct Ledger<'a, S, C> {
    state: &'a mut S,
    contacts: &'a mut C,
    name: &'a Name,
    asker: Inbox,
    now: Micros,
    /// Nothing was stored of the queue before this batch.
    is_new: bool,
    head: Head,
    work: u32,
    room: usize,
    backlog: bool,
    wakeups: Vec<Wakeup>,
}

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    fn begin(&mut self, seen: u64) -> Result<(), S::Error> {
        self.advance_clock();
        self.head.last = self.head.last.max(seen.min(MOST_SEEN));
        self.expire()?;
        self.take_due()?;
        self.reopen()
    }

    /// Rule 15, as for semaphores.
    fn advance_clock(&mut self) {
        let passed = self.now.saturating_sub(self.head.wall);
        self.head.wall = self.now;
        self.head.clock += passed.min(self.head.bound);
    }

    /// Each batch of a session is done once: what arrives again is answered as before, and what a
    /// later one has overtaken is refused, as is what arrives too late to be known.
    fn replies(&mut self, batch: &Batch) -> Result<Vec<Reply>, S::Error> {
        if batch.number == 0 {
            return batch.requests.iter().map(|request| self.reply(request)).collect();
        }
        let known = self.state.session(batch.session)?;
        let is_over = known.as_ref().is_some_and(|known| batch.number < known.number);
        match known {
            // Also after the deadline: answering again does nothing anew.
            Some(known) if known.number == batch.number && !planted(Mistake::QueueRepeats) => {
                self.repeat(known, batch)
            }
            _ if is_over || self.now > batch.not_after => {
                Ok(batch.requests.iter().map(|_| Reply::Late).collect())
            }
            known => self.first_time(known.is_none(), batch),
        }
    }

    fn first_time(&mut self, is_new: bool, batch: &Batch) -> Result<Vec<Reply>, S::Error> {
        let replies = batch.requests.iter().map(|request| self.reply(request));
        let replies = replies.collect::<Result<Vec<_>, _>>()?;
        self.head.sessions += u32::from(is_new);
        self.state.put_session(&SessionRecord {
            session: batch.session,
            number: batch.number,
            until: batch.not_after,
            replies: replies.iter().map(Reply::without_payload).collect(),
        })?;
        Ok(replies)
    }

    fn repeat(&mut self, known: SessionRecord, batch: &Batch) -> Result<Vec<Reply>, S::Error> {
        let pairs = batch.requests.iter().zip(known.replies);
        pairs
            .map(|(request, reply)| match reply {
                // Reading twice does no harm, and of what was read the store kept nothing.
                _ if request.reads() => self.reply(request),
                Reply::Popped { items, .. } => self.deliver_again(&items),
                reply => Ok(reply),
            })
            .collect()
    }

    fn reply(&mut self, request: &Request) -> Result<Reply, S::Error> {
        match request {
            Request::Push(push) => self.push(push),
            Request::Pop(pop) => self.pop(pop),
            Request::Renew(renew) => self.renew(renew),
            Request::Finish { delivery, how } => self.finish_delivery(*delivery, how),
            Request::Leave => self.leave(),
            Request::Cancel { id, spares_work } => self.cancel(*id, *spares_work),
            Request::Replay { id } => self.replay(*id),
            Request::Drop { id } => self.drop_dead(*id),
            Request::Purge(what) => self.purge(*what),
            Request::Configure(change) => self.configure(change),
            Request::Inspect { rows } => self.inspect(*rows),
            Request::List { after, rows } => self.list(after, *rows),
        }
    }

    fn finish(mut self, replies: Vec<Reply>) -> Result<Outcome, S::Error> {
        self.end_places()?;
        self.call_workers()?;
        // After the calls, because the first in line watches for those that go unanswered, too.
        let look_in = self.tell_watch()?;
        self.forget(FORGET + replies.len())?;
        if self.head.in_work == 0 {
            // No delivery can be hurt by a step of the clock.
            self.head.bound = UNBOUNDED;
        }
        // As with names, a head whose last number is ahead of the clock stays until the clock has
        // caught up. Otherwise the next items and deliveries could get the same numbers (rule 10).
        // The sessions do not see to that: a number that a client has seen may be an hour ahead of
        // the deadline of its batch. A queue that was not there gave no number: the number that a
        // client has seen is a hint, and a hint keeps no queue.
        if self.is_blank() && (self.is_new || !self.head.owes_number(self.now)) {
            self.state.clear()?;
        } else {
            self.state.set_head(&self.head)?;
        }
        let replies = Replies { now: self.now, replies, backlog: self.backlog, look_in };
        Ok(Outcome { replies, wakeups: self.wakeups })
    }

    /// Rule 12: nothing is kept of a queue that is empty, that nobody is at, and that was not
    /// configured.
    fn is_blank(&self) -> bool {
        let head = &self.head;
        let rows = [head.ready, head.delayed, head.in_work, head.dead, head.idle, head.called];
        rows.iter().all(|rows| *rows == 0)
            && head.sessions == 0
            && head.keys == 0
            && head.limit.is_none()
            && head.group_limit.is_none()
            && head.paused.is_none()
    }

    /// The next number: it grows strictly, and because it follows the clock, also over a loss of
    /// state.
    fn next_number(&mut self) -> u64 {
        self.head.last = (self.head.last + 1).max(self.now);
        self.head.last
    }

    fn contact(&mut self, inbox: Inbox) -> Contact {
        match self.contacts.contact(inbox) {
            // The sender of a batch is there, whatever has become of its inbox.
            Contact::Dead | Contact::Silent if self.asker == inbox => Contact::Listening,
            contact => contact,
        }
    }

    fn wake(&mut self, inbox: Inbox, what: What) {
        self.wakeups.push(Wakeup { inbox, name: self.name.clone(), what });
    }

    /// Takes one unit of this call's work, or notes that some is left over.
    fn has_work(&mut self) -> bool {
        if self.work == 0 {
            self.backlog = true;
            return false;
        }
        self.work -= 1;
        true
    }
}

#[cfg(test)]
mod tests;
