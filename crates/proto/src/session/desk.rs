//! The session's state of one name: the records of its tickets, their leases, the requests to be
//! sent, and the call under way.

use alloc::{
    boxed::Box,
    collections::{BTreeSet, VecDeque},
    vec::Vec,
};

use super::{
    event::{CallId, OneOffId},
    few::{Few, FewSet},
    lease::LeaseDesk,
    outbox::Outbox,
    record::{Phase, Record},
    series::ByTtl,
};
use crate::{
    id::{LeaseId, Ticket},
    request::{Batch, DIGEST_MASK, Request},
    time::Micros,
};

/// The number of ttls at one name from which on the session drops series with nothing under their
/// leases.
const MANY_TTLS: usize = 64;
/// Stands for *as soon as the name has its turn*. It is no instant.
pub(super) const AT_ONCE: Micros = 0;

/// The session's state of one name. The session makes a desk when the program wants something of
/// the name, and drops it when nothing is held, wanted or under way there.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    /// Records and leases are in boxes, because a tree reserves room for eleven values at once.
    pub(super) records: Few<Ticket, Box<Record>>,
    pub(super) outbox: Outbox,
    /// The tickets that the store has in line, as far as the session knows, by the lease of their
    /// series' waiters.
    pub(super) places: Few<LeaseId, Places>,
    /// The tickets with a request that was sent and not answered. Nobody knows whether the store
    /// has executed it.
    pub(super) uncertain: FewSet<Ticket>,
    pub(super) leases: Few<LeaseId, Box<LeaseDesk>>,
    /// The lease under which the permits of each ttl stand.
    pub(super) shared_leases: ByTtl,
    /// Whether the last permit that was handed over to us had been ours. If so, this is likely to
    /// happen again.
    pub(super) hands_over_to_us: bool,
    /// Other requests about the name. If `true` stands beside a request, it must not carry our
    /// inbox.
    pub(super) one_offs: VecDeque<(OneOffId, Request, bool)>,
    /// Whether the last call carried our inbox. If so, the requests that must not carry it go next.
    pub(super) nobodys_turn: bool,
    /// The call that others wait for. Calls that overtake it are not noted here.
    pub(super) under_way: Option<CallId>,
    /// No call is made before this instant, since the last one failed.
    pub(super) retry_at: Option<Micros>,
    pub(super) failures: u32,
    /// Whether the store has work left over. The next call makes it go on.
    pub(super) must_settle: bool,
    /// When the agenda has the name, if it does.
    pub(super) agenda_at: Option<Micros>,
}

/// The tickets of a series that wait in line.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    pub(super) waiting: FewSet<Ticket>,
    /// When to renew their lease.
    pub(super) due: Option<Micros>,
}

impl Places {
    /// Plans a renewal for `due`, unless an earlier one is planned.
    pub(super) fn renew_by(&mut self, due: Micros) {
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }
}

impl Desk {
    pub(super) fn new(shared_leases: ByTtl) -> Self {
        Self {
            records: Few::None,
            outbox: Outbox::default(),
            places: Few::None,
            uncertain: FewSet::default(),
            leases: Few::None,
            shared_leases,
            hands_over_to_us: false,
            one_offs: VecDeque::new(),
            nobodys_turn: false,
            under_way: None,
            retry_at: None,
            failures: 0,
            must_settle: false,
            agenda_at: None,
        }
    }

    pub(super) fn lease(&mut self, id: LeaseId, ttl: Micros) -> &mut LeaseDesk {
        self.leases.get_or_insert_with(id, || Box::new(LeaseDesk::new(ttl)))
    }

