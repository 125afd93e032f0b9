//! Rule 9: ended tickets are remembered by series.

use std::vec;

use super::world::*;
use crate::{Acquire, Cause, Reply, Request, Series, Ticket, time::SECOND};

/// Returns a ticket of the one series that these tests use.
fn nth(number: u32) -> Ticket {
    Series(7 << 32).ticket(number)
}

fn want_nth(number: u32) -> Acquire {
    Acquire { ticket: nth(number), ..want(9) }
}

fn release_nth(number: u32) -> Request {
    Request::Release { ticket: nth(number), slots: None }
}

fn give_up(number: u32) -> Request {
    Request::Cancel { ticket: nth(number), remember: TTL, attach: None }
}

fn over(number: u32, cause: Cause) -> Reply {
    Reply::Ended { ticket: nth(number), cause }
}

fn until_the_place_has_lapsed(world: &mut World) {
    while world.snapshot().waiting_total > 0 {
        world.pass(SECOND);
    }
}

fn memories(world: &World) -> usize {
    world.state.memories().count()
}

#[test]
fn a_number_that_was_overtaken_is_over_and_one_above_is_not() {
    let mut world = World::limited(3);
    world.take(1, want_nth(2));
    assert_eq!(world.acquire(1, want_nth(1)), over(1, Cause::Released));
    world.take(1, want_nth(3));
}

#[test]
fn thousands_of_permits_one_after_the_other_are_one_memory() {
    let mut world = World::limited(1);
    for number in 1..=1_000 {
        world.take(1, want_nth(number));
        world.one(1, release_nth(number));
    }
    assert_eq!(memories(&world), 1);
    assert_eq!(world.acquire(1, want_nth(500)), over(500, Cause::Released));
}

#[test]
fn standing_in_line_overtakes_nobody() {
    let mut world = World::limited(1);
    world.take(2, want(1));
    world.queue(1, want_nth(2));
    world.queue(1, want_nth(1));
    world.release(2, 1);
    world.one(1, release_nth(2));
    assert_eq!(world.acquire(1, want_nth(1)), world.acquire(1, want_nth(1)));
    assert_eq!(world.snapshot().holders[0].ticket, nth(1));
}

#[test]
fn a_place_that_has_lapsed_may_be_asked_for_again_unless_it_was_overtaken() {
    let mut world = World::limited(1);
    world.take(2, Acquire { ttl: 600 * SECOND, margin: 600 * SECOND, ..want(1) });
    world.queue(1, want_nth(1));
    world.queue(1, want_nth(2));
    until_the_place_has_lapsed(&mut world);
    world.queue(1, want_nth(1));
    world.last(10 * SECOND);
    world.one(1, give_up(2));
    until_the_place_has_lapsed(&mut world);
    assert_eq!(world.acquire(1, want_nth(1)), over(1, Cause::Released));
}

#[test]
fn a_cancel_of_what_has_not_come_raises_the_number() {
    let mut world = World::limited(3);
    world.one(1, give_up(2));
    assert_eq!(world.acquire(1, want_nth(2)), over(2, Cause::Cancelled));
    assert_eq!(world.acquire(1, want_nth(1)), over(1, Cause::Released));
    world.take(1, want_nth(3));
}

#[test]
fn a_cancel_of_what_is_over_remembers_it_for_as_long_again() {
    let mut world = World::limited(3);
    world.take(1, want_nth(1));
    world.one(1, release_nth(1));
    world.pass(TTL - SECOND);
    world.one(1, give_up(1));
    world.pass(TTL - SECOND);
    assert_eq!(world.acquire(1, want_nth(1)), over(1, Cause::Released));
}

#[test]
fn a_series_is_remembered_while_anything_of_it_is_held_and_one_ttl_longer() {
    let mut world = World::limited(3);
    world.take(1, want_nth(1));
    world.take(1, want_nth(2));
    world.one(1, release_nth(1));
    for _ in 0..9 {
        world.pass(TTL / 2);
        let whom = crate::Whom::Tickets(vec![nth(2)]);
        let renew = crate::Renew { lease: nth(1).lease(), ttl: TTL, margin: TTL, whom };
        world.one(1, Request::Renew(renew));
    }
    assert_eq!(world.acquire(1, want_nth(1)), over(1, Cause::Released));
    world.one(1, release_nth(2));
    world.pass(TTL - SECOND);
    assert_eq!(memories(&world), 1);
    world.pass(SECOND);
    assert_eq!(memories(&world), 0);
}

#[test]
fn sixty_four_causes_are_remembered_and_the_lowest_number_goes_first() {
    let mut world = World::limited(3);
    for number in (1..=70).rev() {
        world.one(1, give_up(number));
    }
    let cause = |world: &mut World, number| match world.acquire(1, want_nth(number)) {
        Reply::Ended { cause, .. } => cause,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        [1, 70].map(|number| cause(&mut world, number)),
        [Cause::Released, Cause::Cancelled]
    );
    let kept = (1..=70).filter(|number| cause(&mut world, *number) == Cause::Cancelled).count();
    assert_eq!(kept, 1, "the other tickets were over when they were given up");

    let mut world = World::limited(3);
    for number in 1..=70 {
        world.one(1, give_up(number));
    }
    let kept = (1..=70).filter(|number| cause(&mut world, *number) == Cause::Cancelled);
    assert!(kept.eq(7..=70));
}

#[test]
fn digests_of_numbers_in_a_row_do_not_add_up_to_one_another() {
    let sum = |numbers: [u32; 4]| numbers.iter().map(|n| nth(*n).digest()).sum::<u64>();
    for from in (1..4_000_000_000).step_by(99_999_989) {
        let [a, b, c, d] = [from, from + 1, from + 2, from + 3].map(|n| nth(n).digest());
        assert!(a + d != b + c && a + c != b + b && b + d != c + c, "{from}");
        let at = |offsets: [u32; 4]| sum(offsets.map(|offset| from + offset));
        assert_ne!(at([0, 3, 5, 6]), at([1, 2, 4, 7]), "{from}");
    }
}
