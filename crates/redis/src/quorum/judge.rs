//! Decides each matter of a call by the answers of the nodes.

use seinpaal_proto::{Reply, Slots};

use super::{
    Quorum,
    answer::{NodeAnswer, NodeReply},
    attach::{Transfer, TransferVerdict},
    ballot::{Ballot, BallotVerdict},
    gather::Gathering,
    matter::{CallHeader, Matter, OpenMatter, at},
    mend::{Fixes, ballot_line},
    settings::QuorumSettings,
    table::HeldGrant,
    tally::ReplyTally,
};

/// The end of a matter.
pub(super) enum MatterEnd {
    Done(Reply),
    /// The matter is tried once more. `true`: at once.
    Again(Matter, bool),
}

impl Quorum {
    pub(super) fn judge(
        &self,
        header: &CallHeader<'_>,
        item: OpenMatter,
        gathering: &Gathering,
        fixes: &mut Fixes,
        is_last: bool,
    ) -> MatterEnd {
        let answers: Vec<_> = at(gathering, item.line).collect();
        match item.matter {
            Matter::Take(ballot) => self.judge_ballot(header, ballot, &answers, fixes, is_last),
            Matter::Attach(transfer) => self.judge_transfer(header, transfer, &answers, is_last),
            Matter::Set(settings) => self.judge_setting(settings, &answers, is_last),
            Matter::Plain(request) => {
                let answers: Vec<_> = answers.into_iter().flatten().collect();
                let tally = ReplyTally { answers: &answers, nodes: self.nodes.len() };
                let reply = tally.reply(&request);
                if let Some(reply) = &reply {
                    self.mend_renewed(header, &request, reply, gathering, item.line, fixes);
                }
                MatterEnd::Done(reply.unwrap_or(Reply::Differs))
            }
        }
    }

    fn judge_ballot(
        &self,
        header: &CallHeader<'_>,
        mut ballot: Ballot,
        answers: &[Option<(&NodeAnswer, &NodeReply)>],
        fixes: &mut Fixes,
        is_last: bool,
    ) -> MatterEnd {
        let verdict = ballot.count(answers, true);
        match verdict {
            BallotVerdict::Granted { slots, left, limit } => {
                ballot.slots = Some(slots.clone());
                let is_done = |reply: &NodeReply| matches!(reply, NodeReply::Took(vote) if vote.slots == slots && vote.fence == ballot.fence);
                fixes.add(answers, is_done, &ballot_line("mend", &ballot));
                let grant = ballot.granted(slots.clone(), left, limit);
                let held = HeldGrant { ask: ballot.ask, slots, fence: ballot.fence };
                if header.inbox == Some(self.inbox) || header.inbox.is_none() {
                    self.table().grant(header.name, held);
                }
                MatterEnd::Done(Reply::Granted(grant))
            }
            BallotVerdict::Refused(reply) => {
                fixes.give_way(answers, &ballot);
                MatterEnd::Done(reply)
            }
            BallotVerdict::Open | BallotVerdict::Again { .. } if is_last => {
                fixes.give_way(answers, &ballot);
                MatterEnd::Done(ballot.give_up(answers))
            }
            BallotVerdict::Open => self.propose_again(ballot, None, answers, fixes, false),
            BallotVerdict::Again { is_outbid, free, fence_above } => {
                self.see_fence(fence_above);
                self.propose_again(ballot, Some(free), answers, fixes, is_outbid)
            }
        }
    }

    /// Makes the next proposal, with a greater fence.
    fn propose_again(
        &self,
        mut ballot: Ballot,
        free: Option<Slots>,
        answers: &[Option<(&NodeAnswer, &NodeReply)>],
        fixes: &mut Fixes,
        at_once: bool,
    ) -> MatterEnd {
        let permits = ballot.ask.permits.get();
        // At once, the next proposal comes in the place of these votes: a node gives up an older
        // vote for a ticket when it takes a newer one.
        if !at_once {
            fixes.give_way(answers, &ballot);
        }
        // The second proposal asks for any slots once more, since nodes with equal state choose
        // alike. Later ones name slots, from a place that is drawn.
        ballot.slots = free
            .filter(|_| !at_once && ballot.tries > 0)
            .and_then(|free| self.some_of(&free, permits));
        ballot.fence = 0;
        ballot.tries += 1;
        MatterEnd::Again(Matter::Take(ballot), at_once)
    }

    fn judge_transfer(
        &self,
        header: &CallHeader<'_>,
        transfer: Transfer,
        answers: &[Option<(&NodeAnswer, &NodeReply)>],
        is_last: bool,
    ) -> MatterEnd {
        match transfer.count(answers) {
            TransferVerdict::Decided(reply) => {
                self.table().hand_over(header.name, transfer.ask.ticket);
                MatterEnd::Done(reply)
            }
            TransferVerdict::Again(fence) => {
                self.see_fence(fence);
                MatterEnd::Again(Matter::Attach(transfer), !is_last)
            }
        }
    }

    fn judge_setting(
        &self,
        settings: Vec<(&'static str, String)>,
        answers: &[Option<(&NodeAnswer, &NodeReply)>],
        is_last: bool,
    ) -> MatterEnd {
        let majority = self.majority();
        let given = || answers.iter().flatten();
        if let Some((_, NodeReply::Plain(reply @ Reply::OtherKind { .. }))) =
            given().find(|(_, reply)| reply.other_kind().is_some())
        {
            return MatterEnd::Done(reply.clone());
        }
        let set = given().filter(|(_, reply)| matches!(reply, NodeReply::Set(_))).count();
        if set >= majority || is_last {
            let limit = QuorumSettings::of(given().map(|(answer, _)| *answer), majority).limit();
            return MatterEnd::Done(Reply::Configured { limit });
        }
        for (_, reply) in given() {
            if let NodeReply::Stale(version) = reply {
                self.see_fence(*version);
            }
        }
        MatterEnd::Again(Matter::Set(settings), true)
    }
}
