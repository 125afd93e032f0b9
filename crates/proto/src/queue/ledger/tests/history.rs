//! Random histories: the rules hold after every step of clients, people and clocks.

use std::{collections::BTreeMap, vec, vec::Vec};

use fastrand::Rng;

use super::world::*;
use crate::{
    Contact, Fence, Limit, Name, Priority,
    queue::{
        Batch, Configure, Dedup, Delivery, Due, FailureReason, How, ItemId, Pop, Purge, Push,
        Renew, Reply, Request,
    },
    time::{Micros, SECOND, margin},
};

const SEEDS: u64 = 60;
const STEPS: usize = 300;
const CLIENTS: u64 = 5;

/// Draws the next request from a seed.
struct Dice(Rng);

impl Dice {
    fn span(&mut self) -> Micros {
        match self.0.u64(..12) {
            0 => 40 * SECOND,
            1 => 3_600 * SECOND,
            n => n * SECOND / 4,
        }
    }
}

/// The facts that follow from the answers alone.
#[derive(Default)]
struct Known {
    pushed: Vec<ItemId>,
    delivered: Vec<Delivery>,
    acknowledged: BTreeMap<ItemId, u32>,
    fence: Fence,
    last: BTreeMap<u128, Batch>,
}

fn request(dice: &mut Dice, known: &Known) -> Request {
    let delivery = |dice: &mut Dice| {
        let at = dice.0.usize(..known.delivered.len().max(1));
        let nothing = Delivery { id: ItemId(1), fence: Fence(1) };
        known
            .delivered
            .get(known.delivered.len().saturating_sub(1 + at.min(8)))
            .copied()
            .unwrap_or(nothing)
    };
    let id = |dice: &mut Dice| {
        let at = dice.0.usize(..known.pushed.len().max(1));
        known.pushed.get(at).copied().unwrap_or(ItemId(1))
    };
    match dice.0.u64(..26) {
        0..=6 => Request::Push(push(dice)),
        7..=12 => Request::Pop(a_pop(dice)),
        13 => {
            let deliveries = known.delivered.iter().rev().take(4).copied().collect();
            Request::Renew(Renew { ttl: TTL, margin: margin(TTL), deliveries })
        }
        14..=17 => Request::Finish { delivery: delivery(dice), how: How::Acknowledge },
        18 => Request::Finish {
            delivery: delivery(dice),
            how: How::GiveBack { delay: dice.0.u64(..2) * SECOND },
        },
        19 => {
            let how =
                How::Fail { delay: dice.0.u64(..3) * SECOND, reason: FailureReason::new("no") };
            Request::Finish { delivery: delivery(dice), how }
        }
        20 => Request::Leave,
        21 => Request::Cancel { id: id(dice), spares_work: dice.0.bool() },
        22 => Request::Replay { id: id(dice) },
        23 => Request::Drop { id: id(dice) },
        24 => Request::Configure(change(dice)),
        _ if dice.0.u64(..6) == 0 => {
            Request::Purge(if dice.0.bool() { Purge::Dead } else { Purge::Waiting })
        }
        _ => Request::Inspect { rows: 4 },
    }
}

fn push(dice: &mut Dice) -> Push {
    let group = match dice.0.u64(..4) {
        0 | 1 => None,
        n => Some(Name::new(["a", "b"][n as usize - 2]).unwrap()),
    };
    let due = match dice.0.u64(..6) {
        0 => Due::In(dice.span()),
        1 => Due::At(1_000_000 * SECOND + dice.span()),
        _ => Due::Now,
    };
    let dedup =
        (dice.0.u64(..8) == 0).then(|| Dedup { key: Name::new("k").unwrap(), window: dice.span() });
    let priority = Priority::new(dice.0.i32(-2..3)).unwrap();
    Push { group, due, dedup, priority, most: dice.0.u32(1..=3), ..item("x") }
}

fn a_pop(dice: &mut Dice) -> Pop {
    let ttl = [SECOND, TTL][dice.0.usize(..2)];
    let margin = if dice.0.u64(..8) == 0 { crate::time::UNBOUNDED } else { margin(ttl) };
    let (wait, drains) = (dice.0.bool(), dice.0.u64(..4) == 0);
    Pop { items: dice.0.u32(1..=4), ttl, margin, wait, drains, about: "w".into() }
}

