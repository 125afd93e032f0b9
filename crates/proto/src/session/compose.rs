//! Composes the next call about a name from everything that is due.
//!
//! ```text
//!   proofs · renewals · places     keep permits and places   compose/renewals.rs
//!   tickets · one-offs             change something          compose/requests.rs
//! ```
//!
//! Renewals stand first in a batch, so that the ledger finds those tickets under each lease which
//! the session believes to be there. Requests of an operator carry no inbox and go in calls of
//! their own.

mod renewals;
mod requests;

use alloc::vec::Vec;

use super::{
    Session,
    event::{Call, CallId},
    lease::LeaseDesk,
    sent::{BatchPart, Sent},
};
use crate::{
    id::Inbox,
    name::Name,
    request::{Batch, Request},
    time::Micros,
};

/// The most calls under way that overtake others. If the connection works, each of them is answered
/// within a moment. Without the bound, a dead connection would collect thousands of them.
pub(super) const MOST_OVERTAKING: usize = 64;

/// The requests of one batch, with the purpose of each.
#[derive(Default)]
struct Draft {
    items: Vec<BatchPart>,
    requests: Vec<Request>,
}

impl Draft {
    fn push(&mut self, item: BatchPart, request: Request) {
        self.items.push(item);
        self.requests.push(request);
    }

    fn is_full(&self) -> bool {
        self.requests.len() >= Batch::MOST
    }
}

impl Session {
    /// Composes the next call about a name, if anything is due. While a call is under way, only
    /// renewals may overtake it.
    pub(super) fn compose(&mut self, now: Micros, name: &Name) -> Option<Call> {
        let desk = self.desks.get(name)?;
        // The last call failed, and the pause after it is not over.
        if desk.retry_at.is_some_and(|at| at > now) {
            return None;
        }
        let overdue = self.overdue(now, name);
        if desk.under_way.is_some() {
            return self.overtake(now, name, overdue);
        }
        let (draft, as_nobody) = self.draft_in_turn(now, name);
        let desk = self.desk(name);
        // The requests that did not fit into this call come first in the next one.
        desk.nobodys_turn = !as_nobody;
        // If the store has work left over, an empty batch makes it go on.
        if draft.requests.is_empty() && !desk.must_settle {
            return None;
        }
        desk.must_settle = false;
        let call = self.send(now, name, draft, overdue, (!as_nobody).then_some(self.inbox));
        self.desk(name).under_way = Some(call.id);
        Some(call)
    }

    /// Composes a call beside the one that is under way. The call has renewals only: the answer to
    /// the other call may never come, and no lease may end because of that.
    fn overtake(&mut self, now: Micros, name: &Name, overdue: Option<Micros>) -> Option<Call> {
        if self.overtaking >= MOST_OVERTAKING {
            return None;
        }
        let mut draft = Draft::default();
        self.draft_proofs(now, name, &mut draft, |lease| lease.proofs.is_overdue(now));
        self.draft_renewals(now, name, &mut draft);
        if draft.requests.is_empty() {
            return None;
        }
        self.overtaking += 1;
        let call = self.send(now, name, draft, overdue, Some(self.inbox));
        if let Some(sent) = self.calls.get_mut(&call.id) {
            sent.overtakes = true;
        }
        Some(call)
    }

    /// Notes that a call is not under way any more, whether it was answered or failed.
    pub(super) fn has_ended(&mut self, sent: &Sent) {
        if sent.overtakes {
            self.overtaking -= 1;
        } else {
            self.desk(&sent.name).under_way = None;
        }
    }

    /// Returns how long a renewal, or the call that it waits for, should have taken at most, if it
    /// takes longer than that.
    fn overdue(&self, now: Micros, name: &Name) -> Option<Micros> {
        let desk = self.desks.get(name)?;
        let under_way = desk.under_way.and_then(|call| self.calls.get(&call));
        let is_late = |of: &LeaseDesk| {
            let sent_at = under_way.map_or(now, |sent| sent.at);
            !of.held.is_empty() && (of.is_overdue(now) || sent_at + self.pause(of) <= now)
        };
        desk.leases.values().filter(|of| is_late(of)).map(|of| self.pause(of)).min()
    }

    /// Returns the time between a renewal and its repetition.
    fn pause(&self, lease: &LeaseDesk) -> Micros {
        self.config.schedule(lease.ttl).repeat()
    }

    /// Drafts either requests that carry our inbox, or requests that must not. If both wait to be
    /// sent, they take turns. So requests without an inbox, however many, delay a renewal by at
    /// most one call.
    fn draft_in_turn(&mut self, now: Micros, name: &Name) -> (Draft, bool) {
        let nobody_is_first = self.desk(name).nobodys_turn;
        if nobody_is_first {
            let draft = self.draft_as_nobody(name);
            if !draft.requests.is_empty() {
                return (draft, true);
            }
        }
        let draft = self.draft(now, name);
        if !draft.requests.is_empty() || nobody_is_first {
            return (draft, false);
        }
        let draft = self.draft_as_nobody(name);
        let as_nobody = !draft.requests.is_empty();
        (draft, as_nobody)
    }

    fn send(
        &mut self,
        now: Micros,
        name: &Name,
        draft: Draft,
        overdue: Option<Micros>,
        inbox: Option<Inbox>,
    ) -> Call {
        self.last_call += 1;
        let id = CallId(self.last_call);
        let Draft { items, requests } = draft;
        self.calls.insert(id, Sent { at: now, name: name.clone(), items, overtakes: false });
        let fence_seen = self.fence_seen;
        let batch = Batch { name: name.clone(), inbox, fence_seen, requests };
        Call { id, batch, overdue }
    }

    /// Drafts requests that carry our inbox. Renewals come first, while the same tickets stand
    /// under each lease as at the last reply. Only one renewal stands behind a release: it proves
    /// the grant that the release makes.
    fn draft(&mut self, now: Micros, name: &Name) -> Draft {
        let mut draft = Draft::default();
        self.draft_proofs(now, name, &mut draft, |_| true);
        self.draft_renewals(now, name, &mut draft);
        self.draft_places(now, name, &mut draft);
        self.draft_tickets(now, name, &mut draft);
        self.draft_ahead(name, &mut draft);
        let desk = self.desk(name);
        // A request of an operator waits for a call of its own, which carries no inbox.
        let one_offs = core::mem::take(&mut desk.one_offs);
        for (one_off, request, as_nobody) in one_offs {
            if as_nobody || draft.is_full() {
                desk.one_offs.push_back((one_off, request, as_nobody));
            } else {
                draft.push(BatchPart::OneOff(one_off), request);
            }
        }
        draft
    }
}