    /// Drops the series of ttls whose leases have no tickets, now and then. A program that computes
    /// its ttls has another ttl for each request.
    pub(super) fn make_room_for_series(&mut self, ttl: Micros) {
        let Self { shared_leases, leases, .. } = self;
        let count = shared_leases.len();
        // It does so at every doubling of their number, so that it costs little even if all are in
        // use.
        let is_time = count >= MANY_TTLS && count.is_power_of_two();
        if is_time && shared_leases.get(&ttl).is_none() {
            shared_leases.retain(|_, shared| leases.get(&shared.lease).is_some());
        }
    }

    pub(super) fn insert(&mut self, record: Record) {
        let ticket = record.ticket;
        self.records.insert(ticket, Box::new(record));
        self.refile(ticket);
    }

    /// Puts a ticket into the outbox or takes it out, according to its record.
    pub(super) fn refile(&mut self, ticket: Ticket) {
        let Some(record) = self.records.get(&ticket) else { return };
        if record.wants_to_send() {
            self.outbox.insert(record);
        } else {
            self.outbox.remove(record);
        }
        if record.phase == Phase::Leaving
            && let Some(lease) = self.leases.get_mut(&record.lease)
        {
            lease.unproved.remove(&ticket); // nobody wants it proved any more
        }
    }

    /// Puts a ticket into the outbox, whatever its record says.
    pub(super) fn send_again(&mut self, ticket: Ticket) {
        if let Some(record) = self.records.get(&ticket) {
            self.outbox.insert(record);
        }
    }

    /// Removes a ticket from all lists of the desk. Its lease goes with the last ticket that names
    /// it.
    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<Box<Record>> {
        let record = self.records.remove(&ticket)?;
        self.outbox.remove(&record);
        self.leave_place(ticket);
        self.uncertain.remove(&ticket);
        if let Some(lease) = self.leases.get_mut(&record.lease) {
            lease.users -= 1;
            lease.let_go(ticket);
            if lease.users == 0 {
                self.leases.remove(&record.lease);
            }
        }
        Some(record)
    }

    /// Notes that a ticket stands, or will stand, under this lease and no other.
    pub(super) fn put_under(&mut self, ticket: Ticket, lease: LeaseId) {
        let Some(record) = self.records.get_mut(&ticket).filter(|it| it.lease != lease) else {
            return;
        };
        let before = core::mem::replace(&mut record.lease, lease);
        let ttl = record.want.ttl;
        self.lease(lease, ttl).users += 1;
        if let Some(of) = self.leases.get_mut(&before) {
            of.users -= 1;
            if of.users == 0 {
                self.leases.remove(&before);
            }
        }
    }

    /// Renews a lease at once, ticket by ticket, because a ticket under it may be over. The answer
    /// tells whether it is.
    pub(super) fn doubt(&mut self, lease: LeaseId, now: Micros) {
        if let Some(lease) = self.leases.get_mut(&lease).filter(|lease| !lease.held.is_empty()) {
            (lease.by_ticket, lease.due) = (true, Some(now));
        }
    }

    /// Makes a lease due again, because the renewal that was sent at `at` has failed. The lease is
    /// not due if a later renewal was answered meanwhile.
    pub(super) fn renew_after_failure(&mut self, lease: LeaseId, now: Micros, at: Micros) {
        if let Some(lease) = self.leases.get_mut(&lease)
            && !lease.held.is_empty()
            && !lease.was_renewed_after(at)
        {
            lease.due = Some(now);
        }
    }

    /// Notes that a ticket is in line. Its place is to be renewed by `due`.
    pub(super) fn take_place(&mut self, ticket: Ticket, due: Micros) {
        let places = self.places.get_or_insert_with(ticket.place(), Places::default);
        places.waiting.insert(ticket);
        places.renew_by(due);
    }

    /// Notes that a ticket is not in line any more.
    pub(super) fn leave_place(&mut self, ticket: Ticket) {
        let lease = ticket.place();
        let Some(places) = self.places.get_mut(&lease) else { return };
        places.waiting.remove(&ticket);
        if places.waiting.is_empty() {
            self.places.remove(&lease);
        }
    }

