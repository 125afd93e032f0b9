//! Finds why nothing was granted, and the reply to the caller.

use seinpaal_proto::{Busy, Cause, Enqueue, LimitRule, OnMismatch, Reply, Slots};

use super::{
    super::{
        answer::{NodeAnswers, NodeRefusal, NodeReply, RefusedFor},
        settings::QuorumSettings,
        tally::weightiest,
    },
    Ballot, BallotVerdict, holders,
};

impl Ballot {
    /// The decision if nothing can be granted: a refusal that stands, a reason to wait, or, where
    /// there seems to be room, another proposal.
    pub(super) fn refuse(
        &self,
        answers: NodeAnswers<'_>,
        majority: usize,
        settings: &QuorumSettings,
    ) -> BallotVerdict {
        if let Some(refusal) = self.lasting_refusal(answers, majority, settings) {
            return BallotVerdict::Refused(refusal);
        }
        let (limit, held) = (self.limit(settings), self.held(answers, majority));
        if let Some(why) = self.why_to_wait(answers, majority, settings, held) {
            return self.wait(why, limit, held, answers);
        }
        let fences = answers.iter().flatten().map(|(answer, _)| answer.state.fence);
        BallotVerdict::Again {
            fence_above: fences.max().unwrap_or(0),
            is_outbid: count(answers, RefusedFor::Fence) + count(answers, RefusedFor::Stale) > 0,
            free: free(limit, answers),
        }
    }

    /// The refusal that no release by others would change, if there is one.
    fn lasting_refusal(
        &self,
        answers: NodeAnswers<'_>,
        majority: usize,
        settings: &QuorumSettings,
    ) -> Option<Reply> {
        let replies = || answers.iter().flatten().map(|(_, reply)| *reply);
        let (ticket, permits) = (self.want.ticket, self.want.permits.get());
        let most = |count: usize| count >= majority;
        if let Some(cause) = ended(replies(), majority) {
            return Some(Reply::Ended { ticket, cause });
        }
        let is_late = |reply: &&NodeReply| matches!(reply, NodeReply::Plain(Reply::TooLate { .. }));
        if most(replies().filter(is_late).count()) {
            return Some(Reply::TooLate { ticket });
        }
        let kinds: Vec<_> = replies().filter_map(NodeReply::other_kind).collect();
        let is_said_by_most = |kind: &&_| most(kinds.iter().filter(|other| other == kind).count());
        if let Some(&stored) = kinds.iter().find(is_said_by_most) {
            return Some(Reply::OtherKind { ticket: Some(ticket), stored, stated: self.want.kind });
        }
        let limit = self.limit(settings);
        // A limit of 0 makes every request wait, and refuses none for good.
        let too_many =
            || (permits > limit && limit > 0).then_some(Reply::TooMany { ticket, permits, limit });
        self.other_limit(settings).or_else(too_many)
    }

    /// The reason why this request has to wait, or `None`.
    fn why_to_wait(
        &self,
        answers: NodeAnswers<'_>,
        majority: usize,
        settings: &QuorumSettings,
        held: Option<u32>,
    ) -> Option<Busy> {
        let do_most_say = |why: RefusedFor| count(answers, why) >= majority;
        let (permits, limit) = (self.want.permits.get(), self.limit(settings));
        let is_known_full = || held.is_none_or(|held| held + permits > limit);
        if settings.paused.is_some() {
            Some(Busy::Paused)
        } else if do_most_say(RefusedFor::TooManyWaiting) {
            Some(Busy::TooManyWaiting)
        } else if do_most_say(RefusedFor::Guarded) {
            Some(Busy::Guarded)
        } else {
            (is_known_full() || do_most_say(RefusedFor::Late)).then_some(Busy::Full)
        }
    }

    /// The refusal of a caller that stated a limit and must not use the one in force.
    fn other_limit(&self, settings: &QuorumSettings) -> Option<Reply> {
        let LimitRule { limit, on_mismatch } = self.want.limit?;
        let (ticket, stated, is_pinned) =
            (self.want.ticket, limit.get(), settings.pinned.is_some());
        let refuses = match on_mismatch {
            OnMismatch::Exact => true,
            // A limit that an operator pinned wins over what callers state.
            OnMismatch::Refuse => !is_pinned,
            OnMismatch::Adopt | OnMismatch::Set => false,
        };
        let stored = settings.pinned.or(settings.stated)?;
        (refuses && stored != stated).then_some(Reply::OtherLimit {
            ticket,
            stored,
            stated,
            is_pinned,
        })
    }

    /// The reply to a client that cannot have permits now.
    fn wait(
        &self,
        why: Busy,
        limit: u32,
        held: Option<u32>,
        answers: NodeAnswers<'_>,
    ) -> BallotVerdict {
        let ticket = self.want.ticket;
        let waiting = median(answers, |refusal| refusal.waiting);
        let held = held.unwrap_or_else(|| median(answers, |refusal| refusal.held));
        BallotVerdict::Refused(match self.want.enqueue {
            Enqueue::Yes { .. } if why != Busy::TooManyWaiting => {
                // The request itself waits, even if the median node does not count it yet.
                Reply::Queued { ticket, waiting: waiting.max(1), limit }
            }
            _ => Reply::Busy { ticket, why, limit, held, waiting },
        })
    }

    /// The reply to a client whose tries are all used up, because other clients were quicker each
    /// time.
    pub(crate) fn give_up(&self, answers: NodeAnswers<'_>) -> Reply {
        let majority = answers.len() / 2 + 1;
        let settings =
            QuorumSettings::of(answers.iter().flatten().map(|(answer, _)| *answer), majority);
        match self.wait(Busy::Full, self.limit(&settings), self.held(answers, majority), answers) {
            BallotVerdict::Refused(reply) => reply,
            _ => Reply::Unknown { ticket: self.want.ticket },
        }
    }
}

fn ended<'a>(replies: impl Iterator<Item = &'a NodeReply>, majority: usize) -> Option<Cause> {
    let causes: Vec<Cause> = replies.filter_map(NodeReply::ended).collect();
    if causes.len() >= majority { weightiest(&causes) } else { None }
}

/// The slots below the limit that no answer lists with a holder.
fn free(limit: u32, answers: NodeAnswers<'_>) -> Slots {
    let mut free = if limit == 0 { Slots::none() } else { Slots::range(0, limit - 1) };
    for list in answers.iter().flatten().filter_map(|(_, reply)| holders(reply)) {
        for (_, slots) in &list.known {
            free.take(slots);
        }
    }
    free
}

/// The refusals among the answers.
fn refusals(answers: NodeAnswers<'_>) -> impl Iterator<Item = &NodeRefusal> {
    answers.iter().flatten().filter_map(|(_, reply)| match reply {
        NodeReply::Not(refusal) => Some(refusal),
        _ => None,
    })
}

/// How many nodes refused for this reason.
fn count(answers: NodeAnswers<'_>, why: RefusedFor) -> usize {
    refusals(answers).filter(|refusal| refusal.why == why).count()
}

fn median(answers: NodeAnswers<'_>, number: impl Fn(&NodeRefusal) -> u32) -> u32 {
    let mut numbers: Vec<u32> = refusals(answers).map(number).collect();
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}
