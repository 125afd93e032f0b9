//! The ledger of a queue: which item is next, which worker has it, and which idle workers are
//! called. It is the specification of every store.
//!
//! ```text
//!   state, contacts, now, batch ──▶ execute ──▶ state', replies, wakeups
//!                                    │
//!                       advance the clock (bounded)
//!                       settle: leases that ended, items that fell due, groups that have room again
//!                       each request in turn, or the answers of an earlier copy
//!                       call idle workers for available items, tell the first in line when to look
//!                       forget old memories
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
    time::{Micros, SECOND, UNBOUNDED},
};

/// The waiting time that one step of an item's priority is worth.
pub const AGING: Micros = 60 * SECOND;
/// The time in which a called worker has to ask for items.
pub const CALL_WAIT: Micros = SECOND;
/// How long an idle worker keeps its place without being heard from. The worker renews at a third
/// of this.
pub const PLACE_TTL: Micros = 180 * SECOND;
/// The most bytes of payload in the answers to one batch. A single item may be longer than the room
/// that is left.
pub const MOST_PAYLOAD: usize = 1 << 20;

/// The most ends of leases, due items, calls and removals that one call may handle (rule 18).
const WORK: u32 = 128;
/// How many sessions and keys a call forgets, in addition to one for each of its requests. A call
/// adds one session, and each push adds one key.
const FORGET: usize = 4;
/// The highest number that the ledger believes when a client claims to have seen it. Lua's numbers
/// are exact to 2^53.
const MOST_SEEN: u64 = 1 << 52;

/// The result of executing a batch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Outcome {
    /// The answers to the sender.
    pub replies: Replies,
    /// Hints to the sessions that the batch concerns.
    pub wakeups: Vec<Wakeup>,
}

/// Executes a batch at the time `now` of the store's clock.
///
/// # Errors
/// Only errors of `state`. The store must then let nothing of the batch take effect.
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
    /// Whether nothing was stored of the queue before this batch.
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

    /// Moves the ledger's clock (rule 15), as for semaphores.
    fn advance_clock(&mut self) {
        let passed = self.now.saturating_sub(self.head.wall);
        self.head.wall = self.now;
        self.head.clock += passed.min(self.head.bound);
    }

    /// Executes each batch of a session once. A batch that arrives again gets the answers that it
    /// got before. A batch that a later one has overtaken is refused, and so is a batch that
    /// arrives too late to be known.
    fn replies(&mut self, batch: &Batch) -> Result<Vec<Reply>, S::Error> {
        if batch.number == 0 {
            return batch.requests.iter().map(|request| self.reply(request)).collect();
        }
        let known = self.state.session(batch.session)?;
        let is_over = known.as_ref().is_some_and(|known| batch.number < known.number);
        match known {
            // A repetition is answered even after the deadline, because answering again changes
            // nothing.
            Some(known) if known.number == batch.number => self.repeat(known, batch),
            _ if is_over || self.now > batch.not_after => {
                Ok(batch.requests.iter().map(|_| Reply::Late).collect())
            }
            known => self.first_time(known.is_none(), batch),
        }
    }

    /// Executes a batch that is new, and remembers its answers for a repetition.
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

    /// Answers a batch that was executed before, from the remembered answers.
    fn repeat(&mut self, known: SessionRecord, batch: &Batch) -> Result<Vec<Reply>, S::Error> {
        let pairs = batch.requests.iter().zip(known.replies);
        pairs
            .map(|(request, reply)| match reply {
                // A read request is executed again, which does no harm: the store keeps no answers
                // to reads.
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

    /// Ends the batch: calls workers, tells the watch, forgets old memories, and writes or clears
    /// the head.
    fn finish(mut self, replies: Vec<Reply>) -> Result<Outcome, S::Error> {
        self.end_places()?;
        self.call_workers()?;
        // The watch comes after the calls, because the first worker in line also watches for calls
        // that go unanswered.
        let look_in = self.tell_watch()?;
        self.forget(FORGET + replies.len())?;
        if self.head.in_work == 0 {
            // No delivery can be hurt by a step of the clock.
            self.head.bound = UNBOUNDED;
        }
        // As with names, a head whose last number is ahead of the clock stays until the clock has
        // caught up. Otherwise the next items and deliveries could get the same numbers (rule 10).
        // The records of sessions cannot prevent that: a number that a client has seen may be an
        // hour ahead of the deadline of its batch. A new queue has given no number: the number that
        // a client claims to have seen is a hint, and a hint keeps no queue.
        if self.is_blank() && (self.is_new || !self.head.owes_number(self.now)) {
            self.state.clear()?;
        } else {
            self.state.set_head(&self.head)?;
        }
        let replies = Replies { now: self.now, replies, backlog: self.backlog, look_in };
        Ok(Outcome { replies, wakeups: self.wakeups })
    }

    /// Returns whether nothing has to be kept of the queue (rule 12): it is empty, no client is
    /// there, and nothing was configured.
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

    /// Returns the next number. Numbers grow strictly. They follow the clock, so they grow even
    /// after the store has lost its state.
    fn next_number(&mut self) -> u64 {
        self.head.last = (self.head.last + 1).max(self.now);
        self.head.last
    }

    fn contact(&mut self, inbox: Inbox) -> Contact {
        match self.contacts.contact(inbox) {
            // The sender of a batch is alive, even if nobody listens at its inbox any more.
            Contact::Dead | Contact::Silent if self.asker == inbox => Contact::Listening,
            contact => contact,
        }
    }

    fn wake(&mut self, inbox: Inbox, what: What) {
        self.wakeups.push(Wakeup { inbox, name: self.name.clone(), what });
    }

    /// Takes one unit of this call's work. If none is left, notes that there is a backlog.
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