    /// Returns the tickets that stand in line under this lease and for which the program still
    /// waits.
    pub(super) fn waiting_under(&self, lease: LeaseId) -> Vec<Ticket> {
        let is_waiting = |ticket: &&Ticket| {
            self.records.get(ticket).is_some_and(|record| record.phase == Phase::Waiting)
        };
        let places = self.places.get(&lease).into_iter();
        places.flat_map(|places| places.waiting.iter()).filter(is_waiting).copied().collect()
    }

    /// Returns the ticket of ours that has waited for the longest.
    pub(super) fn first_in_line(&self) -> Option<&Record> {
        let firsts = self.places.values().filter_map(|places| {
            let mut records = places.waiting.iter().filter_map(|ticket| self.records.get(ticket));
            records.find(|record| record.phase == Phase::Waiting)
        });
        firsts.min_by_key(|record| record.number).map(|record| &**record)
    }

    /// Renews the place of our first in line by `due`.
    pub(super) fn look_by(&mut self, due: Micros) {
        let Some(lease) = self.first_in_line().map(|first| first.ticket.place()) else { return };
        self.places.get_mut(&lease).into_iter().for_each(|places| places.renew_by(due));
    }

    /// Returns the leases that the next requests for permits name.
    pub(super) fn leases_to_join(&self) -> BTreeSet<LeaseId> {
        let next = self.outbox.tickets().take(Batch::MOST);
        let asking = next.filter_map(|ticket| self.records.get(&ticket));
        asking.filter(|record| record.phase == Phase::Asking).map(|record| record.lease).collect()
    }

    pub(super) fn is_leaving(&self, ticket: Ticket) -> bool {
        self.records.get(&ticket).is_some_and(|record| record.phase == Phase::Leaving)
    }

    /// Makes all places and leases due for renewal. The store is there again, so any pause after a
    /// failure ends.
    pub(super) fn make_all_due(&mut self, now: Micros) {
        self.retry_at = None;
        self.failures = 0;
        self.places.values_mut().for_each(|places| places.due = Some(now));
        for lease in self.leases.values_mut().filter(|lease| !lease.held.is_empty()) {
            lease.due = Some(now);
        }
    }

    /// Returns when to send something next; this may be [`AT_ONCE`]. While a call is under way only
    /// renewals count, since nothing else is sent before its answer.
    pub(super) fn next_due(&self) -> Option<Micros> {
        let leases = self.leases.values().filter_map(|lease| lease.next_renewal());
        if self.under_way.is_some() {
            // The pause counts here, too, since the failed call may have been one that overtook.
            return leases.min().map(|due| due.max(self.retry_at.unwrap_or(0)));
        }
        let is_unproved = self.leases.values().any(|lease| !lease.unproved.is_empty());
        let at_once =
            !self.outbox.is_empty() || !self.one_offs.is_empty() || self.must_settle || is_unproved;
        // Only the pause after a failure delays requests that are to go out at once.
        let places = self.places.values().filter_map(|places| places.due);
        let due = if at_once { Some(AT_ONCE) } else { leases.chain(places).min() };
        due.map(|due| due.max(self.retry_at.unwrap_or(0)))
    }

    /// Returns whether nothing is held here and nobody waits, as far as the session knows.
    pub(super) fn is_new(&self) -> bool {
        self.places.is_empty() && self.leases.values().all(|lease| lease.held.is_empty())
    }

    pub(super) fn is_idle(&self) -> bool {
        self.records.is_empty()
            && self.one_offs.is_empty()
            && self.under_way.is_none()
            && !self.must_settle
    }
}

/// Returns the digest by which [`Whom::All`](crate::Whom::All) describes a set of tickets.
pub(super) fn digest<'a>(tickets: impl Iterator<Item = &'a Ticket>) -> u64 {
    tickets.fold(0, |sum, ticket| (sum + ticket.digest()) & DIGEST_MASK)
}
