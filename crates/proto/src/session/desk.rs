//! Everything the session has to do with one name.

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};

use super::{
    event::{AskId, CallId},
    outbox::Outbox,
    record::{Phase, Record},
};
use crate::{
    id::{LeaseId, Ticket},
    request::{DIGEST_MASK, Request},
    time::Micros,
};

#[derive(Clone, Debug)]
pub(super) struct Desk {
    pub(super) records: BTreeMap<Ticket, Record>,
    pub(super) outbox: Outbox,
    /// Tickets that the store has in its queue, as far as we know.
    pub(super) places: BTreeSet<Ticket>,
    /// Tickets of which a request was sent and not answered: nobody knows what the store made of it.
    pub(super) uncertain: BTreeSet<Ticket>,
    pub(super) leases: BTreeMap<LeaseId, LeaseDesk>,
    /// The lease that permits of each ttl stand under.
    pub(super) shared_leases: BTreeMap<Micros, LeaseId>,
    pub(super) waiter_lease: LeaseId,
    /// When to renew the places in the queue.
    pub(super) waiters_due: Option<Micros>,
    pub(super) asks: VecDeque<(AskId, Request, bool)>,
    pub(super) under_way: Option<CallId>,
    pub(super) retry_at: Option<Micros>,
    pub(super) failures: u32,
    /// The store has work left over.
    pub(super) must_settle: bool,
    pub(super) agenda_at: Option<Micros>,
}

/// A lease that permits of this client stand under.
#[derive(Clone, Debug)]
pub(super) struct LeaseDesk {
    pub(super) ttl: Micros,
    /// Granted tickets that the store has not confirmed to be gone.
    pub(super) held: BTreeSet<Ticket>,
    /// Records that name this lease.
    pub(super) users: u32,
    /// Those of them that the store may know of.
    pub(super) known: u32,
    /// If the lease is there at all, it was made or renewed no earlier than this.
    pub(super) base: Micros,
    /// If the lease was made by somebody who handed a permit on to a waiter of ours, it ends no earlier than
    /// the length of a place after this.
    pub(super) handed: Micros,
    pub(super) due: Option<Micros>,
    /// Both sides disagree on what stands under it: renew ticket by ticket.
    pub(super) by_ticket: bool,
}

impl Desk {
    pub(super) fn new(waiter_lease: LeaseId) -> Self {
        Self {
            records: BTreeMap::new(),
            outbox: Outbox::default(),
            places: BTreeSet::new(),
            uncertain: BTreeSet::new(),
            leases: BTreeMap::new(),
            shared_leases: BTreeMap::new(),
            waiter_lease,
            waiters_due: None,
            asks: VecDeque::new(),
            under_way: None,
            retry_at: None,
            failures: 0,
            must_settle: false,
            agenda_at: None,
        }
    }

    pub(super) fn lease(&mut self, id: LeaseId, ttl: Micros) -> &mut LeaseDesk {
        self.leases.entry(id).or_insert_with(|| LeaseDesk::new(ttl))
    }

    pub(super) fn insert(&mut self, record: Record) {
        let ticket = record.ticket;
        self.records.insert(ticket, record);
        self.refile(ticket);
    }

    /// Puts a ticket into the outbox, or takes it out, as its record says.
    pub(super) fn refile(&mut self, ticket: Ticket) {
        let Some(record) = self.records.get(&ticket) else { return };
        if record.wants_to_send() {
            self.outbox.insert(record);
        } else {
            self.outbox.remove(ticket);
        }
    }

    /// Puts a ticket into the outbox, whatever its record says.
    pub(super) fn send_again(&mut self, ticket: Ticket) {
        if let Some(record) = self.records.get(&ticket) {
            self.outbox.insert(record);
        }
    }

    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<Record> {
        let record = self.records.remove(&ticket)?;
        self.outbox.remove(ticket);
        self.leave_place(ticket);
        self.uncertain.remove(&ticket);
        if let Some(lease) = self.leases.get_mut(&record.lease) {
            lease.drop_user(&record);
            if lease.users == 0 {
                self.leases.remove(&record.lease);
            }
        }
        Some(record)
    }

