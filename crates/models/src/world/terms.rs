//! Rule 11, told a second time: which limit is in force.

use seinpaal_proto::{Acquire, Configure, OnMismatch, Reply, Request};

use super::step::Step;

/// The limit by the rules.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct RuleOfLimit {
    /// The limit that an operator has pinned, until it is unpinned.
    pinned: Option<u32>,
    /// The limit that holders and waiters have stated, until the last of them has left.
    stated: Option<u32>,
}

impl RuleOfLimit {
    pub(super) fn in_force(&self) -> u32 {
        self.pinned.or(self.stated).unwrap_or(1)
    }

    /// Follows a step of one request or none, before which everything due was settled. Returns
    /// whether the ledger's limit is right.
    pub(super) fn follow(&mut self, step: &Step<'_>) -> bool {
        if step.before.entries().next().is_none() {
            self.stated = None;
        }
        let request = step.batch.requests.first().zip(step.replies.first());
        let is_right = request.is_none_or(|(request, reply)| self.answer(step, request, reply));
        let (limit, is_used) = (self.in_force(), step.after.entries().next().is_some());
        if !is_used {
            self.stated = None;
        }
        let facts = step.after.facts();
        let is_kept = facts.and_then(|head| head.pinned) == self.pinned;
        is_right && is_kept && (!is_used || facts.is_some_and(|head| head.limit() == limit))
    }

    fn answer(&mut self, step: &Step<'_>, request: &Request, reply: &Reply) -> bool {
        match request {
            Request::Configure(Configure::Limit(limit)) => self.pinned = Some(limit.get()),
            Request::Configure(Configure::Unpin) => self.pinned = None,
            Request::Acquire(want) => {
                let is_new = step.before.entries().all(|entry| entry.ticket != want.ticket);
                return !is_new || self.want(want, reply);
            }
            _ => return true,
        }
        *reply == Reply::Configured { limit: self.in_force() }
    }

    fn want(&mut self, want: &Acquire, reply: &Reply) -> bool {
        if matches!(reply, Reply::TooLate { .. } | Reply::Ended { .. }) {
            return true;
        }
        let (ticket, permits) = (want.ticket, want.permits.get());
        let number = want.limit.map(|rule| rule.limit.get());
        let rule = want.limit.map(|rule| rule.on_mismatch);
        let contradicts = match rule {
            Some(OnMismatch::Exact) => self.pinned.or(self.stated),
            Some(OnMismatch::Refuse) if self.pinned.is_none() => self.stated,
            _ => None,
        };
        if let (Some(stored), Some(stated)) = (contradicts.filter(|n| Some(*n) != number), number) {
            let is_pinned = self.pinned.is_some();
            return *reply == Reply::OtherLimit { ticket, stored, stated, is_pinned };
        }
        let implied = || if self.pinned.is_none() { Some(1) } else { None };
        let stated = match rule {
            Some(OnMismatch::Set) => number,
            _ => self.stated.or(number).or_else(implied),
        };
        let limit = self.pinned.or(stated).unwrap_or(1);
        if permits > limit && limit > 0 {
            return *reply == Reply::TooMany { ticket, permits, limit };
        }
        self.stated = stated;
        matches!(reply, Reply::Granted(_) | Reply::Queued { .. })
    }
}
