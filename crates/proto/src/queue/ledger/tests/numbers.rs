//! Rule 10 for queues: items and deliveries have numbers that only grow.

use super::world::*;
use crate::{
    queue::{Batch, Delivery, How, Request},
    time::{LONGEST_OWED, SECOND},
};

const HOUR: u64 = 3_600 * SECOND;

/// Pushes an item, works on it and acknowledges it.
fn round(world: &mut World) -> Delivery {
    world.push(item("a"));
    let delivery = world.pop(2, 1).remove(0).delivery;
    world.finish(2, delivery, How::Acknowledge);
    delivery
}

/// Handles everything that is due, in a batch that the ledger does not remember.
fn pass_by(world: &mut World) {
    let batch = world.batch(97, [].to_vec());
    world.execute(&Batch { number: 0, ..batch });
}

/// A client that was connected while the store's clock was an hour ahead has seen a number an hour
/// ahead. When its session is forgotten, other sessions begin with the number that the queue
/// remembers.
#[test]
fn numbers_grow_over_an_idle_time_though_the_last_one_was_ahead_of_the_clock() {
    let mut world = World::new();
    world.seen = world.now + HOUR;
    let before = round(&mut world);
    world.seen = 0;
    world.pass(60 * SECOND);
    pass_by(&mut world);
    let after = round(&mut world);
    assert!(after.id > before.id && after.fence > before.fence, "{before:?}, then {after:?}");
}

#[test]
fn a_queue_is_forgotten_when_the_clock_has_passed_its_last_number_and_not_before() {
    let mut world = World::new();
    world.seen = world.now + HOUR;
    let last = round(&mut world).fence.0;
    world.seen = 0;
    for (now, is_kept) in [(world.now + 60 * SECOND, true), (last, true), (last + 1, false)] {
        world.now = now;
        pass_by(&mut world);
        assert_eq!(!world.state.is_empty(), is_kept, "at {now}, the last number is {last}");
    }
}

#[test]
fn a_queue_whose_last_number_is_days_ahead_is_not_kept() {
    let mut world = World::new();
    world.seen = world.now + LONGEST_OWED + HOUR;
    round(&mut world);
    world.seen = 0;
    world.pass(60 * SECOND);
    pass_by(&mut world);
    assert!(world.state.is_empty());
}

#[test]
fn a_number_that_a_client_claims_to_have_seen_makes_no_queue() {
    let mut world = World::new();
    world.seen = world.now + HOUR;
    let look = world.batch(97, [Request::Inspect { rows: 1 }].to_vec());
    world.execute(&Batch { number: 0, ..look });
    assert!(world.state.is_empty());
}
