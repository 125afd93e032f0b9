//! Rules 1, 5 and 6: which waiter is served, and when.

use std::{vec, vec::Vec};

use super::world::*;
use crate::{
    Acquire, Busy, Enqueue, Priority, Reply, Request,
    time::{SECOND, UNBOUNDED},
};

fn first_class(ticket: u128, priority: i32) -> Acquire {
    Acquire { priority: Priority::new(priority).unwrap(), margin: UNBOUNDED, ..want(ticket) }
}

/// Frees a permit in some way and names the tickets granted by it.
type Free = fn(&mut World) -> Vec<u128>;

#[test]
fn no_more_than_the_limit_hold() {
    let mut world = World::limited(2);
    world.take(1, want(1));
    world.take(2, want(2));
    world.queue(3, want(3));
    assert_eq!(world.snapshot().held, 2);
}

#[test]
fn waiters_are_served_in_the_order_of_their_requests() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    for ticket in [5, 3, 4] {
        world.queue(ticket, want(ticket));
    }
    assert_eq!(granted(&world.release(1, 1)), [5]);
    assert_eq!(granted(&world.release(5, 5)), [3]);
    assert_eq!(granted(&world.release(3, 3)), [4]);
}

#[test]
fn a_large_request_at_the_head_is_not_passed_by_small_ones() {
    let mut world = World::limited(3);
    world.take(1, permits(1, 2));
    world.queue(2, permits(2, 3));
    world.queue(3, want(3));
    assert_eq!(world.holders(), [1]);
    assert_eq!(granted(&world.release(1, 1)), [2]);
    assert_eq!(granted(&world.release(2, 2)), [3]);
}

#[test]
fn a_newcomer_does_not_pass_a_waiter() {
    let mut world = World::limited(3);
    world.take(1, permits(1, 2));
    world.queue(2, permits(2, 3));
    let impatient = Acquire { enqueue: Enqueue::No, ..want(3) };
    let busy = Reply::Busy { ticket: ticket_of(3), why: Busy::Full, limit: 3, held: 2, waiting: 1 };
    assert_eq!(world.acquire(3, impatient), busy);
}

#[test]
fn a_release_grants_to_as_many_as_fit() {
    let mut world = World::limited(3);
    world.take(1, permits(1, 3));
    world.queue(2, want(2));
    world.queue(3, permits(3, 2));
    world.queue(4, want(4));
    assert_eq!(granted(&world.release(1, 1)), [2, 3]);
}

#[test]
fn a_release_wakes_the_winner_only() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    for ticket in 2..10 {
        world.queue(ticket, want(ticket));
    }
    let wakeups = world.release(1, 1).wakeups;
    assert_eq!(wakeups.len(), 1);
    assert_eq!((wakeups[0].inbox.0, number_of(wakeups[0].ticket)), (2, 2));
}

#[test]
fn higher_priority_comes_first() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, first_class(2, -1));
    world.queue(3, first_class(3, 0));
    world.queue(4, first_class(4, 1));
    assert_eq!(world.waiters(), [4, 3, 2]);
}

#[test]
fn ten_seconds_of_waiting_outweigh_one_step_of_priority() {
    let mut world = World::limited(1);
    world.take(1, first_class(1, 0));
    let patient = Acquire { waiter_ttl: TTL, ..first_class(2, 0) };
    world.queue(2, patient);
    world.pass(10 * SECOND - 2);
    world.queue(3, first_class(3, 1));
    assert_eq!(world.waiters(), [3, 2]);
    world.pass(2);
    world.queue(4, first_class(4, 1));
    assert_eq!(world.waiters(), [3, 2, 4]);
}

#[test]
fn nobody_starves_behind_a_stream_of_higher_priority() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, first_class(2, 0));
    let (mut holder, mut turns) = (1, 0);
    while holder != 2 {
        let newcomer = 100 + turns;
        world.queue(newcomer, first_class(newcomer, 5));
        world.last(5 * SECOND);
        world.acquire(2, first_class(2, 0));
        holder = granted(&world.release(holder, holder))[0];
        turns += 1;
        assert!(turns < 20, "passed twenty times");
    }
    assert!(turns > 2, "priority counted for nothing");
}

#[test]
fn expiry_cancel_evict_resize_and_resume_grant_as_release_does() {
    let frees: [(&str, Free); 4] = [
        ("expiry", |world| granted(&world.pass(TTL))),
        ("cancel", |world| granted(&world.send(1, vec![cancel(1)]))),
        ("evict", |world| granted(&world.send(9, vec![evict(1)]))),
        ("resize", |world| granted(&world.resize(2))),
    ];
    for (what, free) in frees {
        let mut world = World::limited(1);
        world.take(1, Acquire { margin: TTL, ..want(1) });
        world.queue(2, Acquire { waiter_ttl: 2 * TTL, margin: TTL, ..want(2) });
        assert_eq!(free(&mut world), [2], "{what}");
    }
}

#[test]
fn cancelling_the_large_one_at_the_head_lets_the_small_ones_in() {
    let mut world = World::limited(2);
    world.take(1, want(1));
    world.queue(2, permits(2, 2));
    world.queue(3, want(3));
    assert_eq!(granted(&world.send(2, vec![cancel(2)])), [3]);
}

#[test]
fn what_a_batch_frees_its_later_requests_can_take() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    let replies = world.send(1, vec![release(1), Request::Acquire(want(2))]).replies.replies;
    assert!(matches!(replies[1], Reply::Granted(_)), "{replies:?}");
}

#[test]
fn only_as_many_wait_as_the_caller_allows() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    let short = Acquire { enqueue: Enqueue::Yes { max_waiting: Some(1) }, ..want(3) };
    let reply = world.acquire(3, short);
    assert!(
        matches!(reply, Reply::Busy { why: Busy::TooManyWaiting, waiting: 1, .. }),
        "{reply:?}"
    );
    let longer = Acquire { enqueue: Enqueue::Yes { max_waiting: Some(2) }, ..want(3) };
    world.queue(3, longer);
}