    /// A ticket is not in the queue any more.
    pub(super) fn leave_place(&mut self, ticket: Ticket) {
        self.places.remove(&ticket);
        if self.places.is_empty() {
            self.waiters_due = None;
        }
    }

    /// Who stands in the queue and still wants to.
    pub(super) fn waiting(&self) -> Vec<Ticket> {
        let is_waiting = |ticket: &&Ticket| {
            self.records.get(ticket).is_some_and(|record| record.phase == Phase::Waiting)
        };
        self.places.iter().filter(is_waiting).copied().collect()
    }

    pub(super) fn is_leaving(&self, ticket: Ticket) -> bool {
        self.records.get(&ticket).is_some_and(|record| record.phase == Phase::Leaving)
    }

    /// Everything is to be looked at again: places by renewing them, leases likewise. The store is back, so
    /// there is nothing to wait for.
    pub(super) fn make_all_due(&mut self, now: Micros) {
        self.retry_at = None;
        self.failures = 0;
        if !self.places.is_empty() {
            self.waiters_due = Some(now);
        }
        for lease in self.leases.values_mut().filter(|lease| !lease.held.is_empty()) {
            lease.due = Some(now);
        }
    }

    pub(super) fn next_due(&self) -> Option<Micros> {
        if self.under_way.is_some() {
            return None;
        }
        let at_once = !self.outbox.is_empty() || !self.asks.is_empty() || self.must_settle;
        let leases = self.leases.values().filter_map(|lease| lease.due);
        let due = if at_once { Some(0) } else { leases.chain(self.waiters_due).min() };
        due.map(|due| due.max(self.retry_at.unwrap_or(0)))
    }

    pub(super) fn is_idle(&self) -> bool {
        self.records.is_empty()
            && self.asks.is_empty()
            && self.under_way.is_none()
            && !self.must_settle
    }
}

impl LeaseDesk {
    pub(super) fn new(ttl: Micros) -> Self {
        Self {
            ttl,
            held: BTreeSet::new(),
            users: 0,
            known: 0,
            base: 0,
            handed: 0,
            due: None,
            by_ticket: false,
        }
    }

    /// A request that may make this lease is about to be sent. If the store could not know the lease
    /// before, it is not made earlier than now.
    pub(super) fn may_appear(&mut self, now: Micros) {
        if self.known == 0 {
            self.is_not_there(now);
        }
        self.known += 1;
    }

    /// At `at` the lease was not there, and our places in the queue were renewed no earlier.
    pub(super) fn is_not_there(&mut self, at: Micros) {
        self.base = self.base.max(at);
        self.handed = self.handed.max(at);
    }

    /// When the lease ends at the earliest, if a permit under it was handed on to us.
    pub(super) fn earliest_end(&self, waiter_ttl: Micros) -> Micros {
        (self.base + self.ttl).min(self.handed + waiter_ttl)
    }

    /// A ticket stands under this lease. Renew it at `due`, or earlier if that was planned.
    pub(super) fn hold(&mut self, ticket: Ticket, due: Micros) {
        self.held.insert(ticket);
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }

    fn drop_user(&mut self, record: &Record) {
        self.users -= 1;
        if record.sent_at.is_some() {
            self.known -= 1;
        }
        self.let_go(record.ticket);
    }

    pub(super) fn let_go(&mut self, ticket: Ticket) {
        self.held.remove(&ticket);
        if self.held.is_empty() {
            self.due = None;
            self.by_ticket = false;
        }
    }
}

/// What [`Whom::All`](crate::Whom::All) says of a set of tickets.
pub(super) fn digest<'a>(tickets: impl Iterator<Item = &'a Ticket>) -> u64 {
    tickets.fold(0, |sum, ticket| (sum + ticket.digest()) & DIGEST_MASK)
}
