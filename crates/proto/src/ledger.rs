//! The ledger: who holds and who waits at one name. This is the specification of every store.
//!
//! ```text
//!   state, contacts, now, batch ──▶ execute ──▶ state', replies, wakeups
//!                                    │
//!                       advance the clock (bounded)
//!                       settle: expire leases that have run out, serve the queue
//!                       each request in turn; a request that frees permits settles again
//!                       forget old memories
//! ```
//!
//! The memory store and the embedded store run this code. The Redis scripts are compared with it,
//! operation by operation. The code cites the rules of docs/internals/protocol.md by number, where
//! it keeps them.

mod acquire;
mod attach;
mod configure;
mod expire;
mod inspect;
mod leave;
mod named;
mod renew;
mod serve;

use alloc::vec::Vec;

use crate::{
    id::Inbox,
    name::Name,
    reply::{Replies, Reply, Wakeup, What},
    request::{Batch, Request},
    state::{Entry, Head, State},
    time::{Micros, UNBOUNDED},
};

/// The most leases, places, memories and grants that one call may end or make (rule 18). The work
/// that remains is the backlog. The reply tells the client that there is some.
const WORK: u32 = 128;
/// The most series that a name remembers. The oldest are forgotten first. This bounds the cost of a
/// name that thousands of clients a second hold once each.
const MOST_MEMORIES: u32 = 65_536;
/// The highest fence that the ledger believes when a client claims to have seen it. Lua's numbers
/// are exact to 2^53.
const MOST_FENCE_SEEN: u64 = 1 << 52;

/// The state of the client behind an inbox, as far as the store knows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Contact {
    /// The client's process is gone. Its leases and places end now.
    Dead,
    /// Nobody listens at the inbox. If the client waits, it is passed over. If it holds, its lease
    /// ends by the store's clock, without the allowance for clock steps.
    Silent,
    /// Somebody listens there.
    Listening,
    /// The kernel vouches for its process. Its leases do not run out.
    Alive,
}

/// The questions that a ledger has about the store's clients, and about the store.
pub trait Contacts {
    /// Returns the state of the client behind this inbox.
    fn contact(&mut self, inbox: Inbox) -> Contact;

    /// Returns for how long the store admits nobody, because it may have forgotten leases. `None`:
    /// the store remembers all leases. The ledger asks once in a batch. docs/decisions/restart-guard.md says how Redis
    /// keeps this time.
    fn guarded_for(&mut self) -> Option<Micros> {
        None
    }
}

/// The result of executing a batch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Outcome {
    /// The answers to the sender.
    pub replies: Replies,
    /// Hints to the sessions whose tickets have changed. One of them may be the sender, about
    /// another of its tickets.
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
    // The store is asked once, so that all requests of the batch meet the same answer.
    let guarded_for = contacts.guarded_for();
    let mut ledger = Ledger {
        state,
        contacts,
        name: &batch.name,
        asker: batch.inbox,
        now,
        guarded_for,
        // No store's clock shows 0, so a head without a reading was never written.
        is_new: head.wall == 0,
        head,
        work: WORK,
        backlog: false,
        wakeups: Vec::new(),
    };
    // The ledger settles before any request, so that no request meets permits whose lease has run
    // out.
    ledger.begin(batch.fence_seen)?;
    let mut replies = Vec::with_capacity(batch.requests.len());
    for request in &batch.requests {
        replies.push(ledger.reply(request)?);
    }
    ledger.finish(replies)
}

