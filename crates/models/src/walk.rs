//! Seeded random histories, far longer than an exhaustive exploration can reach.

use std::time::{Duration, Instant};

use crate::game::Game;

/// The result of walking.
#[derive(Debug)]
pub struct Walks<A> {
    /// How many histories were walked.
    pub histories: u64,
    /// How many steps there were. Each leads to a state that is judged.
    pub steps: u64,
    /// How long the walks took.
    pub took: Duration,
    /// The largest number of ticks that waiters needed after faults had stopped.
    pub slowest: u64,
    /// The first violation: its seed, the rule, and a history that was shortened by leaving out
    /// steps.
    pub violation: Option<(u64, String, Vec<A>)>,
}

/// Xorshift (Marsaglia 2003), and not `fastrand`: docs/guarantees.md and
/// docs/internals/proof/planted.md name walks by their seeds, and another generator would make
/// other walks of these seeds.
#[derive(Debug)]
struct WalkDice(u64);

impl WalkDice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % sides.max(1)
    }
}

/// Walks histories of `length` steps, beginning with this seed, until the time is up or a rule is
/// broken.
#[must_use]
pub fn walk<G: Game>(
    game: &G,
    seed: u64,
    length: usize,
    most: u64,
    time: Duration,
) -> Walks<G::Action> {
    let begun = Instant::now();
    let mut walks =
        Walks { histories: 0, steps: 0, took: Duration::ZERO, slowest: 0, violation: None };
    while walks.violation.is_none() && walks.histories < most && begun.elapsed() < time {
        let seed = seed + walks.histories;
        walks.histories += 1;
        let history = history(game, seed, length);
        walks.steps += history.len() as u64;
        match outcome(game, &history) {
            Ok(ticks) => walks.slowest = walks.slowest.max(ticks),
            Err(found) => walks.violation = Some((seed, found, shorten(game, history))),
        }
    }
    walks.took = begun.elapsed();
    walks
}

fn begin<G: Game>(game: &G) -> G::State {
    game.init_states().swap_remove(0) // every game has one beginning
}

fn history<G: Game>(game: &G, seed: u64, length: usize) -> Vec<G::Action> {
    // Neighbouring seeds become very different states. Xorshift never leaves the state 0, hence
    // `| 1`.
    let mut dice = WalkDice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut world = begin(game);
    let (mut history, mut actions) = (Vec::new(), Vec::new());
    while history.len() < length && game.broken(&world).is_none() {
        actions.clear();
        game.actions(&world, &mut actions);
        let action = choose::<G>(&mut dice, &actions);
        let Some(next) = game.next_state(&world, action) else { break };
        world = next;
        history.push(action);
    }
    history
}

fn choose<G: Game>(dice: &mut WalkDice, actions: &[G::Action]) -> G::Action {
    loop {
        let action = actions[dice.below(actions.len())];
        if dice.below(G::rarity(&action)) == 0 {
            return action;
        }
    }
}

fn outcome<G: Game>(game: &G, history: &[G::Action]) -> Result<u64, String> {
    let world = replay(game, history);
    game.broken(&world).map_or_else(|| game.quiet(&world), Err)
}

/// Plays a history, and leaves out the steps that are impossible.
fn replay<G: Game>(game: &G, history: &[G::Action]) -> G::State {
    let mut world = begin(game);
    let mut actions = Vec::new();
    for action in history {
        actions.clear();
        game.actions(&world, &mut actions);
        if actions.contains(action)
            && let Some(next) = game.next_state(&world, *action)
        {
            world = next;
        }
    }
    world
}

/// Leaves out steps for as long as the same rule is broken: first half of the history at once, then
/// ever smaller pieces, at last single steps.
fn shorten<G: Game>(game: &G, mut history: Vec<G::Action>) -> Vec<G::Action> {
    let Err(found) = outcome(game, &history) else { return history };
    let mut size = history.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at + size <= history.len() {
            let mut shorter = history.clone();
            shorter.drain(at..at + size);
            if outcome(game, &shorter).as_ref() == Err(&found) {
                history = shorter;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    history
}
