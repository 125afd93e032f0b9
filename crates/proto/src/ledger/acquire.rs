//! Asking for permits. One operation serves for the first try, for a retry after a lost reply, and
//! for a look at the place in line. The ledger's record of the ticket decides which of them it is.

mod terms;

use super::{Contacts, Ledger};
use crate::{
    id::LeaseId,
    reply::{Busy, Cause, Grant, Reply},
    request::{Acquire, Enqueue, OnMismatch},
    slots::Slots,
    state::{Entry, Lease, Standing, State},
    time::{AGING, Micros},
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Executes an acquire, which is a first try, a retry, or a look at the place in line.
    pub(super) fn acquire(&mut self, want: &Acquire) -> Result<Reply, S::Error> {
        // The deadline is checked before the ticket is looked up, because a request that comes too
        // late must not renew a place either.
        if want.not_after.is_some_and(|not_after| self.now > not_after) {
            return Ok(Reply::TooLate { ticket: want.ticket }); // rule 16
        }
        // The ticket is looked up before `over` is asked: a grant raises the last number of its
        // series, so a ticket that holds would count as released.
        if let Some(entry) = self.state.entry(want.ticket)? {
            return self.look(entry, want);
        }
        if let Some(cause) = self.over(want.ticket)? {
            return Ok(Reply::Ended { ticket: want.ticket, cause });
        }
        self.want(want)
    }

    /// Answers a request whose ticket is known already (rule 9). The reply says whether the ticket
    /// holds or waits. The request proves that its client is alive.
    fn look(&mut self, mut entry: Entry, want: &Acquire) -> Result<Reply, S::Error> {
        if matches!(entry.standing, Standing::Waiting { .. }) {
            self.stand_again(&mut entry, want)?;
            // The waiter may have been parked. Back at its rank it may be the first for whom
            // permits are free.
            self.serve()?;
        } else if entry.inbox == self.asker {
            self.hear_holder(&entry)?;
        } else {
            // Another client attached to the ticket: the request of the former holder must not
            // speak for it.
            return Ok(Reply::Ended { ticket: want.ticket, cause: Cause::Attached });
        }
        self.standing_of(want)
    }

    /// Notes that the new holder knows of its permit. From now on its lease may last as long as its
    /// process lives.
    fn hear_holder(&mut self, entry: &Entry) -> Result<(), S::Error> {
        match self.state.lease(entry.lease)? {
            Some(lease) if lease.ttl == 0 => {
                self.state.put_lease(&Lease { ttl: entry.ttl, ..lease })
            }
            _ => Ok(()),
        }
    }

    /// Renews a waiter's place at the rank that it had. A waiter that was parked returns to the
    /// order of service.
    fn stand_again(&mut self, entry: &mut Entry, want: &Acquire) -> Result<(), S::Error> {
        // The entry leaves its lease before it changes: the old lease counts it, and counts it as
        // parked if it is.
        self.part(entry)?;
        entry.lease = want.ticket.place();
        entry.inbox = self.asker;
        if let Standing::Waiting { parked, .. } = &mut entry.standing {
            *parked = false;
        }
        self.state.put_entry(entry)?;
        self.stand_in_line(entry, want)
    }

    /// Puts a waiter under the lease of its place and renews that lease.
    fn stand_in_line(&mut self, entry: &Entry, want: &Acquire) -> Result<(), S::Error> {
        // The margin that the request states is for the ttl of its permits, which may be longer
        // than a place lasts. One step of the clock must not take more than half of a place.
        let mut lease = self.join(entry, want.waiter_ttl, want.margin.min(want.waiter_ttl / 2))?;
        lease.ends = self.head.clock + want.waiter_ttl;
        lease.ends_wall = self.now + want.waiter_ttl;
        self.state.put_lease(&lease)
    }

    /// Answers a request whose ticket the ledger does not know. Every error in the request is found
    /// before anything is written.
    fn want(&mut self, want: &Acquire) -> Result<Reply, S::Error> {
        // The last holder may have left in this batch, and its limit with it.
        self.drop_terms();
        let (ticket, permits) = (want.ticket, want.permits.get());
        if let Some(stored) = self.head.kind.filter(|stored| *stored != want.kind) {
            return Ok(Reply::OtherKind { ticket: Some(ticket), stored, stated: want.kind });
        }
        let stating = match self.stating(want) {
            Ok(stating) => stating,
            Err(refusal) => return Ok(refusal.into_reply(ticket)),
        };
        // The limit that would be in force with this request. Nothing is written yet.
        let limit = self.head.pinned.or(stating).unwrap_or_else(|| self.limit());
        // A limit of 0 is a gate that is shut for now, so such a request waits.
        if permits > limit && limit > 0 {
            return Ok(Reply::TooMany { ticket, permits, limit });
        }
        let wishes = match self.wishes_of(want) {
            Ok(wishes) => wishes,
            Err(refusal) => return Ok(*refusal),
        };
        let is_set = want.limit.is_some_and(|rule| rule.on_mismatch == OnMismatch::Set);
        if is_set || limit != self.limit() {
            // The new limit may let waiters in, and they come before this request (rule 5).
            self.head.stated = stating;
            self.serve()?;
        }
        self.let_in(want, stating, limit, wishes)
    }

    /// Grants a valid request at once, refuses it, or puts it in line.
    fn let_in(
        &mut self,
        want: &Acquire,
        stating: Option<u32>,
        limit: u32,
        wishes: Slots,
    ) -> Result<Reply, S::Error> {
        let (ticket, permits) = (want.ticket, want.permits.get());
        // With names it matters which slots are free. Without them a grant takes the lowest ones.
        let free = match self.is_named() {
            true => self.left_by_the_line(permits, &wishes)?.map(Some),
            false => self.is_free_for(permits, limit)?.then_some(None),
        };
        if let Some(slots) = free {
            self.store_terms(want, stating, limit);
            return self.grant_at_once(want, slots);
        }
        // A refused request stores no kind, and only the limit that `ask` has put in force: there
        // may be no holder or waiter to whom they would belong (rule 11).
        if let Some(why) = self.refusal(want) {
            let (held, waiting) = (self.head.held, self.head.waiting);
            return Ok(Reply::Busy { ticket, why, limit, held, waiting });
        }
        self.store_terms(want, stating, limit);
        self.enqueue(want, wishes)?;
        // The waiters before this one may be unreachable. Then this step serves it.
        self.serve()?;
        self.standing_of(want)
    }

    /// Returns whether a newcomer may have the permits. It never passes a waiter that could be
    /// served (rule 5).
    fn is_free_for(&mut self, permits: u32, limit: u32) -> Result<bool, S::Error> {
        let fits = permits <= limit.saturating_sub(self.head.held);
        Ok(fits && self.admits() && self.state.first_waiter()?.is_none())
    }

    fn refusal(&self, want: &Acquire) -> Option<Busy> {
        match want.enqueue {
            Enqueue::No if self.head.paused.is_some() => Some(Busy::Paused),
            Enqueue::No if self.guarded_for.is_some() => Some(Busy::Guarded),
            Enqueue::No => Some(Busy::Full),
            Enqueue::Yes { max_waiting } => {
                max_waiting.filter(|most| self.head.waiting >= *most).map(|_| Busy::TooManyWaiting)
            }
        }
    }

    /// Makes a newcomer a holder.
    fn grant_at_once(&mut self, want: &Acquire, slots: Option<Slots>) -> Result<Reply, S::Error> {
        let standing = self.hold(want.permits.get(), slots)?;
        let entry = self.entry_of(want, want.ticket.lease(), standing);
        let lease = self.join(&entry, want.ttl, want.margin)?;
        // The lease may have been made for a waiter that the store has not heard from since its
        // grant. This request of the same client shows that it is there.
        if lease.ttl == 0 {
            self.hear_holder(&entry)?;
        }
        self.state.put_entry(&entry)?;
        self.open(&entry)?;
        self.standing_of(want)
    }

    fn enqueue(&mut self, want: &Acquire, wishes: Slots) -> Result<(), S::Error> {
        let priority = want.priority.get();
        let rank = self.next_rank(priority);
        let (lease, margin) = (want.ticket.lease(), want.margin);
        let standing = Standing::Waiting { rank, priority, lease, margin, wishes, parked: false };
        let entry = self.entry_of(want, want.ticket.place(), standing);
        self.head.waiting += 1;
        self.state.put_entry(&entry)?;
        self.stand_in_line(&entry, want)
    }

    /// Returns the place in the order of service as one number, lower first (rule 5): the moment of
    /// arrival, earlier by [`AGING`] for each step of priority. The number never changes while the
    /// waiter waits. So two waiters never change their order, and no waiter is passed for ever
    /// (docs/decisions/order.md).
    fn next_rank(&mut self, priority: i8) -> i64 {
        // Each arrival is at least 1 later than the last, so that two requests in the same
        // microsecond keep their order.
        self.head.arrival = (self.head.arrival + 1).max(self.head.clock);
        let arrival = i64::try_from(self.head.arrival).unwrap_or(i64::MAX);
        arrival.saturating_sub(i64::from(priority) * AGING as i64)
    }

    fn entry_of(&self, want: &Acquire, lease: LeaseId, standing: Standing) -> Entry {
        Entry {
            ticket: want.ticket,
            lease,
            inbox: self.asker,
            permits: want.permits.get(),
            ttl: want.ttl,
            since: self.now,
            about: want.about.clone(),
            standing,
        }
    }

    /// Returns the reply about the ticket's present state. The wakeup about it is dropped, since it
    /// would only repeat this reply.
    fn standing_of(&mut self, want: &Acquire) -> Result<Reply, S::Error> {
        let ticket = want.ticket;
        self.wakeups.retain(|wakeup| wakeup.ticket != ticket);
        let Some(entry) = self.state.entry(ticket)? else {
            let cause = self.over(ticket)?.unwrap_or(Cause::Expired);
            return Ok(Reply::Ended { ticket, cause });
        };
        self.told(&entry)
    }

    /// Returns the reply about a ticket that holds or waits.
    pub(super) fn told(&mut self, entry: &Entry) -> Result<Reply, S::Error> {
        let (ticket, limit) = (entry.ticket, self.limit());
        match entry.standing.clone() {
            Standing::Waiting { .. } => {
                Ok(Reply::Queued { ticket, waiting: self.head.waiting, limit })
            }
            Standing::Holding { fence, slots } => {
                let valid_for = self.valid_for(entry)?;
                let names = self.head.names.of(&slots);
                Ok(Reply::Granted(Grant { ticket, fence, slots, names, limit, valid_for }))
            }
        }
    }

    /// Returns for how long the lease of an entry is still valid; `None`: the lease lasts as long
    /// as the process of its client.
    pub(super) fn valid_for(&mut self, entry: &Entry) -> Result<Option<Micros>, S::Error> {
        let is_asker = entry.inbox == self.asker;
        let is_vouched_for = self.is_vouched_for(entry.inbox);
        if is_vouched_for && is_asker {
            return Ok(None); // By this request the store has heard from its process.
        }
        let lease = self.state.lease(entry.lease)?;
        if is_vouched_for && lease.as_ref().is_some_and(|lease| lease.ttl > 0) {
            return Ok(None);
        }
        let ends = lease.map_or(0, |lease| lease.ends);
        Ok(Some(ends.saturating_sub(self.head.clock)))
    }
}