/// One batch being executed.
struct Ledger<'a, S, C> {
    state: &'a mut S,
    contacts: &'a mut C,
    name: &'a Name,
    asker: Option<Inbox>,
    now: Micros,
    guarded_for: Option<Micros>,
    /// Nothing was stored of the name when the batch came.
    is_new: bool,
    /// A copy of the name's head. It is written back once, at the end.
    head: Head,
    /// How much work this call may still do.
    work: u32,
    /// Some work was left over.
    backlog: bool,
    wakeups: Vec<Wakeup>,
}

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    fn begin(&mut self, fence_seen: u64) -> Result<(), S::Error> {
        self.advance_clock();
        self.head.fence = self.head.fence.max(fence_seen.min(MOST_FENCE_SEEN));
        self.settle()
    }

    /// Moves the ledger's clock (rule 15). If the store's clock jumps forward, no lease ends whose
    /// holder is alive. If it jumps backward, nothing is delayed.
    fn advance_clock(&mut self) {
        let passed = self.now.saturating_sub(self.head.wall);
        self.head.wall = self.now;
        // The store's clock may have jumped, so the ledger's clock takes no more of it than the
        // bound.
        self.head.clock += passed.min(self.head.bound);
    }

    fn reply(&mut self, request: &Request) -> Result<Reply, S::Error> {
        match request {
            Request::Acquire(acquire) => self.acquire(acquire),
            Request::Renew(renew) => self.renew(renew),
            Request::Attach(attach) => self.attach(attach),
            Request::Detach { ticket, fence, ttl, margin } => {
                self.detach(*ticket, *fence, *ttl, *margin)
            }
            Request::Release { ticket, slots } => self.release(*ticket, slots.as_ref()),
            Request::Cancel { ticket, remember, attach } => {
                self.cancel(*ticket, *remember, *attach)
            }
            Request::Evict { ticket } => self.evict(*ticket),
            Request::Configure(change) => self.configure(change),
            Request::Inspect { rows } => self.inspect(*rows),
        }
    }

    /// Expires what has run out and serves the queue (rule 6). Every request that frees permits
    /// runs all of this, so no other request can come between the release of a permit and its next
    /// grant.
    fn settle(&mut self) -> Result<(), S::Error> {
        self.expire()?;
        self.serve()
    }

    /// Ends the batch: forgets old memories, and writes or clears the head.
    fn finish(mut self, replies: Vec<Reply>) -> Result<Outcome, S::Error> {
        // Forgetting comes last, so that it uses none of the work that waiters need.
        self.forget()?;
        let look_in = self.look_in()?;
        if self.head.holders == 0 && self.head.waiting == 0 {
            self.rest()?;
        }
        // A head whose fence is ahead of the clock stays until the clock has caught up. Otherwise
        // the next holder could get a lower fence (rule 10). A name that is new has given no fence:
        // its fence is the one that a client claims to have seen, and such a claim keeps no name.
        if self.is_blank() && (self.is_new || !self.head.owes_fence(self.now)) {
            self.state.clear()?;
        } else {
            self.state.set_head(&self.head)?;
        }
        // A sender with work left over calls again soon in any case.
        let look_in = look_in.filter(|_| !self.backlog);
        let replies = Replies { now: self.now, replies, backlog: self.backlog, look_in };
        Ok(Outcome { replies, wakeups: self.wakeups })
    }

    /// Ends the use of a name at which nobody holds or waits: its clock may run freely, and its
    /// slots start again from 0.
    fn rest(&mut self) -> Result<(), S::Error> {
        self.head.bound = UNBOUNDED;
        self.drop_terms();
        if self.head.top > 0 {
            self.head.top = 0;
            self.state.clear_free_slots()?;
        }
        Ok(())
    }

    /// Drops the limit and the kind that callers stated once the last holder and waiter have gone
    /// (rule 11), even if tickets are still remembered. A pinned limit stays, and its kind with it.
    fn drop_terms(&mut self) {
        if self.head.holders == 0 && self.head.waiting == 0 {
            self.head.stated = None;
            self.head.kind = self.head.kind.filter(|_| self.head.pinned.is_some());
        }
    }

    /// Returns whether nothing is configured here and nothing has to be remembered (rule 12).
    fn is_blank(&self) -> bool {
        let head = &self.head;
        head.holders == 0
            && head.waiting == 0
            && head.past == 0
            && head.pinned.is_none()
            && head.paused.is_none()
    }

    /// Returns after how long the sender should look again (rule 7); `None` if the next waiter is
    /// not the sender's. It is the time until the first lease can end, so a lost wakeup or a dead
    /// holder delays the waiter by no more. If the restart guard ends first, it is the time until
    /// then, since the end of the guard wakes nobody. It is at most `bound`, because looking that
    /// often keeps the ledger's clock at full speed.
    fn look_in(&mut self) -> Result<Option<Micros>, S::Error> {
        // An operator has no waiter and does not look again.
        if self.asker.is_none() || self.head.waiting == 0 {
            return Ok(None);
        }
        let Some(first) = self.state.first_waiter()? else { return Ok(None) };
        if first.inbox != self.asker {
            return Ok(None);
        }
        let Some(lease) = self.state.first_lease_by_end()? else { return Ok(None) };
        let left = lease.ends.saturating_sub(self.head.clock);
        let left = self.guarded_for.map_or(left, |guarded| guarded.min(left));
        // At least 1: with 0 a client would look again in the same microsecond.
        Ok(Some(left.min(self.head.bound).max(1)))
    }

    fn limit(&self) -> u32 {
        self.head.limit()
    }

    fn contact(&mut self, inbox: Inbox) -> Contact {
        match self.contacts.contact(inbox) {
            // A client that asks is alive, even if nobody listens at its inbox any more.
            Contact::Dead | Contact::Silent if self.asker == Some(inbox) => Contact::Listening,
            contact => contact,
        }
    }

    fn wake(&mut self, entry: &Entry, what: What) {
        if let Some(inbox) = entry.inbox {
            let wakeup = Wakeup { inbox, name: self.name.clone(), ticket: entry.ticket, what };
            self.wakeups.push(wakeup);
        }
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
