//! One name, its clients and its clock, for the tests of the ledger.

use std::{collections::BTreeMap, string::String, vec, vec::Vec};

use crate::{
    Acquire, Attach, Batch, Cause, Configure, Contact, Contacts, Enqueue, Fence, Grant, Inbox,
    Kind, LeaseId, Limit, LimitRule, MemoryState, Name, OnMismatch, Outcome, Permits, Priority,
    Renew, Reply, Request, SlotNames, Slots, Snapshot, Ticket, Wakeup, What, Whom, execute,
    time::{Micros, SECOND, UNBOUNDED, WAITER_TTL, margin},
};

/// How many series there are.
const SERIES: u128 = 1_000_000;

/// Returns the ticket of a number. Each number below a million is the first ticket of a series of
/// its own, [`of`] has those of the others.
pub(super) fn ticket_of(number: u128) -> Ticket {
    Ticket((number % SERIES) << 32 | (number / SERIES + 1))
}

pub(super) fn number_of(ticket: Ticket) -> u128 {
    of(ticket.0 >> 32, u128::from(ticket.number()))
}

/// Returns the number of a ticket that shares its series with others. The members of a series
/// count from 1.
pub(super) const fn of(series: u128, member: u128) -> u128 {
    (member - 1) * SERIES + series
}

/// Returns the lease under which the permits of a series stand.
pub(super) fn lease_of(series: u128) -> LeaseId {
    ticket_of(series).lease()
}

/// Returns the lease under which the waiters of a series stand.
pub(super) fn place_of(series: u128) -> LeaseId {
    ticket_of(series).place()
}

/// The ttl of every request that states none.
pub(super) const TTL: Micros = 30 * SECOND;

/// A name with its clients, which are numbers. Client 0 has no inbox. Every client listens unless a
/// test says otherwise.
pub(super) struct World {
    pub(super) state: MemoryState,
    pub(super) contacts: Oracle,
    pub(super) now: Micros,
    pub(super) fence_seen: u64,
}

/// The store's knowledge of its clients, and the length of its restart guard.
#[derive(Default)]
pub(super) struct Oracle(pub(super) BTreeMap<u128, Contact>, pub(super) Option<Micros>);

impl Contacts for Oracle {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        self.0.get(&inbox.0).copied().unwrap_or(Contact::Listening)
    }

    fn guarded_for(&mut self) -> Option<Micros> {
        self.1
    }
}

impl World {
    pub(super) fn new() -> Self {
        let (state, contacts) = (MemoryState::default(), Oracle::default());
        Self { state, contacts, now: 1_000_000 * SECOND, fence_seen: 0 }
    }

    /// Makes a name with this limit, which an operator pinned.
    pub(super) fn limited(limit: u32) -> Self {
        let mut world = Self::new();
        world.resize(limit);
        world
    }

    /// Makes a name whose slots have these names.
    pub(super) fn named(names: &str) -> Self {
        let mut world = Self::new();
        world.send(99, vec![naming(names)]);
        world
    }

    /// Executes a batch of this client and checks the state that it leaves.
    pub(super) fn send(&mut self, client: u128, requests: Vec<Request>) -> Outcome {
        let batch = self.batch(client, requests);
        let Ok(outcome) = execute(&mut self.state, &mut self.contacts, self.now, &batch);
        self.state.check().unwrap();
        outcome
    }

    pub(super) fn batch(&self, client: u128, requests: Vec<Request>) -> Batch {
        let inbox = (client > 0).then_some(Inbox(client));
        Batch { name: Name::new("n").unwrap(), inbox, fence_seen: self.fence_seen, requests }
    }

    pub(super) fn one(&mut self, client: u128, request: Request) -> Reply {
        self.send(client, vec![request]).replies.replies.pop().unwrap()
    }

    pub(super) fn acquire(&mut self, client: u128, want: Acquire) -> Reply {
        self.one(client, Request::Acquire(want))
    }

    /// Acquires permits that must be granted at once.
    pub(super) fn take(&mut self, client: u128, want: Acquire) -> Grant {
        match self.acquire(client, want) {
            Reply::Granted(grant) => grant,
            other => panic!("not granted: {other:?}"),
        }
    }

    /// Acquires permits for which the client must wait.
    pub(super) fn queue(&mut self, client: u128, want: Acquire) {
        let reply = self.acquire(client, want);
        assert!(matches!(reply, Reply::Queued { .. }), "not queued: {reply:?}");
    }

    pub(super) fn release(&mut self, client: u128, ticket: u128) -> Outcome {
        self.send(client, vec![release(ticket)])
    }

    pub(super) fn renew(&mut self, client: u128, lease: u128, tickets: &[u128]) -> Reply {
        self.one(client, renew(lease, tickets))
    }

    /// Takes over a ticket that another client can have.
    pub(super) fn attach(&mut self, client: u128, want: Attach) -> Grant {
        match self.one(client, Request::Attach(want)) {
            Reply::Granted(grant) => grant,
            other => panic!("not attached: {other:?}"),
        }
    }

    pub(super) fn resize(&mut self, limit: u32) -> Outcome {
        let limit = Limit::new(limit).unwrap();
        self.send(99, vec![Request::Configure(Configure::Limit(limit))])
    }

    /// Lets time pass and settles, as a client that looks would.
    pub(super) fn pass(&mut self, time: Micros) -> Outcome {
        self.now += time;
        self.settle()
    }

