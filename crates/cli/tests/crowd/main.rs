//! Tests with two hundred real programs at once, which compress real files, three at a time.
//!
//! The evidence comes from the commands themselves. Each writes down when it began and when it was
//! done, with its fence and slot. In the second kind of test a killer kills a program or a command
//! every 50 ms.
//!
//! With `SEINPAAL_CROWD_MINUTES=5`, each test plays round after round for that long.
//! `SEINPAAL_CROWD_SEED` repeats the victims of a run whose seed was printed, as far as the machine
//! allows.

mod crowd;
mod killer;
mod stamps;
#[path = "../command_line/support/mod.rs"]
#[allow(dead_code, reason = "each test binary uses its part")]
mod support;

use std::{
    env,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crowd::Crowd;
use killer::Killer;
use support::{Held, World, until};

const NAME: &str = "crowd";

#[test]
#[ignore = "a minute for all four; nightly runs it"]
fn a_crowd_gets_in_three_at_a_time_in_order_of_arrival_on_this_machine() {
    rounds(|| in_order(&World::embedded()));
}

#[test]
#[ignore = "a minute for all four; nightly runs it"]
fn a_crowd_gets_in_three_at_a_time_in_order_of_arrival_on_redis() {
    rounds(|| in_order(&World::redis()));
}

#[test]
#[ignore = "a minute for all four; nightly runs it"]
fn a_crowd_with_a_murderer_in_it_never_has_four_inside_on_this_machine() {
    rounds(|| with_a_murderer(&World::embedded()));
}

#[test]
#[ignore = "a minute for all four; nightly runs it"]
fn a_crowd_with_a_murderer_in_it_never_has_four_inside_on_redis() {
    rounds(|| with_a_murderer(&World::redis()));
}

/// One crowd keeps the machine busy. Beside a second one, holders might not renew in time.
static ALONE: Mutex<()> = Mutex::new(());

/// Plays one round, or rounds until the time is used up.
fn rounds(mut round: impl FnMut()) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let minutes = env::var("SEINPAAL_CROWD_MINUTES").map(|text| text.parse().unwrap());
    let end = Instant::now() + Duration::from_secs(60 * minutes.unwrap_or(0));
    round();
    while Instant::now() < end {
        round();
    }
}

fn in_order(world: &World) {
    let held = close(world, &[]);
    let mut crowd = Crowd::start(world, &[]);
    let arrived = queue(world);
    held.let_go();
    for person in 0..crowd.size() {
        assert_eq!(crowd.end_of(person), Some(0), "{}", crowd.said(person));
    }
    let visits = crowd.visits(|_| None);
    assert_eq!(stamps::crowding(&visits), None);
    let mut entered: Vec<_> = visits.iter().collect();
    entered.sort_by_key(|visit| visit.fence);
    let entered: Vec<u32> = entered.iter().map(|visit| crowd.pid(visit.person)).collect();
    assert_eq!(entered, arrived, "in order of arrival");
    (0..crowd.size()).for_each(|person| crowd.assert_compressed(person));
    nothing_is_left(world);
}

fn with_a_murderer(world: &World) {
    let held = close(world, crowd::SHORT_TTL);
    let mut crowd = Crowd::start(world, crowd::SHORT_TTL);
    let arrived = queue(world);
    assert_eq!(arrived.len(), crowd.size());
    held.let_go();
    let mut killer = Killer::new();
    killer.haunt(&mut crowd);
    let visits = crowd.visits(|person| killer.last_seen_alive(person));
    assert_eq!(stamps::crowding(&visits), None);
    for person in (0..crowd.size()).filter(|person| !killer.has_killed(*person)) {
        assert_eq!(crowd.end_of(person), Some(0), "{}", crowd.said(person));
        crowd.assert_compressed(person);
    }
    killer.tell();
    nothing_is_left(world);
}

/// Takes all permits, so that all programs have to stand in line first.
fn close(world: &World, flags: &[&str]) -> Held {
    Held::hold(world, &[&["-j", "3", "-p", "3"], flags, &[NAME]].concat()).0
}

/// Waits until all programs stand in line, and returns their process ids in the order of their
/// places.
fn queue(world: &World) -> Vec<u32> {
    world.until_waiting(NAME, crowd::PEOPLE);
    let shown = world.show(NAME);
    let waiters = shown["waiters"].as_array().unwrap();
    waiters.iter().map(|waiter| u32::try_from(waiter["pid"].as_u64().unwrap()).unwrap()).collect()
}

/// Checks that no name is in use, and that on Redis every key has gone by itself.
fn nothing_is_left(world: &World) {
    until("no name is left", || world.seinpaal(&["list"]).out.is_empty());
    if let Some(redis) = &world.redis {
        until("no key is left", || stamps::keys(&redis.socket()) == 0);
    }
}
