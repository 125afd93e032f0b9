//! Seeded random histories, far beyond what can be explored whole.

use std::time::{Duration, Instant};

use crate::{
    bounds::Bounds,
    world::{Action, Broken, Stuck, World},
};

/// What walking found.
#[derive(Debug)]
pub struct Walks {
    /// Histories walked.
    pub histories: u64,
    /// Steps in all; each is a state looked at.
    pub steps: u64,
    /// How long it took.
    pub took: Duration,
    /// The most ticks that waiters needed once nothing went wrong any more.
    pub slowest: u64,
    /// The first violation: its seed, what it is, and a history made as short as leaving out steps makes it.
    pub violation: Option<(u64, String, Vec<Action>)>,
}

/// Xorshift (Marsaglia 2003).
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % sides.max(1)
    }
}

/// Walks histories of `length` steps from `seed` on, until time is up or something is broken.
#[must_use]
pub fn walk(bounds: &Bounds, seed: u64, length: usize, most: u64, time: Duration) -> Walks {
    let begun = Instant::now();
    let mut walks =
        Walks { histories: 0, steps: 0, took: Duration::ZERO, slowest: 0, violation: None };
    while walks.violation.is_none() && walks.histories < most && begun.elapsed() < time {
        let seed = seed + walks.histories;
        walks.histories += 1;
        let history = history(bounds, seed, length);
        walks.steps += history.len() as u64;
        match outcome(bounds, &history) {
            Ok(ticks) => walks.slowest = walks.slowest.max(ticks),
            Err(found) => {
                walks.violation = Some((seed, format!("{found:?}"), shorten(bounds, history)));
            }
        }
    }
    walks.took = begun.elapsed();
    walks
}

fn history(bounds: &Bounds, seed: u64, length: usize) -> Vec<Action> {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut world = World::new(bounds);
    let (mut history, mut actions) = (Vec::new(), Vec::new());
    while history.len() < length && world.broken().is_none() {
        actions.clear();
        world.actions(bounds, &mut actions);
        let action = choose(&mut dice, &actions);
        world.act(bounds, action);
        history.push(action);
    }
    history
}

/// Faults are rarer than what is ordinary, and time passes about every fourth step.
fn choose(dice: &mut Dice, actions: &[Action]) -> Action {
    loop {
        let action = actions[dice.below(actions.len())];
        let sides = match action {
            Action::Befall(..) | Action::Forward | Action::Backward => 12,
            Action::Mangle(..) => 6,
            Action::Cancel(..) => 4,
            _ => 1,
        };
        if dice.below(sides) == 0 {
            return action;
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Found {
    Broken(Broken),
    Stuck(Stuck),
}

fn outcome(bounds: &Bounds, history: &[Action]) -> Result<u64, Found> {
    let world = replay(bounds, history);
    if let Some(broken) = world.broken() {
        return Err(Found::Broken(broken));
    }
    world.quiet(bounds).map_err(Found::Stuck)
}

/// Plays a history, leaving out what cannot be done.
fn replay(bounds: &Bounds, history: &[Action]) -> World {
    let mut world = World::new(bounds);
    let mut actions = Vec::new();
    for action in history {
        actions.clear();
        world.actions(bounds, &mut actions);
        if actions.contains(action) {
            world.act(bounds, *action);
        }
    }
    world
}

/// Leaves out steps for as long as the same thing goes wrong.
fn shorten(bounds: &Bounds, mut history: Vec<Action>) -> Vec<Action> {
    let Err(found) = outcome(bounds, &history) else { return history };
    let mut size = history.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at + size <= history.len() {
            let mut shorter = history.clone();
            shorter.drain(at..at + size);
            if outcome(bounds, &shorter) == Err(found) {
                history = shorter;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    history
}
