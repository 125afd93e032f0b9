//! Exhaustive exploration of one model.

use std::{
    hash::Hash,
    time::{Duration, Instant},
};

use stateright::{Checker, CheckerBuilder, HasDiscoveries, Model};

use crate::game::Game;

/// The result of an exploration.
#[derive(Debug)]
pub struct Report<A> {
    /// The name of the model.
    pub name: &'static str,
    /// Transitions taken.
    pub total: usize,
    /// Different states.
    pub unique: usize,
    /// Steps of the longest history.
    pub depth: usize,
    /// How long the exploration took.
    pub took: Duration,
    /// Whether every state was seen.
    pub is_whole: bool,
    /// The rules that were broken, each with a history that breaks it: see [`shortest`].
    pub violations: Vec<(&'static str, Vec<A>)>,
}

/// Explores breadth-first until all states are seen, `most` transitions were taken, or the time is
/// up.
#[must_use]
pub fn explore<G>(bounds: &G, threads: usize, most: usize, time: Duration) -> Report<G::Action>
where
    G: Game + Clone + Send + Sync + 'static,
{
    let begun = Instant::now();
    let checker =
        builder(bounds).threads(threads).target_state_count(most).timeout(time).spawn_bfs().join();
    let found = checker.discoveries().into_iter();
    Report {
        name: bounds.name(),
        total: checker.state_count(),
        unique: checker.unique_state_count(),
        depth: checker.max_depth(),
        took: begun.elapsed(),
        is_whole: checker.state_count() < most && begun.elapsed() < time,
        violations: found.map(|(name, path)| (name, path.into_actions())).collect(),
    }
}

fn builder<M>(model: &M) -> CheckerBuilder<M>
where
    M: Model + Clone + Send + Sync + 'static,
    M::State: Hash + Send + Sync,
{
    model.clone().checker().finish_when(HasDiscoveries::AnyFailures)
}

/// Finds a shortest history that breaks a rule, and returns it with that rule. The checker reports
/// the last violation of a block of states, so this function asks it again for a shorter history
/// until there is none.
#[must_use]
pub fn shortest<M>(model: &M) -> Vec<(&'static str, Vec<M::Action>)>
where
    M: Model + Clone + Send + Sync + 'static,
    M::State: Hash + Clone + PartialEq + Send + Sync,
    M::Action: Clone + PartialEq + Send + Sync,
{
    let (mut found, mut depth) = (Vec::new(), usize::MAX);
    loop {
        let checker = builder(model).target_max_depth(depth).spawn_bfs().join();
        let paths = checker.discoveries().into_iter();
        let mut shorter: Vec<_> = paths.map(|(name, path)| (name, path.into_actions())).collect();
        shorter.sort_by_key(|(name, actions)| (actions.len(), *name));
        shorter.truncate(1);
        let Some((_, actions)) = shorter.first() else { return found };
        depth = actions.len() + 1;
        found = shorter;
    }
}
