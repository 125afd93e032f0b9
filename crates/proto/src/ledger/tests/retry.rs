//! Rule 9: whatever is sent twice happens once.

use std::{vec, vec::Vec};

use super::world::*;
use crate::{Cause, Configure, Limit, Reply, Request};

/// Sends the requests twice and returns both sets of replies.
fn twice(world: &mut World, client: u128, requests: Vec<Request>) -> [Vec<Reply>; 2] {
    let first = world.send(client, requests.clone()).replies.replies;
    [first, world.send(client, requests).replies.replies]
}

#[test]
fn the_same_acquire_twice_is_one_grant() {
    let mut world = World::limited(2);
    let [first, second] = twice(&mut world, 1, vec![Request::Acquire(want(1))]);
    assert_eq!(first, second);
    assert_eq!(world.snapshot().held, 1);
}

#[test]
fn the_same_acquire_twice_is_one_place() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    let [first, second] = twice(&mut world, 2, vec![Request::Acquire(want(2))]);
    assert_eq!(first, second);
    assert_eq!(world.waiters(), [2]);
}

#[test]
fn an_acquire_whose_grant_was_not_heard_is_told_of_it() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    world.release(1, 1);
    assert_eq!(world.take(2, want(2)).fence, world.snapshot().holders[0].fence);
}

#[test]
fn a_duplicate_acquire_after_the_release_makes_no_lease() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.release(1, 1);
    assert_eq!(world.acquire(1, want(1)), ended(1, Cause::Released));
    assert_eq!(world.holders(), []);
}

#[test]
fn every_other_request_sent_twice_is_answered_as_if_sent_once() {
    let limit = Limit::new(5).unwrap();
    let requests = [
        renew(1, &[1, 2, 3]),
        renew_all(1, &[1], TTL),
        release_slots(1, "0"),
        cancel(2),
        evict(3),
        Request::Configure(Configure::Limit(limit)),
        Request::Configure(Configure::Resume),
        Request::Inspect { rows: 9 },
    ];
    for request in requests {
        let mut world = World::limited(4);
        world.take(1, permits(1, 3));
        world.take(3, want(3));
        world.queue(2, want(2));
        let [first, second] = twice(&mut world, 1, vec![request.clone()]);
        assert_eq!(first, second, "{request:?}");
    }
}
