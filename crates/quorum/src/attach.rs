//! An attach that is put to the vote. This module is pure: it only counts the nodes' answers.
//!
//! Each node gives the ticket the same new fence, unless it has voted for one as great. A majority
//! that did so for the same slots is the grant. From then on no majority can have the old fence.

use seinpaal_proto::{Attach, Cause, Fence, Grant, Reply, SlotNames, Slots};

use super::{
    answer::{NodeAnswers, NodeReply, Vote},
    settings::QuorumSettings,
};

/// A proposal that a ticket changes hands.
#[derive(Clone, Debug)]
pub(super) struct Transfer {
    pub(super) want: Attach,
    pub(super) fence: u64,
}

/// The result of an attach.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum TransferVerdict {
    Decided(Reply),
    /// There is no majority, so the attach is tried once more, with a fence above this one.
    Again(u64),
}

impl Transfer {
    pub(super) fn count(&self, answers: NodeAnswers<'_>) -> TransferVerdict {
        let majority = answers.len() / 2 + 1;
        if let Some(grant) = self.grant(answers, majority) {
            return TransferVerdict::Decided(Reply::Granted(grant));
        }
        let ticket = self.want.ticket;
        let replies = || answers.iter().flatten().map(|(_, reply)| *reply);
        let causes: Vec<Cause> = replies().filter_map(NodeReply::ended).collect();
        let plain = |is: fn(&Reply) -> bool| {
            replies().filter(|reply| matches!(reply, NodeReply::Plain(reply) if is(reply))).count()
        };
        // A node that does not know the ticket says so. If enough nodes do, no majority has the
        // ticket.
        let unknown = plain(|reply| matches!(reply, Reply::Unknown { .. }));
        match causes.first() {
            Some(cause) if causes.len() >= majority => {
                TransferVerdict::Decided(Reply::Ended { ticket, cause: *cause })
            }
            _ if plain(|reply| matches!(reply, Reply::TooLate { .. })) >= majority => {
                TransferVerdict::Decided(Reply::TooLate { ticket })
            }
            _ if unknown + causes.len() >= majority => match causes.first() {
                Some(cause) => TransferVerdict::Decided(Reply::Ended { ticket, cause: *cause }),
                None => TransferVerdict::Decided(Reply::Unknown { ticket }),
            },
            _ => {
                let fences = answers.iter().flatten().map(|(answer, _)| answer.state.fence);
                TransferVerdict::Again(fences.max().unwrap_or(0))
            }
        }
    }

    /// The grant, if a majority gave the same slots. It lasts as long as the votes of a majority
    /// last.
    fn grant(&self, answers: NodeAnswers<'_>, majority: usize) -> Option<Grant> {
        let votes: Vec<&Vote> = answers
            .iter()
            .flatten()
            .filter_map(|(_, reply)| match reply {
                NodeReply::Took(vote) if vote.fence == self.fence => Some(vote),
                _ => None,
            })
            .collect();
        let left = |slots: &Slots| {
            let same = votes.iter().filter(|vote| vote.slots == *slots);
            let mut left: Vec<_> = same.map(|vote| vote.left).collect();
            left.sort_unstable_by(|a, b| b.cmp(a));
            left
        };
        let slots = &votes.iter().find(|vote| left(&vote.slots).len() >= majority)?.slots;
        let settings =
            QuorumSettings::of(answers.iter().flatten().map(|(answer, _)| *answer), majority);
        Some(Grant {
            ticket: self.want.ticket,
            fence: Fence(self.fence),
            slots: slots.clone(),
            names: SlotNames::none(),
            limit: settings.limit(),
            valid_for: left(slots).get(majority - 1).copied(),
        })
    }
}
