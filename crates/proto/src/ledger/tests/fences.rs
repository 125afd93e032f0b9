//! Rule 10: fences and slots.

use std::{collections::BTreeMap, string::ToString, vec};

use super::world::*;
use crate::{
    MemoryState, OnMismatch,
    time::{LONGEST_OWED, SECOND},
};

#[test]
fn every_grant_has_a_greater_fence() {
    let mut world = World::limited(3);
    let mut last = 0;
    for ticket in 1..20 {
        let fence = world.take(1, want(ticket)).fence.0;
        assert!(fence > last);
        last = fence;
        if ticket > 2 {
            world.release(1, ticket - 2);
        }
    }
}

#[test]
fn two_grants_in_one_step_have_two_fences() {
    let mut world = World::limited(2);
    world.take(1, permits(1, 2));
    world.queue(2, want(2));
    world.queue(3, want(3));
    world.release(1, 1);
    let fences: BTreeMap<_, _> =
        world.snapshot().holders.iter().map(|row| (row.fence, row.ticket)).collect();
    assert_eq!(fences.len(), 2);
}

#[test]
fn fences_grow_over_an_idle_time_in_which_the_name_was_forgotten() {
    let mut world = World::new();
    let before = world.take(1, want(1)).fence;
    world.release(1, 1);
    world.pass(TTL);
    assert!(world.state.is_empty());
    assert!(world.take(1, want(2)).fence > before);
}

/// This happened on a server whose clock was an hour ahead for a while.
#[test]
fn fences_grow_over_an_idle_time_though_the_clock_was_set_back_before_it() {
    let mut world = World::new();
    world.now += 3_600 * SECOND;
    world.take(1, want(1));
    world.now -= 3_600 * SECOND;
    world.release(1, 1);
    let before = world.take(1, want(2)).fence;
    world.release(1, 2);
    world.pass(TTL);
    assert!(world.take(1, want(3)).fence > before);
}

#[test]
fn a_name_is_forgotten_when_the_clock_has_passed_its_last_fence_and_not_before() {
    let mut world = World::new();
    let fence = world.take(1, want(1)).fence.0;
    world.release(1, 1);
    world.now -= 3_600 * SECOND;
    world.settle();
    for (now, is_kept) in [(world.now + TTL, true), (fence, true), (fence + 1, false)] {
        world.now = now;
        world.snapshot();
        assert_eq!(!world.state.is_empty(), is_kept, "at {now}, the fence is {fence}");
    }
}

#[test]
fn of_a_name_that_is_kept_for_its_fence_alone_nothing_else_is_left() {
    let mut world = World::new();
    world.take(1, stating(1, 3, OnMismatch::Refuse));
    world.release(1, 1);
    world.now -= 3_600 * SECOND;
    world.settle();
    world.pass(TTL);
    let head = world.state.facts().unwrap();
    assert_eq!((head.past, head.kind, head.stated), (0, None, None));
}

#[test]
fn a_name_whose_fence_is_days_ahead_is_not_kept() {
    let mut world = World::new();
    world.fence_seen = world.now + LONGEST_OWED + 2 * TTL;
    world.take(1, want(1));
    world.release(1, 1);
    world.pass(TTL);
    assert!(world.state.is_empty());
}

#[test]
fn a_fence_that_a_client_claims_to_have_seen_makes_no_name() {
    let mut world = World::new();
    world.fence_seen = world.now + 3_600 * SECOND;
    world.snapshot();
    assert!(world.state.is_empty());
}

#[test]
fn fences_grow_over_a_loss_of_state() {
    let mut world = World::new();
    let before = world.take(1, want(1)).fence;
    world.state = MemoryState::default();
    world.now += 1;
    assert!(world.take(2, want(2)).fence > before);
}

#[test]
fn a_fence_that_a_client_has_seen_is_not_repeated_though_state_and_clock_went_back() {
    let mut world = World::new();
    let before = world.take(1, want(1)).fence;
    world.state = MemoryState::default();
    world.now -= 3_600 * SECOND;
    world.fence_seen = before.0;
    assert!(world.take(2, want(2)).fence > before);
}

#[test]
fn an_absurd_fence_is_not_believed() {
    let mut world = World::new();
    world.fence_seen = u64::MAX;
    assert_eq!(world.take(1, want(1)).fence.0, (1 << 52) + 1);
}

#[test]
fn the_lowest_free_slots_are_given_first() {
    let mut world = World::limited(6);
    assert_eq!(world.take(1, permits(1, 2)).slots.to_string(), "0-1");
    assert_eq!(world.take(2, want(2)).slots.to_string(), "2");
    assert_eq!(world.take(3, permits(3, 2)).slots.to_string(), "3-4");
    world.release(1, 1);
    assert_eq!(world.take(4, want(4)).slots.to_string(), "0");
    assert_eq!(world.take(5, permits(5, 2)).slots.to_string(), "1,5");
}

#[test]
fn within_a_slot_fences_grow() {
    let mut world = World::limited(2);
    let first = world.take(1, want(1));
    world.take(2, want(2));
    world.release(1, 1);
    let second = world.take(3, want(3));
    assert_eq!(first.slots, second.slots);
    assert!(second.fence > first.fence);
}

#[test]
fn slots_stay_below_the_limit_though_it_was_lowered() {
    let mut world = World::limited(4);
    world.take(1, permits(1, 3));
    world.take(2, want(2));
    world.resize(2);
    world.send(1, vec![release_slots(1, "1-2")]);
    world.release(1, 1);
    assert_eq!(world.take(3, want(3)).slots.to_string(), "0");
}

#[test]
fn slots_start_from_the_bottom_when_everybody_has_left() {
    let mut world = World::limited(4);
    world.take(1, permits(1, 3));
    world.release(1, 1);
    assert_eq!(world.take(2, permits(2, 4)).slots.to_string(), "0-3");
}

#[test]
fn ten_thousand_permits_are_one_range() {
    let mut world = World::limited(10_000);
    assert_eq!(world.take(1, permits(1, 10_000)).slots.to_string(), "0-9999");
}
