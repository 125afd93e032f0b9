//! Decides each matter of a call by the answers of the nodes.

use seinpaal_proto::{Reply, Slots};

use super::{
    Quorum,
    answer::{NodeAnswer, NodeReply},
    attach::{Transfer, TransferVerdict},
    ballot::{Ballot, BallotVerdict},
    gather::Gathering,
    line::ballot_line,
    matter::{CallHeader, Matter, OpenMatter, at},
    mend::Fixes,
    settings::{self, SettingVerdict},
    table::HeldGrant,
    tally::ReplyTally,
};

/// The end of a matter.
pub(super) enum MatterEnd {
    Done(Reply),
    /// The matter is not decided, and is tried once more; with `true` at once. After the last try
    /// the caller hears that the outcome is unknown.
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
            Matter::Set(settings) => self.judge_setting(settings, &answers),
            Matter::Plain(request) => {
                let answers: Vec<_> = answers.into_iter().flatten().collect();
                let tally = ReplyTally { answers: &answers, nodes: self.nodes.len() };
                let Some(reply) = tally.reply(&request) else {
                    return MatterEnd::Again(Matter::Plain(request), false);
                };
                self.mend_renewed(header, &request, &reply, gathering, item.line, fixes);
                MatterEnd::Done(reply)
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
                let held = HeldGrant {
                    want: ballot.want,
                    lease: ballot.lease,
                    slots,
                    fence: ballot.fence,
                };
                // A repeated request is answered with the grant that stands in the table. A grant
                // of another client is left out, because that client renews it and gives it back
                // elsewhere. So no event would ever remove it from this table.
                if header.inbox.is_none_or(|inbox| inbox == self.inbox) {
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
        let permits = ballot.want.permits.get();
        // If the next proposal comes at once, it replaces these votes: a node gives up an older
        // vote for a ticket when it takes a newer one.
        if !at_once {
            fixes.give_way(answers, &ballot);
        }
        // The second proposal asks for any slots once more, since nodes with equal state choose
        // alike. Later ones name slots, from a random place on.
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
                self.table().hand_over(header.name, transfer.want.ticket);
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
    ) -> MatterEnd {
        match settings::count(answers) {
            SettingVerdict::Decided(reply) => MatterEnd::Done(reply),
            // The error stays the same after the last try, which leaves the matter open. Some nodes
            // may have the change, so the caller must hear neither that it is in force nor that it
            // is not.
            SettingVerdict::Again(version) => {
                self.see_fence(version);
                MatterEnd::Again(Matter::Set(settings), true)
            }
        }
    }
}
