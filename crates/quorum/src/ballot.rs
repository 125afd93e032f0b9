//! One request for permits, put to the vote. This module is pure: it only counts the nodes'
//! answers.
//!
//! ```text
//!   propose: ticket, slots (or any), fence ──▶ every node votes, or says why not
//!                                                   │
//!   a majority for the same slots ──▶ granted       ├──▶ write it down at the others
//!   no majority possible          ──▶ yield ────────┴──▶ refused, or propose again: other slots, greater fence
//! ```
//!
//! A vote is a record "ticket T has the slots S under fence F until t" at a node. A node keeps each
//! slot for one ticket at a time, and two majorities share a node. So no two grants have a slot at
//! the same time. A node votes for growing fences only. So the later of two grants has the greater
//! fence (docs/decisions/quorum.md).

mod refusal;

use seinpaal_proto::{Acquire, Grant, LeaseId, Reply, SlotNames, Slots, time::Micros};

use super::{
    answer::{NodeAnswers, NodeHolders, NodeReply, Vote},
    settings::QuorumSettings,
};

/// A proposal.
#[derive(Clone, Debug)]
pub(super) struct Ballot {
    pub(super) want: Acquire,
    /// The lease that the permits stand under, or will stand under.
    pub(super) lease: LeaseId,
    /// The slots to vote for, or `None` if each node may choose.
    pub(super) slots: Option<Slots>,
    pub(super) fence: u64,
    /// How many proposals there were before.
    pub(super) tries: u32,
}

/// The result of a ballot.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum BallotVerdict {
    /// More answers may change the result.
    Open,
    /// A majority voted for these slots, each for at least this long.
    Granted { slots: Slots, left: Micros, limit: u32 },
    /// Nothing was granted, and this is the reply to the caller.
    Refused(Reply),
    /// Nothing was granted, but by the answers there is room, and another proposal may succeed.
    /// `free`: the slots that no answer knows a holder of.
    Again { fence_above: u64, is_outbid: bool, free: Slots },
}

impl Ballot {
    /// Counts the votes. `is_over` says that no more answers will come.
    pub(super) fn count(&self, answers: NodeAnswers<'_>, is_over: bool) -> BallotVerdict {
        let nodes = answers.len();
        let majority = nodes / 2 + 1;
        let given = || answers.iter().flatten();
        let silent = if is_over { 0 } else { nodes - given().count() };
        let settings = QuorumSettings::of(given().map(|(answer, _)| *answer), majority);
        let votes: Vec<&Vote> = given().filter_map(|(_, reply)| self.vote(reply)).collect();
        let best = votes.iter().map(|vote| votes.iter().filter(|v| v.slots == vote.slots).count());
        let best = best.max().unwrap_or(0);
        if best >= majority {
            return self.elect(&votes, majority, &settings, answers);
        }
        // The nodes that are silent could still make a majority.
        if best + silent >= majority {
            return BallotVerdict::Open;
        }
        self.refuse(answers, majority, &settings)
    }

    /// The limit that decides. No limit is in force if all nodes have refused this proposal, or if
    /// the tickets that stated one have gone. Then it is the limit that this request states.
    fn limit(&self, settings: &QuorumSettings) -> u32 {
        let stated = self.want.limit.map(|rule| rule.limit.get());
        settings.pinned.or(settings.stated).or(stated).unwrap_or(1)
    }

