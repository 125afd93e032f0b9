//! A lease of this client at one name: the tickets under it, its end, and its next renewal.

use super::{few::FewSet, repetition::Repetition, schedule::LeaseSchedule};
use crate::{id::Ticket, time::Micros};

/// A lease under which permits of this client stand.
#[derive(Clone, Debug)]
pub(super) struct LeaseDesk {
    pub(super) ttl: Micros,
    /// The tickets that were granted and that are not over as far as the store has said.
    pub(super) held: FewSet<Ticket>,
    /// The tickets of `held` that the program does not have yet, because nothing proves how long
    /// the lease lasts.
    pub(super) unproved: FewSet<Ticket>,
    /// The number of records that name this lease.
    pub(super) users: u32,
    /// The lease lasts at least a ttl from this instant. `MAX`: as long as the process lives.
    pub(super) proved_at: Micros,
    /// When to renew the lease.
    pub(super) due: Option<Micros>,
    pub(super) renewals: Repetition,
    /// The renewals that are to prove the tickets of `unproved`.
    pub(super) proofs: Repetition,
    /// Client and store disagree on the tickets under the lease, so it is renewed ticket by ticket.
    pub(super) by_ticket: bool,
}

impl LeaseDesk {
    pub(super) fn new(ttl: Micros) -> Self {
        Self {
            ttl,
            held: FewSet::default(),
            unproved: FewSet::default(),
            users: 0,
            proved_at: 0,
            due: None,
            renewals: Repetition::default(),
            proofs: Repetition::default(),
            by_ticket: false,
        }
    }

    /// Returns when to renew the lease, or to prove the tickets under it, if no answer comes
    /// before.
    pub(super) fn next_renewal(&self) -> Option<Micros> {
        let proofs = self.proofs.at.filter(|_| !self.unproved.is_empty());
        [self.due, self.renewals.at, proofs].into_iter().flatten().min()
    }

    /// Returns whether an answer about the lease should have come by now.
    pub(super) fn is_overdue(&self, now: Micros) -> bool {
        let is_unproved = !self.unproved.is_empty() && self.proofs.is_overdue(now);
        self.renewals.is_overdue(now) || is_unproved
    }

    /// Returns whether to renew the lease in a call that goes out now. A lease that is due soon
    /// goes along, so that all leases of a client are renewed together.
    pub(super) fn is_due(&self, now: Micros) -> bool {
        let soon = now + self.ttl / 32;
        self.renewals.is_overdue(now) || self.due.is_some_and(|due| due <= soon)
    }

    /// Returns whether a renewal that was sent at `at` or later was answered. Then the failure of
    /// an earlier one means nothing.
    pub(super) fn was_renewed_after(&self, at: Micros) -> bool {
        (at..Micros::MAX).contains(&self.proved_at)
    }

    /// Notes that a renewal goes out. It need not be repeated if the lease lasts as long as the
    /// process.
    pub(super) fn renewal_is_sent(&mut self, now: Micros, pause: Micros) {
        self.due = None;
        if self.proved_at < Micros::MAX {
            self.renewals.sent(now, pause);
        }
    }

    /// Puts a ticket under this lease. Nothing proves yet for how long it holds.
    pub(super) fn hold(&mut self, ticket: Ticket) {
        self.held.insert(ticket);
        self.unproved.insert(ticket);
    }

    /// Plans a renewal for `due`, unless an earlier one is planned.
    pub(super) fn renew_by(&mut self, due: Micros) {
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }

    /// Returns whether the last proof is too old to hand over another permit under the lease.
    pub(super) fn is_stale(&self, now: Micros) -> bool {
        LeaseSchedule::is_stale(self.ttl, now.saturating_sub(self.proved_at))
    }

    /// Returns whether it saves a call to renew the lease together with a request for another
    /// permit under it. Otherwise the lease would need a renewal after the grant.
    pub(super) fn is_worth_renewing(&self, now: Micros) -> bool {
        !self.held.is_empty() && self.unproved.is_empty() && self.is_stale(now)
    }

    pub(super) fn let_go(&mut self, ticket: Ticket) {
        self.held.remove(&ticket);
        self.unproved.remove(&ticket);
        if self.held.is_empty() {
            self.due = None;
            self.renewals.answered();
            // With nothing held there is nothing left to disagree about.
            self.by_ticket = false;
        }
    }
}
