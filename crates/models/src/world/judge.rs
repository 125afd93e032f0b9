//! Checks that one step of the ledger keeps the rules.

use seinpaal_proto::{
    Contact, Entry, Head, Lease, LeaseId, MemoryState, Request, Standing, Ticket, time::Micros,
};

use super::{
    Client, Ghost, RuleOfLimit,
    step::{Step, fence_of, is_ended_by},
};
use crate::bounds::Bounds;

/// The rule that was broken.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Broken {
    /// The ledger contradicts itself.
    Books,
    /// More permits are held in the ledger than the limit allows.
    Held,
    /// A client believes in a grant that the ledger does not have.
    Believed,
    /// A client believes for too long in a grant that another has ended.
    Untold,
    /// A fence was not greater than all earlier ones.
    Fence,
    /// A ticket was granted twice, or after it was given up, or an attach was granted twice.
    Twice,
    /// A client shortened or ended a lease of another.
    Shortened,
    /// A waiter was served before another that came first and could be reached.
    Order,
    /// The limit in force is not what the rules say.
    Terms,
    /// The slots' names are not what the rules say, or a client got a wrong slot, or none.
    Naming,
    /// Nothing had failed, and a client was in danger, lost a permit, was refused, or had less than
    /// two thirds of a ttl.
    Alarm,
}

/// A grant that a step made.
struct JudgedGrant {
    fence: u64,
    ticket: Ticket,
    lease: LeaseId,
    /// Whether the ticket held nothing before. Otherwise it changed hands.
    is_new: bool,
}