    /// A vote for this very proposal.
    fn vote<'a>(&self, reply: &'a NodeReply) -> Option<&'a Vote> {
        match reply {
            NodeReply::Took(vote) if vote.fence == self.fence => Some(vote),
            _ => None,
        }
    }

    /// Decides after a majority voted for the same slots. A fact that only a count over all nodes
    /// shows may still forbid the grant: a limit or a pause that some nodes do not know yet, or
    /// slots above a limit that was lowered.
    fn elect(
        &self,
        votes: &[&Vote],
        majority: usize,
        settings: &QuorumSettings,
        answers: NodeAnswers<'_>,
    ) -> BallotVerdict {
        let is_chosen =
            |vote: &&&Vote| votes.iter().filter(|v| v.slots == vote.slots).count() >= majority;
        let chosen: Vec<&&Vote> = votes.iter().filter(is_chosen).collect();
        let Some(first) = chosen.first() else { return BallotVerdict::Open };
        let (slots, limit) = (first.slots.clone(), self.limit(settings));
        let is_below = slots.ranges().iter().all(|range| range.1 < limit);
        if settings.paused.is_some() || !is_below || self.is_overfull(limit, answers) {
            return self.refuse(answers, majority, settings);
        }
        let mut left: Vec<Micros> = chosen.iter().map(|vote| vote.left).collect();
        // The longest come first: a majority keeps the slots for as long as its shortest vote, and
        // that is the vote at this place.
        left.sort_unstable_by(|a, b| b.cmp(a));
        BallotVerdict::Granted { slots, left: left[majority - 1], limit }
    }

    /// Adds up the grants that the nodes know of. Every majority has a node that knows of a given
    /// grant, so none is missed.
    fn is_overfull(&self, limit: u32, answers: NodeAnswers<'_>) -> bool {
        let votes = answers.iter().flatten().filter_map(|(_, reply)| self.vote(reply));
        let has_slots = |vote: &Vote| vote.others.known.iter().any(|(_, slots)| !slots.is_empty());
        // A node lists slots with a vote only if some are above the limit. Otherwise the majority
        // for slots below the limit is enough.
        if !votes.clone().any(has_slots) {
            return false;
        }
        match self.grants(answers) {
            // Some lists were cut, so the answers cannot prove that there is room. A refusal is
            // safe.
            None => true,
            Some(grants) => {
                let others: u32 = grants.iter().map(|grant| grant.permits).sum();
                others + self.want.permits.get() > limit
            }
        }
    }

    /// The other grants and tries that the answers together list. `None` if a list was cut because
    /// there are too many.
    fn grants(&self, answers: NodeAnswers<'_>) -> Option<Vec<RivalGrant>> {
        let lists: Vec<&NodeHolders> =
            answers.iter().flatten().filter_map(|(_, r)| holders(r)).collect();
        if lists.iter().any(|holders| holders.is_cut) {
            return None;
        }
        let mut known: Vec<&(u64, Slots)> =
            lists.iter().flat_map(|holders| &holders.known).collect();
        // The votes for this very proposal are no rivals.
        known.retain(|(fence, _)| *fence != self.fence);
        known.sort_by_key(|(fence, _)| *fence);
        let same = known.chunk_by(|a, b| a.0 == b.0);
        let count = |votes: &[&(u64, Slots)]| votes.iter().map(|(_, slots)| slots.count()).max();
        Some(
            same.map(|votes| RivalGrant { votes: votes.len(), permits: count(votes).unwrap_or(0) })
                .collect(),
        )
    }

    /// The permits that others hold or may hold. A grant counts if it has a majority, or could have
    /// one with the votes of the nodes that did not answer.
    fn held(&self, answers: NodeAnswers<'_>, majority: usize) -> Option<u32> {
        let silent = answers.iter().filter(|answer| answer.is_none()).count();
        let grants = self.grants(answers)?;
        let real = grants.iter().filter(|grant| grant.votes + silent >= majority);
        Some(real.map(|grant| grant.permits).sum())
    }

    pub(super) fn granted(&self, slots: Slots, left: Micros, limit: u32) -> Grant {
        let (ticket, fence) = (self.want.ticket, seinpaal_proto::Fence(self.fence));
        Grant { ticket, fence, slots, names: SlotNames::none(), limit, valid_for: Some(left) }
    }
}

/// Another grant or try, and the number of nodes that know of it.
struct RivalGrant {
    votes: usize,
    permits: u32,
}

fn holders(reply: &NodeReply) -> Option<&NodeHolders> {
    match reply {
        NodeReply::Took(vote) => Some(&vote.others),
        NodeReply::Not(refusal) => Some(&refusal.holders),
        NodeReply::Plain(_) | NodeReply::Set(_) | NodeReply::Stale(_) => None,
    }
}

#[cfg(test)]
mod tests;
