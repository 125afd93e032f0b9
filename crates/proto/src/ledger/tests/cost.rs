//! Rule 18: the cost of a call does not grow with the size of the state.

use std::{convert::Infallible, vec, vec::Vec};

use super::world::*;
use crate::{
    Acquire, Batch, Configure, Contact, Entry, Head, Lease, LeaseId, Memory, MemoryState, Outcome,
    Request, Series, State, Ticket, execute,
    time::{Micros, WAITER_TTL},
};

const MANY: u128 = 10_000;
/// The most calls of the state that one small request may cost.
const SMALL: u32 = 40;
/// The most calls of the state that one grant, expiry or forgetting may cost.
const UNIT: u32 = 16;
/// The most work of one call.
const WORK: u32 = 128;

/// A state that counts the calls to it.
struct Counted<'a> {
    state: &'a mut MemoryState,
    calls: u32,
}

macro_rules! counted {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $out:ty;)*) => {
        impl State for Counted<'_> {
            type Error = Infallible;
            $(fn $name(&mut self, $($arg: $ty),*) -> Result<$out, Infallible> {
                self.calls += 1;
                self.state.$name($($arg),*)
            })*
        }
    };
}

counted! {
    head() -> Head;
    set_head(head: &Head) -> ();
    clear() -> ();
    lease(id: LeaseId) -> Option<Lease>;
    put_lease(lease: &Lease) -> ();
    remove_lease(id: LeaseId) -> ();
    first_lease_by_end() -> Option<Lease>;
    first_lease_by_wall() -> Option<Lease>;
    entry(ticket: Ticket) -> Option<Entry>;
    put_entry(entry: &Entry) -> ();
    remove_entry(ticket: Ticket) -> ();
    first_member(lease: LeaseId) -> Option<Entry>;
    first_waiter() -> Option<Entry>;
    holders(rows: u32) -> Vec<Entry>;
    waiters(rows: u32) -> Vec<Entry>;
    position(waiter: &Entry) -> u32;
    memory(series: Series) -> Option<Memory>;
    put_memory(memory: &Memory) -> ();
    remove_memory(series: Series) -> ();
    first_memory() -> Option<Memory>;
    pop_free_slots() -> Option<(u32, u32)>;
    push_free_slots(first: u32, last: u32) -> ();
    free_slots_below(slot: u32) -> Vec<(u32, u32)>;
    remove_free_slots(first: u32, last: u32) -> ();
    clear_free_slots() -> ();
}

impl World {
    fn quietly(&mut self, batch: &Batch) -> (Outcome, u32) {
        let mut counted = Counted { state: &mut self.state, calls: 0 };
        let Ok(outcome) = execute(&mut counted, &mut self.contacts, self.now, batch);
        (outcome, counted.calls)
    }

    fn counted(&mut self, client: u128, requests: Vec<Request>) -> (Outcome, u32) {
        let batch = self.batch(client, requests);
        self.quietly(&batch)
    }
}

fn patient(ticket: u128) -> Acquire {
    Acquire { margin: TTL, ..want(ticket) }
}

/// Returns a name with ten thousand holders, each under a lease of its own, and as many waiters.
fn crowd() -> World {
    let mut world = World::limited(MANY as u32);
    for ticket in 1..=2 * MANY {
        let (outcome, calls) = world.counted(1, vec![Request::Acquire(patient(ticket))]);
        assert!(calls <= SMALL, "acquire {ticket} cost {calls}");
        assert!(!outcome.replies.backlog);
    }
    world.state.check().unwrap();
    world
}

#[test]
fn in_a_crowd_every_small_request_costs_the_same_few_calls() {
    let mut world = crowd();
    let last = 2 * MANY;
    let requests = [
        Request::Acquire(patient(last + 1)),
        Request::Acquire(patient(last)),
        renew(77, &[5]),
        renew_all(6, &[6], TTL),
        release(1),
        release_slots(2, "1"),
        cancel(last - 1),
        cancel(3),
        evict(4),
        Request::Configure(Configure::Limit(crate::Limit::new(MANY as u32 + 1).unwrap())),
    ];
    for request in requests {
        let (_, calls) = world.counted(1, vec![request.clone()]);
        assert!(calls <= SMALL + UNIT, "{request:?} cost {calls}");
    }
    world.state.check().unwrap();
}

/// Settles until nothing is left over, and returns the grants of each call.
fn settle_all(world: &mut World, first: (Outcome, u32)) -> Vec<usize> {
    let (mut grants, mut next) = (Vec::new(), first);
    loop {
        let (outcome, calls) = next;
        assert!(calls <= SMALL + WORK * UNIT, "a call cost {calls}");
        grants.push(granted(&outcome).len());
        if !outcome.replies.backlog {
            return grants;
        }
        next = world.counted(1, vec![]);
    }
}

#[test]
fn a_great_resize_is_served_in_bounded_steps_and_says_that_some_is_left() {
    let mut world = crowd();
    let limit = crate::Limit::new(2 * MANY as u32).unwrap();
    let first = world.counted(1, vec![Request::Configure(Configure::Limit(limit))]);
    let grants = settle_all(&mut world, first);
    assert!(grants.iter().all(|grants| *grants <= WORK as usize));
    assert_eq!(grants.iter().sum::<usize>(), MANY as usize);
    world.state.check().unwrap();
}

#[test]
fn ten_thousand_leases_that_end_together_end_in_bounded_steps() {
    let mut world = crowd();
    world.contacts.0.insert(1, Contact::Silent);
    world.now += TTL.max(WAITER_TTL) as Micros;
    let batch = world.batch(0, vec![]);
    let first = world.quietly(&batch);
    assert!(first.0.replies.backlog);
    let mut calls = 1;
    while world.quietly(&batch).0.replies.backlog {
        calls += 1;
    }
    assert!(calls >= 2 * MANY as u32 / WORK, "{calls} calls");
    assert!(world.holders().is_empty() && world.waiters().is_empty());
}

#[test]
fn old_memories_do_not_hold_up_a_grant() {
    let mut world = World::limited(1);
    for ticket in 1..=1_000 {
        world.counted(1, vec![cancel(ticket)]);
    }
    world.take(1, Acquire { ttl: 2 * TTL, margin: 2 * TTL, ..want(2_001) });
    world.queue(2, Acquire { waiter_ttl: 3 * TTL, margin: 2 * TTL, ..want(2_002) });
    world.now += TTL;
    let (outcome, _) = world.counted(1, vec![release(2_001)]);
    assert_eq!(granted(&outcome), [2_002]);
}

#[test]
fn as_many_waiters_as_a_few_leases_have_end_in_bounded_steps() {
    let mut world = World::limited(0);
    for (series, member) in (1..=16).flat_map(|series| (1..=64).map(move |n| (series, n))) {
        world.counted(1, vec![Request::Acquire(patient(of(series, member)))]);
    }
    world.contacts.0.insert(1, Contact::Dead);
    world.now += WAITER_TTL;
    let (outcome, calls) = world.counted(0, vec![]);
    assert!(outcome.replies.backlog && calls <= SMALL + WORK * UNIT);
    while world.counted(0, vec![]).0.replies.backlog {}
    assert_eq!(world.snapshot().waiting_total, 0);
}
