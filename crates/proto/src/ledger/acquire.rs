//! Asking for permits: the first try, the retry and the look at one's place are one operation.

use super::{Contacts, Ledger};
use crate::{
    id::LeaseId,
    planted::{Bug, planted},
    reply::{Busy, Cause, Grant, Reply},
    request::{Acquire, Enqueue, OnMismatch},
    state::{Entry, Lease, Past, Standing, State},
    time::{AGING, Micros},
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    pub(super) fn acquire(&mut self, ask: &Acquire) -> Result<Reply, S::Error> {
        if ask.not_after.is_some_and(|not_after| self.now > not_after) {
            return Ok(Reply::TooLate { ticket: ask.ticket }); // rule 16
        }
        if let Some(entry) = self.state.entry(ask.ticket)?
            && !planted(Bug::GrantsARetryAgain)
        {
            return self.look(entry, ask);
        }
        if let Some(Past { cause, .. }) = self.state.past(ask.ticket)? {
            return Ok(Reply::Ended { ticket: ask.ticket, cause });
        }
        self.ask(ask)
    }

    /// Rule 9: the ticket is here already; this says how it stands, and that its client is alive.
    fn look(&mut self, mut entry: Entry, ask: &Acquire) -> Result<Reply, S::Error> {
        if matches!(entry.standing, Standing::Waiting { .. }) {
            self.stand_again(&mut entry, ask)?;
            self.serve()?;
        } else if entry.inbox == self.asker {
            self.hear_holder(&entry)?;
        }
        self.standing_of(ask)
    }

    /// The permit that was handed on has reached its holder: from now on its lease may last while it lives.
    fn hear_holder(&mut self, entry: &Entry) -> Result<(), S::Error> {
        match self.state.lease(entry.lease)? {
            Some(lease) if lease.ttl == 0 => {
                self.state.put_lease(&Lease { ttl: entry.ttl, ..lease })
            }
            _ => Ok(()),
        }
    }

    /// Renews a waiter's place, in the rank it had, and brings it back into the order of service.
    fn stand_again(&mut self, entry: &mut Entry, ask: &Acquire) -> Result<(), S::Error> {
        self.part(entry)?;
        entry.lease = ask.waiter_lease;
        entry.inbox = self.asker;
        if let Standing::Waiting { parked, .. } = &mut entry.standing {
            *parked = false;
        }
        self.state.put_entry(entry)?;
        self.stand_in_line(entry, ask)
    }

    /// Puts a waiter under the lease of its place and renews that.
    fn stand_in_line(&mut self, entry: &Entry, ask: &Acquire) -> Result<(), S::Error> {
        let mut lease = self.join(entry, ask.waiter_ttl, ask.margin.min(ask.waiter_ttl / 2))?;
        lease.ends = self.head.clock + ask.waiter_ttl;
        lease.ends_wall = self.now + ask.waiter_ttl;
        self.state.put_lease(&lease)
    }

    fn ask(&mut self, ask: &Acquire) -> Result<Reply, S::Error> {
        let (ticket, permits) = (ask.ticket, ask.permits.get());
        if let Some(stored) = self.head.kind.filter(|stored| *stored != ask.kind) {
            return Ok(Reply::OtherKind { ticket: Some(ticket), stored, stated: ask.kind });
        }
        let limit = match self.limit_for(ask) {
            Ok(limit) => limit,
            Err(refusal) => return Ok(refusal),
        };
        if permits > limit && limit > 0 {
            return Ok(Reply::TooMany { ticket, permits, limit });
        }
        if limit != self.limit() {
            // Nobody stated one before, or this one is to be set: it holds for those in line, too.
            self.head.limit = Some(limit);
            self.serve()?;
        }
        if self.is_free_for(permits, limit)? {
            self.store_terms(ask, limit);
            return self.grant_at_once(ask);
        }
        if let Some(why) = self.refusal(ask) {
            let (held, waiting) = (self.head.held, self.head.waiting);
            return Ok(Reply::Busy { ticket, why, limit, held, waiting });
        }
        self.store_terms(ask, limit);
        self.enqueue(ask)?;
        self.serve()?;
        self.standing_of(ask)
    }

    /// Rule 11: the limit to go by.
    fn limit_for(&self, ask: &Acquire) -> Result<u32, Reply> {
        let Some(rule) = ask.limit else { return Ok(self.limit()) };
        let stated = rule.limit.get();
        match (self.head.limit, rule.on_mismatch) {
            (Some(stored), OnMismatch::Refuse) if stored != stated => {
                Err(Reply::OtherLimit { ticket: ask.ticket, stored, stated })
            }
            (Some(stored), OnMismatch::Adopt) => Ok(stored),
            _ => Ok(stated),
        }
    }

    /// What nobody stated is not stored: the limit of 1 that goes without saying contradicts nobody.
    fn store_terms(&mut self, ask: &Acquire, limit: u32) {
        self.head.kind = Some(ask.kind);
        if ask.limit.is_some() {
            self.head.limit = Some(limit);
        }
    }

    /// A newcomer never passes a waiter that could be served (rule 5).
    fn is_free_for(&mut self, permits: u32, limit: u32) -> Result<bool, S::Error> {
        let fits = permits <= limit.saturating_sub(self.head.held);
        let passes = planted(Bug::NewcomerPasses);
        Ok(fits && self.admits() && (passes || self.state.first_waiter()?.is_none()))
    }

    fn refusal(&self, ask: &Acquire) -> Option<Busy> {
        match ask.enqueue {
            Enqueue::No if self.head.paused.is_some() => Some(Busy::Paused),
            Enqueue::No if self.guarded_for.is_some() => Some(Busy::Guarded),
            Enqueue::No => Some(Busy::Full),
            Enqueue::Yes { max_waiting } => {
                max_waiting.filter(|most| self.head.waiting >= *most).map(|_| Busy::TooManyWaiting)
            }
        }
    }

    fn grant_at_once(&mut self, ask: &Acquire) -> Result<Reply, S::Error> {
        let standing = self.hold(ask.permits.get())?;
        let entry = self.entry_of(ask, ask.lease, standing);
        let lease = self.join(&entry, ask.ttl, ask.margin)?;
        if lease.ttl == 0 {
            self.hear_holder(&entry)?;
        }
        self.state.put_entry(&entry)?;
        self.standing_of(ask)
    }

    fn enqueue(&mut self, ask: &Acquire) -> Result<(), S::Error> {
        let priority = ask.priority.get();
        let rank = self.next_rank(priority);
        let (lease, margin) = (ask.lease, ask.margin);
        let standing = Standing::Waiting { rank, priority, lease, margin, parked: false };
        let entry = self.entry_of(ask, ask.waiter_lease, standing);
        self.head.waiting += 1;
        self.state.put_entry(&entry)?;
        self.stand_in_line(&entry, ask)
    }

    /// Rule 5 as one number: waiting for [`AGING`] outweighs one step of priority, so the order of two
    /// waiters never changes while they wait, and nobody is passed for ever.
    fn next_rank(&mut self, priority: i8) -> i64 {
        self.head.arrival = (self.head.arrival + 1).max(self.head.clock);
        let arrival = i64::try_from(self.head.arrival).unwrap_or(i64::MAX);
        arrival.saturating_sub(i64::from(priority) * AGING as i64)
    }

    fn entry_of(&self, ask: &Acquire, lease: LeaseId, standing: Standing) -> Entry {
        Entry {
            ticket: ask.ticket,
            lease,
            inbox: self.asker,
            permits: ask.permits.get(),
            ttl: ask.ttl,
            since: self.now,
            about: ask.about.clone(),
            standing,
        }
    }

    /// How the ticket stands now. A wakeup about it would only repeat this reply.
    fn standing_of(&mut self, ask: &Acquire) -> Result<Reply, S::Error> {
        let ticket = ask.ticket;
        self.wakeups.retain(|wakeup| wakeup.ticket != ticket);
        let Some(entry) = self.state.entry(ticket)? else {
            let past = self.state.past(ticket)?;
            let cause = past.map_or(Cause::Expired, |past| past.cause);
            return Ok(Reply::Ended { ticket, cause });
        };
        let limit = self.limit();
        match entry.standing.clone() {
            Standing::Waiting { .. } => {
                Ok(Reply::Queued { ticket, waiting: self.head.waiting, limit })
            }
            Standing::Holding { fence, slots } => {
                let valid_for = self.valid_for(&entry)?;
                Ok(Reply::Granted(Grant { ticket, fence, slots, limit, valid_for }))
            }
        }
    }

    /// What is left of the lease that an entry stands under.
    pub(super) fn valid_for(&mut self, entry: &Entry) -> Result<Option<Micros>, S::Error> {
        let is_asker = entry.inbox == self.asker;
        let is_vouched_for = self.is_vouched_for(entry.inbox);
        if is_vouched_for && is_asker {
            return Ok(None); // it is being heard from
        }
        let lease = self.state.lease(entry.lease)?;
        if is_vouched_for && lease.as_ref().is_some_and(|lease| lease.ttl > 0) {
            return Ok(None);
        }
        let ends = lease.map_or(0, |lease| lease.ends);
        Ok(Some(ends.saturating_sub(self.head.clock)))
    }
}