    /// Lets time pass while somebody looks every second, so that the ledger's clock keeps up.
    pub(super) fn last(&mut self, time: Micros) {
        for _ in 0..time / SECOND {
            self.pass(SECOND);
        }
        self.pass(time % SECOND);
    }

    pub(super) fn settle(&mut self) -> Outcome {
        self.send(0, vec![])
    }

    pub(super) fn snapshot(&mut self) -> Snapshot {
        match self.one(0, Request::Inspect { rows: u32::MAX }) {
            Reply::Snapshot(snapshot) => snapshot,
            other => panic!("not a snapshot: {other:?}"),
        }
    }

    pub(super) fn holders(&mut self) -> Vec<u128> {
        self.snapshot().holders.iter().map(|row| number_of(row.ticket)).collect()
    }

    /// Returns the waiters in the order of service, those that are passed over last.
    pub(super) fn waiters(&mut self) -> Vec<u128> {
        self.snapshot().waiters.iter().map(|row| number_of(row.ticket)).collect()
    }
}

/// Returns a request for one permit.
pub(super) fn want(ticket: u128) -> Acquire {
    Acquire {
        ticket: ticket_of(ticket),
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: SlotNames::none(),
        limit: None,
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::default(),
        ttl: TTL,
        margin: margin(TTL),
        waiter_ttl: WAITER_TTL,
        not_after: None,
        about: String::new(),
    }
}

pub(super) fn permits(ticket: u128, count: u32) -> Acquire {
    Acquire { permits: Permits::new(count).unwrap(), ..want(ticket) }
}

/// Returns a request for one of each of these slots.
pub(super) fn wishing(ticket: u128, names: &str) -> Acquire {
    let wishes: SlotNames = names.parse().unwrap();
    Acquire { wishes: wishes.clone(), ..permits(ticket, wishes.count()) }
}

pub(super) fn naming(names: &str) -> Request {
    Request::Configure(Configure::Slots(names.parse().unwrap()))
}

pub(super) fn stating(ticket: u128, limit: u32, on_mismatch: OnMismatch) -> Acquire {
    let limit = Limit::new(limit).unwrap();
    Acquire { limit: Some(LimitRule { limit, on_mismatch }), ..want(ticket) }
}

pub(super) fn release(ticket: u128) -> Request {
    Request::Release { ticket: ticket_of(ticket), slots: None }
}

pub(super) fn release_slots(ticket: u128, slots: &str) -> Request {
    let slots: Slots = slots.parse().unwrap();
    Request::Release { ticket: ticket_of(ticket), slots: Some(slots) }
}

pub(super) fn cancel(ticket: u128) -> Request {
    Request::Cancel { ticket: ticket_of(ticket), remember: TTL, attach: None }
}

/// Returns a request that gives up the attach to a ticket under this lease.
pub(super) fn give_up(ticket: u128, lease: u128) -> Request {
    Request::Cancel { ticket: ticket_of(ticket), remember: TTL, attach: Some(lease_of(lease)) }
}

/// Returns a request to take over a ticket, under this lease.
pub(super) fn attach(ticket: u128, lease: u128) -> Attach {
    Attach {
        ticket: ticket_of(ticket),
        lease: lease_of(lease),
        ttl: TTL,
        margin: margin(TTL),
        not_after: None,
        about: String::new(),
    }
}

/// Returns a request to leave the last grant of the ticket without an owner.
pub(super) fn detach(ticket: u128) -> Request {
    detach_grant(ticket, Fence(UNBOUNDED))
}

pub(super) fn detach_grant(ticket: u128, fence: Fence) -> Request {
    Request::Detach { ticket: ticket_of(ticket), fence, ttl: TTL, margin: margin(TTL) }
}

pub(super) fn evict(ticket: u128) -> Request {
    Request::Evict { ticket: ticket_of(ticket) }
}

pub(super) fn renew(lease: u128, tickets: &[u128]) -> Request {
    let whom = Whom::Tickets(tickets.iter().copied().map(ticket_of).collect());
    Request::Renew(Renew { lease: lease_of(lease), ttl: TTL, margin: margin(TTL), whom })
}

/// Returns a request that renews a lease as a whole.
pub(super) fn renew_all(lease: u128, tickets: &[u128], ttl: Micros) -> Request {
    renew_whole(lease_of(lease), tickets, ttl)
}

/// Returns a request that renews the places of a series.
pub(super) fn renew_places(series: u128, tickets: &[u128]) -> Request {
    renew_whole(place_of(series), tickets, WAITER_TTL)
}

fn renew_whole(lease: LeaseId, tickets: &[u128], ttl: Micros) -> Request {
    let digest = tickets.iter().map(|t| ticket_of(*t).digest()).sum::<u64>() & ((1 << 48) - 1);
    let whom = Whom::All { members: tickets.len() as u32, digest };
    Request::Renew(Renew { lease, ttl, margin: margin(ttl), whom })
}

/// Returns the tickets whose grant an outcome tells of.
pub(super) fn granted(outcome: &Outcome) -> Vec<u128> {
    let told = |wakeup: &&Wakeup| matches!(wakeup.what, What::Granted { .. });
    outcome.wakeups.iter().filter(told).map(|wakeup| number_of(wakeup.ticket)).collect()
}

pub(super) fn ended(ticket: u128, cause: Cause) -> Reply {
    Reply::Ended { ticket: ticket_of(ticket), cause }
}

pub(super) fn released(ticket: u128, left: u32) -> Reply {
    Reply::Released { ticket: ticket_of(ticket), left }
}