fn change(dice: &mut Dice) -> Configure {
    let limit = match dice.0.u64(..4) {
        0 => None,
        n => Some(Limit::new(n as u32).unwrap()),
    };
    match dice.0.u64(..6) {
        0 | 1 => Configure::Limit(limit),
        2 | 3 => Configure::GroupLimit(limit),
        4 => Configure::Pause("why".into()),
        _ => Configure::Resume,
    }
}

fn step(world: &mut World, dice: &mut Dice, known: &mut Known) {
    if dice.0.u64(..5) == 0 {
        let span = dice.span();
        world.now = if dice.0.u64(..8) == 0 {
            world.now - span.min(10_000 * SECOND)
        } else {
            world.now + span
        };
    }
    let client = 1 + u128::from(dice.0.u64(..CLIENTS));
    if dice.0.u64(..12) == 0 {
        let contacts = [Contact::Silent, Contact::Listening, Contact::Alive, Contact::Listening];
        world.contacts.0.insert(client, contacts[dice.0.usize(..4)]);
    }
    let again = if dice.0.u64(..6) == 0 { known.last.get(&client).cloned() } else { None };
    let is_new = again.is_none();
    let batch = again.unwrap_or_else(|| {
        let requests = (0..dice.0.u64(1..=3)).map(|_| request(dice, known)).collect();
        world.batch(client, requests)
    });
    let (before, limit) = (in_work(world), limit(world));
    let outcome = world.execute(&batch);
    known.last.insert(client, batch.clone());
    assert!(in_work(world) <= before.max(limit.max(self::limit(world))), "above the limit");
    if is_new {
        outcome.replies.replies.iter().for_each(|reply| learn(known, reply));
    }
}

fn in_work(world: &mut World) -> u32 {
    world.look().in_work
}

fn limit(world: &mut World) -> u32 {
    world.look().limit.unwrap_or(u32::MAX)
}

fn learn(known: &mut Known, reply: &Reply) {
    match reply {
        Reply::Pushed { id } => {
            assert!(known.pushed.last().is_none_or(|last| last < id), "numbers grow");
            known.pushed.push(*id);
        }
        Reply::Popped { items, .. } => {
            for popped in items {
                assert!(popped.delivery.fence > known.fence, "fences grow");
                assert!(!known.acknowledged.contains_key(&popped.delivery.id), "it was done");
                assert!(popped.attempt <= popped.most, "too many deliveries");
                known.fence = popped.delivery.fence;
                known.delivered.push(popped.delivery);
            }
        }
        Reply::Acknowledged { id } => {
            assert_eq!(known.acknowledged.insert(*id, 1), None, "acknowledged twice");
        }
        _ => {}
    }
}

#[test]
fn whatever_happens_the_rules_hold() {
    for seed in 1..=SEEDS {
        let (mut world, mut dice) = (World::new(), Dice(Rng::with_seed(seed)));
        let mut known = Known::default();
        for _ in 0..STEPS {
            step(&mut world, &mut dice, &mut known);
        }
        drain(&mut world, seed);
    }
}

/// Checks that everything in the queue is delivered once people leave it alone, and that then
/// nothing is left of the queue.
fn drain(world: &mut World, seed: u64) {
    for change in [Configure::Limit(None), Configure::GroupLimit(None), Configure::Resume] {
        world.configure(change);
    }
    world.contacts.0.clear();
    world.pass(4_000 * SECOND + 10_000 * SECOND);
    for _ in 0..2_000 {
        let seen = world.look();
        if seen.ready + seen.delayed + seen.in_work == 0 {
            break;
        }
        for popped in world.pop(7, 8) {
            world.finish(7, popped.delivery, How::Acknowledge);
        }
        world.pass(SECOND);
    }
    let seen = world.look();
    assert_eq!((seen.ready, seen.delayed, seen.in_work), (0, 0, 0), "seed {seed}: {seen:?}");
    while world.look().dead > 0 {
        world.ask(7, Request::Purge(Purge::Dead));
    }
    world.pass(4_000 * SECOND);
    for _ in 0..200 {
        let batch = Batch { number: 0, ..world.batch(8, vec![]) };
        world.execute(&batch);
    }
    assert!(world.state.is_empty(), "seed {seed}: {:?}", world.state);
}
