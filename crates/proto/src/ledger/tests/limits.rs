//! Rule 11: one truth about the limit.

use std::vec;

use super::world::*;
use crate::{Acquire, Busy, Cause, Configure, Enqueue, OnMismatch, Reply, Request, Ticket, What};

#[test]
fn the_limit_of_a_name_that_nobody_gave_one_is_one() {
    let mut world = World::new();
    world.take(1, ask(1));
    world.queue(2, ask(2));
    assert_eq!(world.snapshot().limit, 1);
}

#[test]
fn the_first_to_state_a_limit_stores_it() {
    let mut world = World::new();
    world.take(1, stating(1, 3, OnMismatch::Refuse));
    world.take(2, ask(2));
    assert_eq!(world.snapshot().limit, 3);
}

#[test]
fn the_limit_that_nobody_stated_contradicts_nobody() {
    let mut world = World::new();
    world.take(1, ask(1));
    world.queue(2, ask(2));
    let outcome = world.send(3, vec![Request::Acquire(stating(3, 3, OnMismatch::Refuse))]);
    assert_eq!(granted(&outcome), [2]);
    assert_eq!((world.snapshot().limit, world.holders()), (3, vec![1, 2, 3]));
}

#[test]
fn who_states_another_limit_is_told_both() {
    let mut world = World::limited(3);
    let other = Reply::OtherLimit { ticket: Ticket(1), stored: 3, stated: 2 };
    assert_eq!(world.acquire(1, stating(1, 2, OnMismatch::Refuse)), other);
    assert_eq!(world.holders(), []);
}

#[test]
fn who_adopts_goes_by_the_stored_limit() {
    let mut world = World::limited(3);
    assert_eq!(world.take(1, stating(1, 1, OnMismatch::Adopt)).limit, 3);
}

#[test]
fn who_sets_changes_the_limit_and_serves_who_waits() {
    let mut world = World::limited(1);
    world.take(1, ask(1));
    world.queue(2, ask(2));
    let outcome = world.send(3, vec![Request::Acquire(stating(3, 3, OnMismatch::Set))]);
    assert_eq!(granted(&outcome), [2]);
    assert_eq!((world.snapshot().limit, world.holders()), (3, vec![1, 2, 3]));
}

#[test]
fn a_limit_that_was_only_stated_holds_for_the_next_and_goes_with_the_last_memory() {
    let mut world = World::new();
    world.take(1, stating(1, 3, OnMismatch::Refuse));
    world.release(1, 1);
    let other = Reply::OtherLimit { ticket: Ticket(2), stored: 3, stated: 2 };
    assert_eq!(world.acquire(2, stating(2, 2, OnMismatch::Refuse)), other);
    world.pass(TTL);
    assert_eq!(world.take(2, stating(2, 2, OnMismatch::Refuse)).limit, 2);
}

#[test]
fn a_limit_that_was_unpinned_goes_with_the_last_memory() {
    let mut world = World::limited(3);
    world.take(1, ask(1));
    world.one(9, Request::Configure(Configure::Unpin));
    world.release(1, 1);
    assert_eq!(world.snapshot().limit, 3);
    world.pass(TTL);
    assert!(world.state.is_empty());
}

#[test]
fn more_permits_than_exist_are_refused_at_once() {
    let mut world = World::limited(3);
    let too_many = Reply::TooMany { ticket: Ticket(1), permits: 4, limit: 3 };
    assert_eq!(world.acquire(1, permits(1, 4)), too_many);
    assert_eq!(world.waiters(), []);
}

#[test]
fn lowering_the_limit_evicts_nobody_and_admits_nobody_until_it_fits() {
    let mut world = World::limited(3);
    for ticket in 1..=3 {
        world.take(1, ask(ticket));
    }
    world.queue(4, ask(4));
    world.resize(1);
    assert_eq!(world.holders(), [1, 2, 3]);
    assert_eq!(granted(&world.release(1, 1)), []);
    assert_eq!(granted(&world.release(1, 2)), []);
    assert_eq!(granted(&world.release(1, 3)), [4]);
}

#[test]
fn a_waiter_that_can_never_be_served_any_more_is_told() {
    let mut world = World::limited(3);
    world.take(1, ask(1));
    world.queue(2, permits(2, 3));
    world.queue(3, ask(3));
    let outcome = world.resize(2);
    assert_eq!(outcome.wakeups[0].what, What::Ended(Cause::TooMany));
    assert_eq!(granted(&outcome), [3]);
    assert_eq!(world.acquire(2, permits(2, 3)), ended(2, Cause::TooMany));
}

#[test]
fn a_limit_of_zero_admits_nobody_and_keeps_the_queue() {
    let mut world = World::limited(0);
    world.queue(1, permits(1, 2));
    world.queue(2, ask(2));
    assert_eq!(granted(&world.resize(3)), [1, 2]);
}

#[test]
fn a_refused_request_stores_no_limit() {
    let mut world = World::limited(2);
    world.take(1, permits(1, 2));
    let impatient = Acquire { enqueue: Enqueue::No, ..ask(2) };
    let reply = world.acquire(2, impatient);
    assert!(matches!(reply, Reply::Busy { why: Busy::Full, limit: 2, held: 2, .. }), "{reply:?}");
}

#[test]
fn who_does_not_wait_at_a_limit_of_zero_leaves_nothing_behind() {
    let mut world = World::new();
    let impatient = Acquire { enqueue: Enqueue::No, ..stating(1, 0, OnMismatch::Refuse) };
    world.acquire(1, impatient);
    assert!(world.state.is_empty());
}
