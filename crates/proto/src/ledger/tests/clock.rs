//! Rules 4, 15 and 16: the store's clock, and what its steps may do.

use super::world::*;
use crate::{
    Acquire, Cause, Contact, Reply,
    time::{Micros, SECOND, margin},
};

const HOUR: Micros = 3_600 * SECOND;

#[test]
fn a_forward_step_does_not_end_the_lease_of_a_holder_that_listens() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.pass(HOUR);
    assert_eq!(world.holders(), [1]);
    assert_eq!(world.snapshot().holders[0].valid_for, Some(TTL - margin(TTL)));
}

#[test]
fn a_backward_step_delays_recovery_by_nothing_after_the_next_operation() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.now -= HOUR;
    world.settle();
    for _ in 0..TTL / SECOND {
        world.pass(SECOND);
    }
    assert_eq!(world.holders(), []);
}

#[test]
fn time_counts_in_full_for_a_holder_that_nobody_hears() {
    for contact in [Contact::Silent, Contact::Dead] {
        let mut world = World::limited(1);
        world.take(1, want(1));
        world.contacts.0.insert(1, contact);
        world.pass(TTL);
        assert_eq!(world.holders(), [], "{contact:?}");
    }
}

#[test]
fn time_counts_in_full_for_a_holder_that_never_had_an_inbox() {
    let mut world = World::limited(1);
    world.take(0, want(1));
    world.pass(TTL - 1);
    assert_eq!(world.holders(), [1]);
    world.pass(1);
    assert_eq!(world.holders(), []);
}

#[test]
fn a_silent_holder_keeps_its_lease_until_that_ends() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.contacts.0.insert(1, Contact::Silent);
    world.pass(TTL - 1);
    assert_eq!(world.holders(), [1]);
}

#[test]
fn a_client_that_asks_is_heard_whatever_has_become_of_its_inbox() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.contacts.0.insert(1, Contact::Silent);
    world.now += HOUR;
    let reply = world.renew(1, 1, &[1]);
    assert!(matches!(reply, Reply::Tickets { valid_for: Some(TTL), .. }), "{reply:?}");
    assert_eq!(world.acquire(1, want(1)), world.acquire(1, want(1)));
}

#[test]
fn the_lease_of_a_process_that_the_kernel_vouches_for_does_not_run_out() {
    let mut world = World::limited(1);
    world.contacts.0.insert(1, Contact::Alive);
    assert_eq!(world.take(1, want(1)).valid_for, None);
    for _ in 0..10 {
        world.pass(HOUR);
    }
    assert_eq!(world.holders(), [1]);
    assert_eq!(world.snapshot().holders[0].valid_for, None);
}

#[test]
fn the_leases_of_a_client_that_is_gone_can_be_ended_at_once() {
    let mut world = World::limited(2);
    world.take(1, want(1));
    world.take(2, want(2));
    world.queue(1, want(3));
    world.queue(4, want(4));
    assert!(world.state.end_leases_of(crate::Inbox(1)));
    world.contacts.0.insert(1, Contact::Dead);
    assert_eq!(granted(&world.settle()), [4]);
    assert_eq!(world.holders(), [2, 4]);
    assert!(!world.state.end_leases_of(crate::Inbox(1)));
}

#[test]
fn the_least_margin_of_anybody_here_bounds_the_clock() {
    let mut world = World::limited(2);
    world.take(1, want(1));
    world.take(2, Acquire { ttl: 4 * SECOND, margin: SECOND, ..want(2) });
    for _ in 0..3 {
        world.pass(HOUR);
        assert_eq!(world.holders(), [1, 2]);
    }
    world.pass(HOUR);
    assert_eq!(world.holders(), [1]);
}

#[test]
fn the_clock_of_an_idle_name_runs_freely() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.release(1, 1);
    world.pass(HOUR);
    assert_eq!(world.one(1, release(1)), Reply::Unknown { ticket: ticket_of(1) });
}

#[test]
fn a_request_that_comes_after_its_deadline_is_refused() {
    let mut world = World::limited(1);
    let until = Acquire { not_after: Some(world.now + SECOND), ..want(1) };
    world.now += SECOND + 1;
    assert_eq!(world.acquire(1, until.clone()), Reply::TooLate { ticket: ticket_of(1) });
    assert_eq!(world.holders(), []);
    world.now -= 1;
    world.take(1, until);
}

#[test]
fn a_request_that_comes_late_does_not_change_what_its_ticket_holds() {
    let mut world = World::limited(1);
    let until = Acquire { not_after: Some(world.now), ..want(1) };
    world.take(1, until.clone());
    world.now += 1;
    assert_eq!(world.acquire(1, until), Reply::TooLate { ticket: ticket_of(1) });
    assert_eq!(world.holders(), [1]);
}

#[test]
fn a_ticket_is_refused_for_one_ttl_of_the_ledgers_clock() {
    let mut world = World::limited(2);
    world.take(1, Acquire { margin: TTL, ..want(1) });
    world.take(2, Acquire { ttl: 3 * TTL, margin: TTL, ..want(2) });
    world.release(1, 1);
    world.pass(TTL - 1);
    assert_eq!(world.acquire(1, want(1)), ended(1, Cause::Released));
    world.pass(1);
    world.take(1, want(1));
}
