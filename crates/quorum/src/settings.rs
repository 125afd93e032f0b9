//! The settings of a name by a majority, as pure functions.
//!
//! Each setting is a register with a version. A change is in force once a majority has it. So every
//! majority that is asked later has a node that knows the change, and the latest version wins. If a
//! majority knows of no version at all, a version at a single node is the rest of a change that
//! never counted, or of one that all other nodes have rightly forgotten with the name.

use seinpaal_proto::Reply;

use super::answer::{NodeAnswer, NodeAnswers, NodeReply, NodeState, Register};

/// The verdict of the nodes on a change of a setting.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum SettingVerdict {
    Decided(Reply),
    /// No majority has the change, and none refuses it. The change is tried once more, with a
    /// version above this one.
    Again(u64),
}

/// Counts the nodes that have taken a change over. If a majority says that the name is of another
/// kind, it is, because no majority can take the change over then. Fewer nodes may only have an old
/// vote that is yet to be taken back.
pub(super) fn count(answers: NodeAnswers<'_>) -> SettingVerdict {
    let majority = answers.len() / 2 + 1;
    let given = || answers.iter().flatten();
    if given().filter(|(_, reply)| matches!(reply, NodeReply::Set(_))).count() >= majority {
        let limit = QuorumSettings::of(given().map(|(answer, _)| *answer), majority).limit();
        return SettingVerdict::Decided(Reply::Configured { limit });
    }
    let mut refusals = given().filter_map(|(_, reply)| match reply {
        NodeReply::Plain(reply @ Reply::OtherKind { .. }) => Some(reply),
        _ => None,
    });
    // The refusal at this place exists only if a majority refuses.
    if let Some(refusal) = refusals.nth(majority - 1) {
        return SettingVerdict::Decided(refusal.clone());
    }
    let later = given().filter_map(|(_, reply)| match reply {
        NodeReply::Stale(version) => Some(*version),
        _ => None,
    });
    SettingVerdict::Again(later.max().unwrap_or(0))
}

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
    /// Reads the settings from the answers of the nodes.
    pub(super) fn of<'a>(
        answers: impl Iterator<Item = &'a NodeAnswer> + Clone,
        majority: usize,
    ) -> Self {
        let stated = in_force(answers.clone(), majority, |state| &state.stated);
        let pinned = in_force(answers.clone(), majority, |state| &state.pinned);
        let paused = in_force(answers, majority, |state| &state.paused);
        Self { stated: stated.flatten(), pinned: pinned.flatten(), paused: paused.flatten() }
    }

    /// The limit that decides.
    pub(super) fn limit(&self) -> u32 {
        self.pinned.or(self.stated).unwrap_or(1)
    }
}

/// The value of a register that is in force, or `None` if no node has one.
fn in_force<'a, T: Clone + Default + Eq + 'a>(
    answers: impl Iterator<Item = &'a NodeAnswer> + Clone,
    majority: usize,
    register: impl Fn(&NodeState) -> &Register<T>,
) -> Option<T> {
    // A node that has lost its memory cannot testify that a setting was never made.
    let is_unset =
        |answer: &&NodeAnswer| register(&answer.state).version == 0 && answer.guard.left == 0;
    if answers.clone().filter(is_unset).count() >= majority {
        // A limit without a version was only stated by acquires.
        let values = answers.filter(|answer| register(&answer.state).version == 0);
        return most_common(values.map(|answer| &register(&answer.state).value));
    }
    let latest =
        answers.map(|answer| register(&answer.state)).max_by_key(|register| register.version);
    latest.map(|register| register.value.clone())
}

/// The most common value. The default value means nothing, and is left out.
fn most_common<'a, T: Clone + Default + Eq + 'a>(values: impl Iterator<Item = &'a T>) -> Option<T> {
    let values: Vec<&T> = values.filter(|value| **value != T::default()).collect();
    let count = |value: &&&T| values.iter().filter(|other| *other == *value).count();
    values.iter().max_by_key(count).map(|value| (**value).clone())
}

#[cfg(test)]
mod tests {
    use seinpaal_proto::Kind;

    use super::*;
    use crate::answer::{GuardWord, NodeGuard};

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

    /// The verdict on these answers, where every node that answered has a limit of 3.
    fn verdict(replies: [Option<NodeReply>; 3]) -> SettingVerdict {
        let has = node(Some(3), 10, 0);
        let answers: Vec<_> =
            replies.iter().map(|reply| reply.as_ref().map(|reply| (&has, reply))).collect();
        count(&answers)
    }

    fn other_kind() -> NodeReply {
        let (stored, stated) = (Kind::Mutex, Kind::Semaphore);
        NodeReply::Plain(Reply::OtherKind { ticket: None, stored, stated })
    }

    #[test]
    fn a_change_that_a_majority_has_is_in_force_whatever_the_others_say() {
        let in_force = SettingVerdict::Decided(Reply::Configured { limit: 3 });
        for third in [None, Some(NodeReply::Stale(20)), Some(other_kind())] {
            let set = Some(NodeReply::Set(3));
            assert_eq!(verdict([set.clone(), set, third]), in_force);
        }
    }

    /// The change is never in force, however often it is tried: nodes that refuse it and nodes that
    /// do not answer are no majority that has it.
    #[test]
    fn a_change_without_a_majority_is_never_said_to_be_in_force() {
        let set = Some(NodeReply::Set(3));
        for (second, third, above) in [
            (Some(NodeReply::Stale(20)), Some(NodeReply::Stale(30)), 30),
            (Some(NodeReply::Stale(20)), None, 20),
            (Some(other_kind()), None, 0),
            (Some(other_kind()), Some(NodeReply::Stale(20)), 20),
        ] {
            assert_eq!(verdict([set.clone(), second, third]), SettingVerdict::Again(above));
        }
    }

    #[test]
    fn a_name_is_of_another_kind_if_a_majority_says_so() {
        let NodeReply::Plain(refused) = other_kind() else { panic!("a reply of the ledger") };
        let refused = SettingVerdict::Decided(refused);
        for first in [None, Some(NodeReply::Set(3)), Some(NodeReply::Stale(20))] {
            assert_eq!(verdict([first, Some(other_kind()), Some(other_kind())]), refused);
        }
    }
}
