//! Exhaustive exploration of one model.

use std::time::{Duration, Instant};

use stateright::{Checker, HasDiscoveries, Model};

use crate::{bounds::Bounds, world::Action};

/// What an exploration found.
#[derive(Debug)]
pub struct Report {
    /// Which model.
    pub name: &'static str,
    /// Transitions taken.
    pub total: usize,
    /// Different states.
    pub unique: usize,
    /// Steps of the longest history.
    pub depth: usize,
    /// How long it took.
    pub took: Duration,
    /// Whether every state was seen.
    pub is_whole: bool,
    /// What was broken, and how.
    pub violations: Vec<(&'static str, Vec<Action>)>,
}

/// Explores breadth-first until all is seen, `most` transitions were taken or the time is up. One thread finds
/// a shortest history.
#[must_use]
pub fn explore(bounds: &Bounds, threads: usize, most: usize, time: Duration) -> Report {
    let begun = Instant::now();
    let checker = (*bounds)
        .checker()
        .threads(threads)
        .target_state_count(most)
        .timeout(time)
        .finish_when(HasDiscoveries::AnyFailures)
        .spawn_bfs()
        .join();
    let violations =
        checker.discoveries().into_iter().map(|(name, path)| (name, path.into_actions())).collect();
    Report {
        name: bounds.name,
        total: checker.state_count(),
        unique: checker.unique_state_count(),
        depth: checker.max_depth(),
        took: begun.elapsed(),
        is_whole: checker.state_count() < most && begun.elapsed() < time,
        violations,
    }
}
