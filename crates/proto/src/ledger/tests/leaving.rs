//! Rules 9 and 14: releasing and cancelling name the ticket.

use std::{string::ToString, vec};

use super::world::*;
use crate::{Cause, Reply, Request};

#[test]
fn releasing_twice_releases_once() {
    let mut world = World::limited(2);
    world.take(1, want(1));
    world.take(2, want(2));
    assert_eq!(world.one(1, release(1)), released(1, 0));
    assert_eq!(world.one(1, release(1)), ended(1, Cause::Released));
    assert_eq!(world.snapshot().held, 1);
}

#[test]
fn a_delayed_release_does_not_free_the_next_permit_of_the_same_client() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.release(1, 1);
    world.take(1, want(2));
    world.release(1, 1);
    assert_eq!(world.holders(), [2]);
}

#[test]
fn releasing_what_has_run_out_does_not_free_the_permit_of_another() {
    let mut world = World::limited(1);
    world.take(0, want(1));
    world.pass(TTL);
    world.take(2, want(2));
    assert_eq!(world.one(0, release(1)), ended(1, Cause::Expired));
    assert_eq!(world.holders(), [2]);
}

#[test]
fn releasing_an_unknown_ticket_changes_nothing() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    assert_eq!(world.one(1, release(7)), Reply::Unknown { ticket: ticket_of(7) });
    assert_eq!(world.holders(), [1]);
}

#[test]
fn some_slots_can_be_given_back() {
    let mut world = World::limited(3);
    world.take(1, permits(1, 3));
    world.queue(2, want(2));
    world.queue(3, want(3));
    let outcome = world.send(1, vec![release_slots(1, "0,2")]);
    assert_eq!(outcome.replies.replies, [released(1, 1)]);
    assert_eq!(granted(&outcome), [2, 3]);
    assert_eq!(world.snapshot().holders[0].slots.to_string(), "1");
}

#[test]
fn giving_back_the_same_slots_twice_gives_them_back_once() {
    let mut world = World::limited(3);
    world.take(1, permits(1, 3));
    for _ in 0..2 {
        assert_eq!(world.one(1, release_slots(1, "0")), released(1, 2));
    }
    assert_eq!(world.snapshot().held, 2);
}

#[test]
fn slots_that_are_held_by_another_are_passed_over() {
    let mut world = World::limited(3);
    world.take(1, want(1));
    world.take(2, permits(2, 2));
    assert_eq!(world.one(1, release_slots(1, "1-2")), released(1, 1));
    assert_eq!(world.snapshot().held, 3);
}

#[test]
fn giving_back_all_slots_is_a_release() {
    let mut world = World::limited(3);
    world.take(1, permits(1, 2));
    assert_eq!(world.one(1, release_slots(1, "0-5")), released(1, 0));
    assert_eq!(world.one(1, release_slots(1, "0-5")), ended(1, Cause::Released));
}

#[test]
fn a_waiter_that_cancels_is_gone_and_nobody_is_granted_in_its_name() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    assert_eq!(world.one(2, cancel(2)), Reply::Cancelled { ticket: ticket_of(2) });
    assert_eq!(granted(&world.release(1, 1)), []);
}

#[test]
fn a_cancel_that_crosses_the_grant_gives_the_permit_back() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    world.queue(3, want(3));
    world.release(1, 1);
    assert_eq!(granted(&world.send(2, vec![cancel(2)])), [3]);
}

#[test]
fn a_cancel_that_overtakes_its_acquire_is_remembered() {
    let mut world = World::limited(1);
    world.one(1, cancel(1));
    assert_eq!(world.acquire(1, want(1)), ended(1, Cause::Cancelled));
    world.pass(TTL);
    world.take(1, want(1));
}

#[test]
fn cancelling_what_was_released_leaves_it_released() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.release(1, 1);
    assert_eq!(world.one(1, cancel(1)), Reply::Cancelled { ticket: ticket_of(1) });
    assert_eq!(world.acquire(1, want(1)), ended(1, Cause::Released));
}

#[test]
fn releasing_a_ticket_that_waits_takes_it_out_of_the_queue() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    let both = world.send(2, vec![release(2), Request::Acquire(want(2))]).replies.replies;
    assert_eq!(both, [released(2, 0), ended(2, Cause::Released)]);
}
