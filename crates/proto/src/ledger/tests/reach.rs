//! Rules 7 and 8: clients that cannot be reached.

use std::vec;

use super::world::*;
use crate::{
    Acquire, Contact, Reply, Request,
    time::{SECOND, WAITER_TTL},
};

#[test]
fn a_waiter_that_cannot_be_reached_is_passed_over() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    world.queue(3, want(3));
    world.contacts.0.insert(2, Contact::Silent);
    assert_eq!(granted(&world.release(1, 1)), [3]);
    let row = world.snapshot().waiters[0].clone();
    assert_eq!((number_of(row.ticket), row.unreachable), (2, true));
}

#[test]
fn a_large_waiter_that_cannot_be_reached_does_not_block_the_queue() {
    let mut world = World::limited(2);
    world.take(1, want(1));
    world.queue(2, permits(2, 2));
    world.contacts.0.insert(2, Contact::Silent);
    world.take(3, want(3));
}

#[test]
fn a_waiter_that_was_passed_over_keeps_its_place_for_when_it_is_back() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    for ticket in [2, 3, 4] {
        world.queue(ticket, want(ticket));
    }
    world.contacts.0.insert(2, Contact::Silent);
    world.release(1, 1);
    world.contacts.0.clear();
    world.queue(2, want(2));
    assert_eq!(world.waiters(), [2, 4]);
}

#[test]
fn a_waiter_that_was_passed_over_loses_its_place_when_its_lease_ends() {
    let mut world = World::limited(1);
    world.take(1, Acquire { margin: TTL, ..want(1) });
    world.queue(2, Acquire { margin: TTL, ..want(2) });
    world.queue(3, Acquire { waiter_ttl: TTL, margin: TTL, ..want(3) });
    world.contacts.0.insert(2, Contact::Silent);
    world.release(1, 1);
    world.pass(WAITER_TTL);
    assert_eq!((world.holders(), world.waiters()), (vec![3], vec![]));
}

#[test]
fn a_waiter_that_was_passed_over_and_asks_again_is_served_if_there_is_room() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    world.contacts.0.insert(2, Contact::Silent);
    world.release(1, 1);
    world.take(2, want(2));
}

#[test]
fn a_waiter_whose_process_is_gone_is_dropped_at_its_turn() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    world.queue(3, want(3));
    world.contacts.0.insert(2, Contact::Dead);
    assert_eq!(granted(&world.release(1, 1)), [3]);
    assert_eq!(world.waiters(), []);
}

#[test]
fn a_waiter_without_an_inbox_is_served_in_its_turn() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(0, want(2));
    world.queue(3, want(3));
    assert!(world.release(1, 1).wakeups.is_empty());
    assert_eq!(world.holders(), [2]);
}

#[test]
fn renewing_a_lease_under_which_a_waiter_is_passed_over_says_that_something_differs() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(of(7, 1)));
    world.queue(2, want(of(7, 2)));
    world.contacts.0.insert(2, Contact::Silent);
    world.release(1, 1);
    world.contacts.0.clear();
    assert_eq!(world.one(2, renew_places(7, &[of(7, 1), of(7, 2)])), Reply::Differs);
}

#[test]
fn losing_every_wakeup_costs_no_more_than_the_next_look() {
    let mut world = World::limited(1);
    world.take(1, Acquire { ttl: SECOND, ..want(1) });
    let asked = world.send(2, vec![Request::Acquire(want(2))]).replies;
    world.now += asked.look_in.unwrap();
    world.take(2, want(2));
}

#[test]
fn a_wakeup_does_not_repeat_what_the_reply_says() {
    let mut world = World::limited(1);
    world.take(1, Acquire { ttl: SECOND, ..want(1) });
    world.queue(2, want(2));
    world.now += SECOND;
    let outcome = world.send(2, vec![Request::Acquire(want(2))]);
    assert_eq!(granted(&outcome), []);
    assert!(matches!(outcome.replies.replies[0], Reply::Granted(_)));
}

/// Returns a world in which the kernel vouches for clients 1 to 3. Client 1 holds, and clients 2
/// and 3 stand in line.
fn vouched() -> World {
    let mut world = World::limited(1);
    for client in 1..=3 {
        world.contacts.0.insert(client, Contact::Alive);
    }
    world.take(1, want(1));
    world.queue(2, want(2));
    world.queue(3, want(3));
    world
}

/// Lets time pass, in steps in which client 3 renews its place.
fn wait(world: &mut World, time: crate::time::Micros) {
    for _ in 0..time / SECOND {
        world.now += SECOND;
        world.acquire(3, want(3));
    }
}

#[test]
fn a_client_that_confirmed_its_grant_keeps_it_for_as_long_as_it_lives() {
    let mut world = vouched();
    world.release(1, 1);
    assert_eq!(
        world.snapshot().holders[0].valid_for,
        Some(WAITER_TTL),
        "until the client is heard from"
    );
    assert_eq!(world.take(2, want(2)).valid_for, None);
    assert_eq!(world.snapshot().holders[0].valid_for, None);
    wait(&mut world, 20 * TTL);
    assert_eq!(world.holders(), [2]);
}

#[test]
fn a_live_client_that_does_not_confirm_its_grant_has_it_no_longer_than_its_place() {
    let mut world = vouched();
    world.release(1, 1);
    wait(&mut world, WAITER_TTL - SECOND);
    assert_eq!(world.holders(), [2]);
    wait(&mut world, 3 * SECOND);
    assert_eq!(world.holders(), [3]);
}

#[test]
fn a_live_client_that_does_not_renew_its_place_is_not_waited_for() {
    let mut world = vouched();
    wait(&mut world, WAITER_TTL + 3 * SECOND);
    assert_eq!(world.waiters(), [3]);
    assert_eq!(granted(&world.release(1, 1)), [3]);
}

#[test]
fn a_client_that_takes_another_permit_has_been_heard_from() {
    let mut world = vouched();
    world.release(1, 1);
    world.resize(2);
    world.one(3, release(3));
    world.take(2, want(of(2, 2)));
    world.pass(20 * TTL);
    assert_eq!(world.holders(), [2, of(2, 2)]);
}
