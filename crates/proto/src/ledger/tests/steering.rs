//! Pausing, evicting, inspecting: what people do to a name.

use std::{string::String, vec};

use super::world::*;
use crate::{Acquire, Busy, Cause, Configure, Enqueue, Fence, Reply, Request, What, time::SECOND};

fn pause(world: &mut World) -> Reply {
    world.one(9, Request::Configure(Configure::Pause(String::from("repairs"))))
}

fn resume() -> Request {
    Request::Configure(Configure::Resume)
}

#[test]
fn a_holder_keeps_its_permit_when_the_name_is_paused_and_nobody_else_is_admitted() {
    let mut world = World::limited(2);
    world.take(1, want(1));
    pause(&mut world);
    world.queue(2, want(2));
    assert_eq!((world.holders(), world.waiters()), (vec![1], vec![2]));
    assert!(matches!(world.renew(1, 1, &[1]), Reply::Tickets { .. }));
    assert_eq!(granted(&world.release(1, 1)), []);
}

#[test]
fn a_request_that_does_not_wait_is_told_that_the_name_is_paused() {
    let mut world = World::limited(2);
    pause(&mut world);
    let reply = world.acquire(1, Acquire { enqueue: Enqueue::No, ..want(1) });
    assert!(matches!(reply, Reply::Busy { why: Busy::Paused, .. }), "{reply:?}");
    assert_eq!(world.snapshot().paused.as_deref(), Some("repairs"));
}

#[test]
fn resuming_serves_the_queue_in_order() {
    let mut world = World::limited(2);
    pause(&mut world);
    for ticket in [1, 2, 3] {
        world.queue(ticket, want(ticket));
    }
    assert_eq!(granted(&world.send(9, vec![resume()])), [1, 2]);
}

#[test]
fn a_pause_stays_when_the_name_is_idle_and_goes_with_the_resume() {
    let mut world = World::new();
    pause(&mut world);
    world.pass(10 * TTL);
    assert!(world.snapshot().paused.is_some());
    world.send(9, vec![resume()]);
    assert!(world.state.is_empty());
}

#[test]
fn an_evicted_holder_is_told_and_its_permits_are_free() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    let outcome = world.send(9, vec![evict(1)]);
    let told = &outcome.wakeups[0];
    assert_eq!((told.inbox.0, &told.what), (1, &What::Ended(Cause::Evicted)));
    assert_eq!(granted(&outcome), [2]);
    assert_eq!(world.acquire(1, want(1)), ended(1, Cause::Evicted));
    assert_eq!(world.one(1, release(1)), ended(1, Cause::Evicted));
}

#[test]
fn an_evicted_waiter_is_told_and_cannot_come_back_with_its_ticket() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    let outcome = world.send(9, vec![evict(2)]);
    assert_eq!(outcome.wakeups[0].what, What::Ended(Cause::Evicted));
    assert_eq!(world.acquire(2, want(2)), ended(2, Cause::Evicted));
}

#[test]
fn only_a_ticket_that_is_here_can_be_evicted() {
    let mut world = World::limited(1);
    assert_eq!(world.one(9, evict(1)), Reply::Unknown { ticket: ticket_of(1) });
}

#[test]
fn a_snapshot_agrees_with_what_was_granted() {
    let mut world = World::limited(3);
    let grant = world.take(1, Acquire { about: String::from("a"), ..permits(1, 2) });
    world.queue(2, Acquire { about: String::from("b"), ..permits(2, 2) });
    world.now += SECOND;
    let seen = world.snapshot();
    let (holder, waiter) = (&seen.holders[0], &seen.waiters[0]);
    assert_eq!((seen.limit, seen.held, seen.holders_total, seen.waiting_total), (3, 2, 1, 1));
    assert_eq!((holder.fence, &holder.slots), (grant.fence, &grant.slots));
    assert_eq!((holder.held_for, holder.about.as_str()), (SECOND, "a"));
    assert_eq!((waiter.permits, waiter.waiting_for, waiter.about.as_str()), (2, SECOND, "b"));
}

#[test]
fn a_snapshot_lists_as_many_as_asked_for_and_counts_all() {
    let mut world = World::limited(5);
    for ticket in 1..=9 {
        world.acquire(1, want(ticket));
    }
    let Reply::Snapshot(seen) = world.one(9, Request::Inspect { rows: 2 }) else { panic!() };
    assert_eq!((seen.holders.len(), seen.waiters.len()), (2, 2));
    assert_eq!((seen.holders_total, seen.waiting_total), (5, 4));
    assert!(seen.holders.is_sorted_by_key(|row| row.fence));
    assert_ne!(seen.holders[0].fence, Fence(0));
}

#[test]
fn a_snapshot_never_shows_what_has_run_out() {
    let mut world = World::limited(1);
    world.take(1, Acquire { ttl: SECOND, ..want(1) });
    world.now += SECOND;
    assert_eq!(world.holders(), []);
}
