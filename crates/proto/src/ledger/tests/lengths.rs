//! How long holds took, as the head of a name keeps it.

use std::{vec, vec::Vec};

use super::world::*;
use crate::{
    Contact, Request, Slots,
    time::{Micros, SECOND},
};

/// The lengths that are kept of holds that took so long, the newest first.
fn as_kept<const N: usize>(lengths: [Micros; N]) -> Vec<Micros> {
    let kept = |length| crate::RecentHolds::NONE.with(length).lengths().next();
    lengths.into_iter().filter_map(kept).collect()
}

fn kept(world: &mut World) -> Vec<Micros> {
    world.snapshot().recent.lengths().collect()
}

#[test]
fn a_hold_that_is_given_back_tells_how_long_it_took_and_the_newest_seven_are_kept() {
    let mut world = World::limited(1);
    assert_eq!(kept(&mut world), []);
    for number in 1..=9 {
        world.take(1, want(number));
        world.now += number as u64 * SECOND;
        world.release(1, number);
    }
    assert_eq!(kept(&mut world), as_kept([9, 8, 7, 6, 5, 4, 3].map(|seconds| seconds * SECOND)));
}

#[test]
fn a_hold_that_was_waited_for_is_counted_from_its_grant() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.queue(2, want(2));
    world.now += 4 * SECOND;
    world.release(1, 1);
    world.now += SECOND;
    world.release(2, 2);
    assert_eq!(kept(&mut world), as_kept([SECOND, 4 * SECOND]));
}

#[test]
fn a_ticket_that_changes_hands_is_counted_from_then_on() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.now += 20 * SECOND;
    world.attach(2, attach(1, 7));
    assert_eq!(kept(&mut world), [], "the hold goes on");
    world.now += 2 * SECOND;
    world.release(2, 1);
    assert_eq!(kept(&mut world), as_kept([2 * SECOND]));
}

#[test]
fn part_of_a_hold_that_is_given_back_tells_nothing() {
    let mut world = World::limited(3);
    let grant = world.take(1, permits(1, 3));
    world.now += 2 * SECOND;
    world.send(1, vec![release_slots(1, "0-1")]);
    assert_eq!(kept(&mut world), []);
    world.now += 2 * SECOND;
    let rest: Slots = "2".parse().unwrap();
    assert!(grant.slots.contains(&rest));
    world.send(1, vec![release_slots(1, "2")]);
    assert_eq!(kept(&mut world), as_kept([4 * SECOND]));
}

#[test]
fn an_operator_who_gives_a_ticket_back_ends_its_hold_like_the_holder() {
    let mut world = World::limited(1);
    world.take(1, want(1));
    world.now += 3 * SECOND;
    world.release(0, 1);
    assert_eq!(kept(&mut world), as_kept([3 * SECOND]));
}

#[test]
fn every_other_end_says_nothing_of_how_long_holds_take() {
    let mut world = World::limited(4);
    for number in 1..=4 {
        world.take(1, want(number));
    }
    world.queue(2, want(5));
    world.now += SECOND;
    world.send(2, vec![release(5)]);
    world.one(1, Request::Evict { ticket: ticket_of(1) });
    world.one(1, Request::Cancel { ticket: ticket_of(2), remember: TTL, attach: None });
    world.contacts.0.insert(1, Contact::Dead);
    world.pass(TTL + SECOND);
    assert_eq!((world.holders(), kept(&mut world)), (vec![], vec![]));
}

#[test]
fn what_is_kept_goes_with_the_name() {
    let mut world = World::new();
    world.take(1, want(1));
    world.now += SECOND;
    world.release(1, 1);
    assert_eq!(kept(&mut world), as_kept([SECOND]), "a series is remembered");
    world.pass(2 * TTL);
    assert!(world.state.is_empty());
    assert_eq!(kept(&mut world), []);
}
