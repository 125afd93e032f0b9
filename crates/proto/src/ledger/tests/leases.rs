//! Rules 3, 8 and 12: leases, places and memories that time ends.

use std::vec;

use super::world::*;
use crate::{
    Acquire, Cause, Reply, Request, What,
    time::{Micros, SECOND, WAITER_TTL},
};

fn lasting(ticket: u128, ttl: Micros) -> Acquire {
    Acquire { ttl, margin: TTL, ..want(ticket) }
}

#[test]
fn a_lease_that_is_not_renewed_ends_and_not_a_moment_sooner() {
    let mut world = World::limited(1);
    world.take(1, lasting(1, TTL));
    world.pass(TTL - 1);
    assert_eq!(world.holders(), [1]);
    let outcome = world.pass(1);
    assert_eq!(outcome.wakeups[0].what, What::Ended(Cause::Expired));
    assert_eq!(world.holders(), []);
}

#[test]
fn each_lease_has_the_length_its_holder_named() {
    let mut world = World::limited(3);
    world.take(1, lasting(1, 10 * SECOND));
    world.take(2, lasting(2, SECOND));
    world.take(3, lasting(3, 5 * SECOND));
    world.pass(SECOND);
    assert_eq!(world.holders(), [1, 3]);
    world.pass(4 * SECOND);
    assert_eq!(world.holders(), [1]);
}

#[test]
fn a_short_ttl_of_one_caller_does_not_shorten_the_lease_of_another() {
    let mut world = World::limited(2);
    world.take(1, lasting(1, TTL));
    world.take(2, lasting(2, SECOND));
    world.pass(2 * SECOND);
    assert_eq!(world.holders(), [1]);
}

#[test]
fn a_client_that_lost_its_lease_is_told_when_it_comes_back() {
    let mut world = World::limited(1);
    world.take(1, lasting(1, TTL));
    world.pass(TTL);
    assert_eq!(world.acquire(1, lasting(1, TTL)), ended(1, Cause::Expired));
    assert_eq!(world.one(1, release(1)), ended(1, Cause::Expired));
}

#[test]
fn a_place_in_the_queue_ends_with_its_own_short_lease() {
    let mut world = World::limited(1);
    world.take(1, lasting(1, 2 * TTL));
    world.queue(2, want(2));
    world.last(WAITER_TTL / 2);
    world.queue(3, want(3));
    world.last(WAITER_TTL / 2);
    assert_eq!(world.waiters(), [3]);
}

#[test]
fn a_waiter_that_is_heard_from_keeps_its_place() {
    let mut world = World::limited(1);
    world.take(1, lasting(1, 4 * TTL));
    world.queue(2, want(2));
    world.queue(3, want(3));
    for _ in 0..6 {
        world.now += WAITER_TTL / 3;
        world.queue(2, want(2));
        world.queue(3, want(3));
    }
    assert_eq!(world.waiters(), [2, 3]);
}

#[test]
fn a_waiter_that_was_not_heard_from_may_ask_again_at_the_end_of_the_line() {
    let mut world = World::limited(1);
    world.take(1, lasting(1, 4 * TTL));
    world.queue(2, want(2));
    world.last(WAITER_TTL / 2);
    world.queue(3, want(3));
    world.last(WAITER_TTL / 2);
    world.queue(2, want(2));
    assert_eq!(world.waiters(), [3, 2]);
}

#[test]
fn what_stands_under_one_lease_ends_together() {
    let mut world = World::limited(3);
    for member in 1..=3 {
        world.take(1, lasting(of(7, member), TTL));
    }
    world.pass(TTL);
    assert_eq!(world.holders(), []);
}

#[test]
fn a_permit_that_joins_a_lease_is_valid_for_the_rest_of_that_lease() {
    let mut world = World::limited(2);
    world.take(1, lasting(of(7, 1), TTL));
    world.now += SECOND;
    let grant = world.take(1, lasting(of(7, 2), TTL));
    assert_eq!(grant.valid_for, Some(TTL - SECOND));
}

#[test]
fn a_permit_that_is_handed_on_lasts_no_longer_than_the_place_of_the_waiter() {
    let mut world = World::limited(1);
    world.take(1, lasting(1, TTL));
    world.queue(2, want(2));
    world.last(5 * SECOND);
    world.release(1, 1);
    assert_eq!(world.snapshot().holders[0].valid_for, Some(WAITER_TTL - 5 * SECOND));
}

#[test]
fn a_waiter_that_stopped_costs_those_behind_it_no_more_than_its_place_lasted() {
    let mut world = World::limited(1);
    world.take(1, lasting(1, TTL));
    world.queue(2, want(2)); // and is never heard from again
    world.last(10 * SECOND);
    world.queue(3, want(3));
    world.release(1, 1);
    assert_eq!(world.holders(), [2]);
    world.last(WAITER_TTL - 11 * SECOND);
    assert_eq!(world.holders(), [2]);
    world.last(SECOND);
    assert_eq!(world.holders(), [3]);
}

#[test]
fn a_name_that_nobody_needs_any_more_costs_nothing() {
    let mut world = World::new();
    world.take(1, want(1));
    world.queue(2, want(2));
    world.release(1, 1);
    world.release(2, 2);
    assert!(!world.state.is_empty(), "released tickets are remembered");
    world.pass(TTL);
    assert!(world.state.is_empty());
}

#[test]
fn what_was_configured_on_purpose_stays() {
    let mut world = World::limited(4);
    world.take(1, want(1));
    world.release(1, 1);
    world.pass(10 * TTL);
    assert_eq!((world.snapshot().limit, world.snapshot().pinned), (4, Some(4)));
}

#[test]
fn looking_at_a_name_does_not_make_it() {
    let mut world = World::new();
    world.snapshot();
    world.one(1, release(1));
    world.one(1, evict(1));
    world.renew(1, 1, &[1]);
    assert!(world.state.is_empty());
}

#[test]
fn the_first_in_line_is_told_when_to_look_again() {
    let mut world = World::limited(1);
    world.take(1, lasting(1, 2 * SECOND));
    let first = world.send(2, vec![Request::Acquire(want(2))]).replies;
    assert_eq!(first.look_in, Some(SECOND), "the ledger's clock advances by a second at most");
    let second = world.send(3, vec![Request::Acquire(want(3))]).replies;
    assert_eq!(second.look_in, None);
}

#[test]
fn the_look_comes_in_time_to_keep_the_clock_at_full_speed() {
    let mut world = World::limited(1);
    world.take(1, Acquire { margin: SECOND, ..want(1) });
    let replies = world.send(2, vec![Request::Acquire(want(2))]).replies;
    assert_eq!(replies.look_in, Some(SECOND));
    for _ in 0..TTL / SECOND {
        world.now += SECOND;
        world.acquire(2, want(2));
    }
    assert_eq!(world.holders(), [2]);
}

#[test]
fn a_grant_says_how_long_it_is_valid() {
    let mut world = World::limited(1);
    let Reply::Granted(grant) = world.acquire(1, want(1)) else { panic!("free") };
    assert_eq!(grant.valid_for, Some(TTL));
}