impl Step<'_> {
    pub(super) fn judge(
        &self,
        bounds: &Bounds,
        store_now: Micros,
        clients: &[Client],
        ghost: &mut Ghost,
    ) -> Option<Broken> {
        let is_excused = ghost.was_forgotten && ghost.was_set_back && !bounds.is_strict;
        if is_excused && self.before.is_empty() {
            // The ledger takes its fences from the clock, and from what the asking client has heard
            // (docs/guide/promises.md).
            ghost.last_fence = ghost.last_fence.min(self.batch.fence_seen);
        }
        if bounds.steps_back > 0 && self.after.is_empty() && !self.before.is_empty() {
            ghost.was_forgotten = store_now > ghost.last_fence;
        }
        let grants = self.grants();
        for grant in &grants {
            if grant.fence <= ghost.last_fence {
                return Some(Broken::Fence);
            }
            ghost.last_fence = grant.fence;
            // A request's deadline goes by the store's clock. If that clock is set back, an old
            // request may be granted a second time.
            let is_excused = ghost.was_set_back && !bounds.is_strict;
            if !ghost.granted.insert(self.request_of(grant)) && !is_excused {
                return Some(Broken::Twice);
            }
        }
        ghost.granted.extend(self.given_up());
        let is_right = ghost.terms.as_mut().is_none_or(|terms| terms.follow(self));
        let is_named_right = ghost.naming.as_mut().is_none_or(|naming| naming.follow(self));
        let limit = ghost.terms.as_ref().map_or(bounds.limit, RuleOfLimit::in_force);
        let limit = ghost.naming.as_ref().map_or(limit, |naming| naming.in_force(limit));
        // Where slots have names, `naming` judges which waiter may pass another.
        let has_names = ghost.naming.as_ref().is_some_and(|naming| !naming.names().is_empty());
        let broken = [
            (self.is_above(limit, &grants), Broken::Held),
            (self.after.check().is_err(), Broken::Books),
            (!is_right, Broken::Terms),
            (!is_named_right, Broken::Naming),
            (self.shortens(store_now, clients), Broken::Shortened),
            (!has_names && self.passes(&grants), Broken::Order),
        ];
        broken.into_iter().find_map(|(is_broken, rule)| is_broken.then_some(rule))
    }

    /// The tickets that this batch gives up. A ticket that was given up is never granted again,
    /// however late its requests come.
    fn given_up(&self) -> impl Iterator<Item = Ticket> {
        self.batch.requests.iter().filter_map(|request| match request {
            Request::Cancel { ticket, attach: None, .. } => Some(*ticket),
            _ => None,
        })
    }

    /// The holders that did not hold before, or hold in another's place, in the order of fences.
    fn grants(&self) -> Vec<JudgedGrant> {
        let grant = |entry: &Entry| {
            let fence = fence_of(entry).filter(|_| entry.inbox.is_some())?;
            let mut before = self.before.entries().filter(|e| e.ticket == entry.ticket);
            let before = before.find(|e| fence_of(e).is_some());
            let is_same = |e: &Entry| (e.inbox, fence_of(e)) == (entry.inbox, Some(fence));
            let (ticket, lease, is_new) = (entry.ticket, entry.lease, before.is_none());
            (!before.is_some_and(is_same)).then_some(JudgedGrant { fence, ticket, lease, is_new })
        };
        let mut grants: Vec<JudgedGrant> = self.after.entries().filter_map(grant).collect();
        grants.sort_unstable_by_key(|grant| (grant.fence, grant.ticket));
        grants
    }

    /// The request behind a grant: the attach if there is one, and otherwise the ticket. Each may
    /// be granted once.
    fn request_of(&self, grant: &JudgedGrant) -> Ticket {
        let is_it = |request: &Request| match request {
            Request::Attach(attach) => (attach.ticket, attach.lease) == (grant.ticket, grant.lease),
            _ => false,
        };
        let is_attach = self.batch.requests.iter().any(is_it);
        if is_attach { Ticket(grant.lease.0) } else { grant.ticket }
    }

    /// Returns whether this step granted new permits and more permits are held than the limit.
    /// Permits that were held before the limit was lowered are no violation.
    fn is_above(&self, limit: u32, grants: &[JudgedGrant]) -> bool {
        let held = self.after.entries().filter(|entry| fence_of(entry).is_some());
        let held: u32 = held.map(|entry| entry.permits).sum();
        grants.iter().any(|grant| grant.is_new) && held > limit
    }

    /// Returns whether a lease of another client than the sender ends earlier than before, although
    /// it had time left and the sender may not end it.
    fn shortens(&self, store_now: Micros, clients: &[Client]) -> bool {
        let clock = self.before.facts().map_or(0, |head| clock_after(head, store_now));
        let others = |e: &&Entry| {
            let is_ended = is_ended_by(self.batch, e.ticket);
            fence_of(e).is_some() && e.inbox != self.batch.inbox && !is_ended
        };
        self.before.entries().filter(others).any(|entry| {
            let Some(lease) = self.before.lease_under(entry.ticket) else { return true };
            match self.after.lease_under(entry.ticket) {
                Some(after) => after.ends < lease.ends,
                None => !is_over(lease, clock, store_now, clients),
            }
        })
    }

    /// Returns whether a waiter that stood in line before, and still does, was passed by one that
    /// came later. A waiter that was passed over keeps its place. A waiter whose place has ended
    /// goes to the end of the line when it asks again.
    fn passes(&self, grants: &[JudgedGrant]) -> bool {
        let in_line = |ticket| self.after.line().any(|e| e.ticket == ticket);
        let stays = |ticket: &Ticket| {
            in_line(*ticket) && place(self.before, *ticket) == place(self.after, *ticket)
        };
        let mut line = self.before.line().map(|entry| entry.ticket);
        let Some(first) = line.find(stays) else { return false };
        let first = place(self.before, first);
        let mut new = grants.iter().filter(|grant| grant.is_new);
        new.any(|grant| place(self.before, grant.ticket) > first)
    }
}

/// The place of a ticket. Newcomers stand behind all others.
fn place(ledger: &MemoryState, ticket: Ticket) -> (i64, Ticket) {
    let entry = ledger.entries().find(|entry| entry.ticket == ticket);
    match entry.map(|entry| &entry.standing) {
        Some(Standing::Waiting { rank, .. }) => (*rank, ticket),
        _ => (i64::MAX, ticket),
    }
}

/// The bounded clock, implemented a second time.
pub(super) fn clock_after(head: &Head, store_now: Micros) -> Micros {
    head.clock + store_now.saturating_sub(head.wall).min(head.bound)
}

pub(super) fn is_over(lease: &Lease, clock: Micros, store_now: Micros, clients: &[Client]) -> bool {
    let owner = clients.iter().find(|client| Some(client.inbox) == lease.inbox);
    let is_silent = owner.is_none_or(|owner| owner.contact != Contact::Listening);
    lease.ends <= clock || (is_silent && lease.ends_wall <= store_now)
}
