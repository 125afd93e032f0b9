//! The settings of a name by a majority, as pure functions.
//!
//! Each setting is a register with a version. A change counts once a majority has it. So every
//! majority that is asked later has a node that knows it, and the latest version counts. If a
//! majority knows of no version at all, a version at a single node is the rest of a change that
//! never counted, or of one that all other nodes have rightly forgotten with the name.

use super::answer::{NodeAnswer, NodeState, Register};

/// The settings in force.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct QuorumSettings {
    /// The limit that holders and waiters state.
    pub(super) stated: Option<u32>,
    /// The limit that an operator has set.
    pub(super) pinned: Option<u32>,
    pub(super) paused: Option<String>,
}

impl QuorumSettings {
    /// The settings that the answers of the nodes tell.
    pub(super) fn of<'a>(
        answers: impl Iterator<Item = &'a NodeAnswer> + Clone,
        majority: usize,
    ) -> Self {
        let stated = in_force(answers.clone(), majority, |state| &state.stated);
        let pinned = in_force(answers.clone(), majority, |state| &state.pinned);
        let paused = in_force(answers, majority, |state| &state.paused);
        Self { stated: stated.flatten(), pinned: pinned.flatten(), paused: paused.flatten() }
    }

    /// The limit to go by.
    pub(super) fn limit(&self) -> u32 {
        self.pinned.or(self.stated).unwrap_or(1)
    }
}

/// The value of a register that counts. `None`: no node has one.
fn in_force<'a, T: Clone + Default + Eq + 'a>(
    answers: impl Iterator<Item = &'a NodeAnswer> + Clone,
    majority: usize,
    register: impl Fn(&NodeState) -> &Register<T>,
) -> Option<T> {
    // A node that has lost its memory does not vote for "never set".
    let is_unset =
        |answer: &&NodeAnswer| register(&answer.state).version == 0 && answer.guard.left == 0;
    if answers.clone().filter(is_unset).count() >= majority {
        // Without a version, a limit was only stated in passing, by the acquires there.
        let values = answers.filter(|answer| register(&answer.state).version == 0);
        return most_common(values.map(|answer| &register(&answer.state).value));
    }
    let latest =
        answers.map(|answer| register(&answer.state)).max_by_key(|register| register.version);
    latest.map(|register| register.value.clone())
}

/// The most common value, apart from the one that says nothing.
fn most_common<'a, T: Clone + Default + Eq + 'a>(values: impl Iterator<Item = &'a T>) -> Option<T> {
    let values: Vec<&T> = values.filter(|value| **value != T::default()).collect();
    let count = |value: &&&T| values.iter().filter(|other| *other == *value).count();
    values.iter().max_by_key(count).map(|value| (**value).clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quorum::answer::{GuardWord, NodeGuard};

    fn node(limit: Option<u32>, version: u64, guarded: u64) -> NodeAnswer {
        NodeAnswer {
            now: 1,
            backlog: false,
            guard: NodeGuard { run: "a".into(), word: GuardWord::Same, stored: 0, left: guarded },
            replies: Vec::new(),
            state: NodeState { stated: Register { version, value: limit }, ..NodeState::default() },
        }
    }

    fn limit(nodes: &[NodeAnswer]) -> Option<u32> {
        QuorumSettings::of(nodes.iter(), 2).stated
    }

    #[test]
    fn a_change_that_counted_is_seen_by_every_majority() {
        let (old, new) = (node(Some(5), 10, 0), node(Some(3), 20, 0));
        for two in [[&new, &old], [&old, &new], [&new, &new]] {
            assert_eq!(QuorumSettings::of(two.into_iter(), 2).stated, Some(3));
        }
    }

    #[test]
    fn what_a_majority_has_forgotten_one_node_does_not_bring_back() {
        assert_eq!(limit(&[node(None, 0, 0), node(Some(7), 10, 0), node(None, 0, 0)]), None);
    }

    #[test]
    fn a_node_that_lost_its_memory_does_not_vote_for_forgetting() {
        assert_eq!(limit(&[node(None, 0, 9), node(Some(7), 10, 0), node(None, 0, 0)]), Some(7));
    }

    #[test]
    fn of_limits_that_were_stated_in_passing_the_most_common_counts() {
        let nodes = [node(Some(2), 0, 0), node(Some(3), 0, 0), node(Some(2), 0, 0)];
        assert_eq!(limit(&nodes), Some(2));
        assert_eq!(limit(&[node(None, 0, 0), node(Some(3), 0, 0)]), Some(3));
    }
}
