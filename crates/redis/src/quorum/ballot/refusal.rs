//! Why nothing was granted, and what the caller is told.

use seinpaal_proto::{Busy, Cause, Enqueue, LimitRule, OnMismatch, Reply, Slots};

use super::{
    super::{
        answer::{NodeReply, Refusal, Why},
        settings::Settings,
    },
    Answers, Ballot, BallotVerdict, holders,
};

impl Ballot {
    pub(super) fn refuse(
        &self,
        answers: Answers<'_>,
        majority: usize,
        settings: &Settings,
    ) -> BallotVerdict {
        let replies = || answers.iter().flatten().map(|(_, reply)| *reply);
        let not = || {
            replies().filter_map(|reply| match reply {
                NodeReply::Not(refusal) => Some(refusal),
                _ => None,
            })
        };
        let (ticket, permits, limit) =
            (self.ask.ticket, self.ask.permits.get(), self.limit(settings));
        let most = |count: usize| count >= majority;
        if let Some(cause) = ended(replies(), majority) {
            return BallotVerdict::Refused(Reply::Ended { ticket, cause });
        }
        if most(replies().filter(|r| matches!(r, NodeReply::Plain(Reply::TooLate { .. }))).count())
        {
            return BallotVerdict::Refused(Reply::TooLate { ticket });
        }
        let kinds: Vec<_> = replies().filter_map(NodeReply::other_kind).collect();
        if let Some(stored) =
            kinds.iter().find(|kind| most(kinds.iter().filter(|k| k == kind).count()))
        {
            let (stored, stated) = (*stored, self.ask.kind);
            return BallotVerdict::Refused(Reply::OtherKind {
                ticket: Some(ticket),
                stored,
                stated,
            });
        }
        if let Some(refusal) = self.other_limit(settings) {
            return BallotVerdict::Refused(refusal);
        }
        if permits > limit && limit > 0 {
            return BallotVerdict::Refused(Reply::TooMany { ticket, permits, limit });
        }
        let count = |why: Why| not().filter(|refusal| refusal.why == why).count();
        let held = self.held(answers, majority);
        if settings.paused.is_some() {
            return self.wait(Busy::Paused, limit, held, answers);
        }
        if most(count(Why::TooManyWaiting)) {
            return self.wait(Busy::TooManyWaiting, limit, held, answers);
        }
        if most(count(Why::Guarded)) {
            return self.wait(Busy::Guarded, limit, held, answers);
        }
        let is_known_full = held.is_none_or(|held| held + permits > limit);
        if is_known_full || most(count(Why::Late)) {
            return self.wait(Busy::Full, limit, held, answers);
        }
        let fences = answers.iter().flatten().map(|(answer, _)| answer.state.fence);
        BallotVerdict::Again {
            fence_above: fences.max().unwrap_or(0),
            is_outbid: count(Why::Fence) + count(Why::Stale) > 0,
            free: free(limit, answers),
        }
    }

    /// The refusal, if the caller stated a limit and must not go by the one in force.
    fn other_limit(&self, settings: &Settings) -> Option<Reply> {
        let LimitRule { limit, on_mismatch } = self.ask.limit?;
        let (ticket, stated, is_pinned) = (self.ask.ticket, limit.get(), settings.pinned.is_some());
        let refuses = match on_mismatch {
            OnMismatch::Exact => true,
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

    /// What is said to somebody who cannot have permits now.
    fn wait(
        &self,
        why: Busy,
        limit: u32,
        held: Option<u32>,
        answers: Answers<'_>,
    ) -> BallotVerdict {
        let ticket = self.ask.ticket;
        let waiting = median(answers, |refusal| refusal.waiting);
        let held = held.unwrap_or_else(|| median(answers, |refusal| refusal.held));
        BallotVerdict::Refused(match self.ask.enqueue {
            Enqueue::Yes { .. } if why != Busy::TooManyWaiting => {
                Reply::Queued { ticket, waiting: waiting.max(1), limit }
            }
            _ => Reply::Busy { ticket, why, limit, held, waiting },
        })
    }

    /// What the caller is told when all tries are used up, because others were quicker each time.
    pub(in super::super) fn give_up(&self, answers: Answers<'_>) -> Reply {
        let majority = answers.len() / 2 + 1;
        let settings = Settings::of(answers.iter().flatten().map(|(answer, _)| *answer), majority);
        match self.wait(Busy::Full, self.limit(&settings), self.held(answers, majority), answers) {
            BallotVerdict::Refused(reply) => reply,
            _ => Reply::Unknown { ticket: self.ask.ticket },
        }
    }
}

fn ended<'a>(replies: impl Iterator<Item = &'a NodeReply>, majority: usize) -> Option<Cause> {
    let causes: Vec<Cause> = replies.filter_map(NodeReply::ended).collect();
    (causes.len() >= majority).then(|| causes.first().copied()).flatten()
}

/// Slots below the limit that no answer knows a holder of.
fn free(limit: u32, answers: Answers<'_>) -> Slots {
    let mut free = if limit == 0 { Slots::none() } else { Slots::range(0, limit - 1) };
    for list in answers.iter().flatten().filter_map(|(_, reply)| holders(reply)) {
        for (_, slots) in &list.known {
            free.take(slots);
        }
    }
    free
}

fn median(answers: Answers<'_>, number: impl Fn(&Refusal) -> u32) -> u32 {
    let mut numbers: Vec<u32> = answers
        .iter()
        .flatten()
        .filter_map(|(_, reply)| match reply {
            NodeReply::Not(refusal) => Some(number(refusal)),
            _ => None,
        })
        .collect();
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}
