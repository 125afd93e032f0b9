//! A store that may have forgotten leases admits nobody until they have ended.

use std::vec;

use super::world::*;
use crate::{
    Acquire, Busy, Enqueue, Reply, Request, TicketReply,
    time::{MILLISECOND, SECOND},
};

fn guarded(limit: u32) -> World {
    let mut world = World::limited(limit);
    world.contacts.1 = Some(20 * SECOND);
    world
}

#[test]
fn nobody_is_admitted_while_the_store_is_guarded_whatever_is_free() {
    let mut world = guarded(5);
    world.queue(1, want(1));
    world.queue(2, permits(2, 3));
    assert_eq!(granted(&world.resize(9)), []);
    assert_eq!((world.holders(), world.waiters()), (vec![], vec![1, 2]));
    world.contacts.1 = None;
    assert_eq!(granted(&world.settle()), [1, 2]);
}

#[test]
fn a_release_hands_nothing_on_while_the_store_is_guarded() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    world.contacts.1 = Some(SECOND);
    assert_eq!(granted(&world.release(1, 1)), []);
    world.contacts.1 = None;
    assert_eq!(granted(&world.settle()), [2]);
}

#[test]
fn a_request_that_does_not_wait_is_told_that_the_store_is_guarded() {
    let mut world = guarded(1);
    let reply = world.acquire(1, Acquire { enqueue: Enqueue::No, ..want(1) });
    assert!(matches!(reply, Reply::Busy { why: Busy::Guarded, held: 0, .. }), "{reply:?}");
    assert_eq!(world.snapshot().guarded_for, Some(20 * SECOND));
}

#[test]
fn known_tickets_are_renewed_and_released_and_unknown_ones_are_gone() {
    let mut world = World::limited(3);
    let grant = world.take(1, want(1));
    world.contacts.1 = Some(SECOND);
    let again = world.take(1, want(1));
    assert_eq!((again.fence, again.slots), (grant.fence, grant.slots));
    let reply = world.one(1, renew_all(1, &[1], TTL));
    assert_eq!(reply, Reply::Renewed { valid_for: Some(TTL) });
    assert_eq!(world.one(2, renew_all(7, &[7], TTL)), Reply::Gone);
    let reply = world.renew(2, 7, &[7]);
    let Reply::Tickets { tickets, .. } = reply else { panic!("{reply:?}") };
    assert_eq!(tickets, [TicketReply::Unknown]);
    assert_eq!(world.one(1, release(1)), released(1, 0));
    let unknown = Reply::Unknown { ticket: ticket_of(7) };
    assert_eq!(world.one(2, release(7)), unknown);
}

#[test]
fn the_first_in_line_looks_again_when_the_guard_ends() {
    let mut world = guarded(1);
    world.contacts.1 = Some(3 * MILLISECOND);
    let outcome = world.send(1, vec![Request::Acquire(want(1))]);
    assert_eq!(outcome.replies.look_in, Some(3 * MILLISECOND));
}
