//! The requests that keep held permits and places in line.

use alloc::vec::Vec;

use super::{
    super::{
        Session,
        desk::{Desk, digest},
        lease::LeaseDesk,
        record::Phase,
        sent::{BatchPart, Sent},
    },
    Draft,
};
use crate::{
    id::{LeaseId, Ticket},
    name::Name,
    request::{Renew, Request, Whom},
    time::Micros,
};

impl Session {
    /// Renews by name the tickets that were granted but not proved yet. A caller waits for each of
    /// these permits, since the session hands over none without a proof.
    pub(super) fn draft_proofs(
        &mut self,
        now: Micros,
        name: &Name,
        draft: &mut Draft,
        is_wanted: impl Fn(&LeaseDesk) -> bool,
    ) {
        let config = self.config.clone();
        for (&lease, of) in self.desk(name).leases.iter_mut() {
            if of.unproved.is_empty() || !is_wanted(of) {
                continue;
            }
            let (ttl, margin) = (of.ttl, config.stated_margin(of.ttl));
            if draft.is_full() {
                return;
            }
            let tickets: Vec<Ticket> = of.unproved.iter().copied().collect();
            let whom = Whom::Tickets(tickets.clone());
            let renew = Request::Renew(Renew { lease, ttl, margin, whom });
            draft.push(BatchPart::Proof { lease, tickets }, renew);
            of.proofs.sent(now, config.schedule(ttl).repeat());
        }
    }

    /// Renews the leases that are due: as a whole with a digest, or ticket by ticket where client
    /// and store may disagree on the tickets under them.
    pub(super) fn draft_renewals(&mut self, now: Micros, name: &Name, draft: &mut Draft) {
        let config = self.config.clone();
        let under_way = self.desk(name).under_way.and_then(|call| self.calls.get(&call));
        // Nobody knows which tickets stand under a lease while a call that changes it is under way.
        let is_in_doubt = under_way.is_some_and(Sent::changes_leases);
        let desk = self.desk(name);
        let is_certain = !is_in_doubt && desk.uncertain.is_empty();
        let joined = desk.leases_to_join();
        let Desk { leases, records, .. } = desk;
        for (&lease, of) in leases.iter_mut() {
            let as_a_whole = !of.by_ticket && is_certain;
            // A permit that is granted now under an old lease is not proved for long enough, and
            // would cost a renewal of its own. So this call renews the lease, too.
            let is_joined = as_a_whole && joined.contains(&lease) && of.is_worth_renewing(now);
            let is_due = is_joined || of.is_due(now);
            if !is_due || draft.is_full() {
                continue;
            }
            of.renewal_is_sent(now, config.schedule(of.ttl).repeat());
            let (ttl, margin) = (of.ttl, config.stated_margin(of.ttl));
            let renew = |whom| Request::Renew(Renew { lease, ttl, margin, whom });
            if as_a_whole {
                draft.renew_whole(lease, of, renew);
                continue;
            }
            // A ticket that is being given back stands under the lease until the store confirms its
            // release, so it counts above. It is not renewed by name any more.
            let is_held = |t: &&Ticket| records.get(t).is_some_and(|r| r.phase == Phase::Held);
            let held: Vec<Ticket> = of.held.iter().filter(is_held).copied().collect();
            draft.renew_by_name(lease, held, renew);
        }
    }

    /// Adds a proof behind a release if the last released permit went to one of our own waiters.
    /// The proof is for the grant that this release may make to our next waiter. It saves a call,
    /// and the waiter a round trip.
    pub(super) fn draft_ahead(&mut self, name: &Name, draft: &mut Draft) {
        let config = self.config.clone();
        let desk = self.desk(name);
        let is_release = |part: &BatchPart| matches!(part, BatchPart::Release(..));
        if !desk.hands_over_to_us || draft.is_full() || !draft.items.iter().any(is_release) {
            return;
        }
        let Some(first) = desk.first_in_line() else { return };
        let (lease, ticket, ttl) = (first.lease, first.ticket, first.want.ttl);
        let (margin, whom) = (config.stated_margin(ttl), Whom::Tickets(Vec::from([ticket])));
        let renew = Request::Renew(Renew { lease, ttl, margin, whom });
        draft.push(BatchPart::Ahead { lease, ticket }, renew);
    }

    /// Renews the places in line, those of a series with one request.
    pub(super) fn draft_places(&mut self, now: Micros, name: &Name, draft: &mut Draft) {
        let ttl = self.config.waiter_ttl;
        for (&lease, places) in self.desk(name).places.iter_mut() {
            // Places that are due soon go along with other requests, which saves a call.
            if places.due.is_none_or(|due| due > now + ttl / 32) || draft.is_full() {
                continue;
            }
            places.due = None;
            let members = u32::try_from(places.waiting.len()).unwrap_or(u32::MAX);
            let whom = Whom::All { members, digest: digest(places.waiting.iter()) };
            // Nobody holds a permit by a place, so its renewal states the largest margin that a
            // lease may have, and slows the ledger's clock as little as possible.
            let renew = Renew { lease, ttl, margin: ttl / 2, whom };
            draft.push(BatchPart::Places(lease), Request::Renew(renew));
        }
    }
}

impl Draft {
    fn renew_whole(&mut self, lease: LeaseId, of: &LeaseDesk, renew: impl Fn(Whom) -> Request) {
        let members = u32::try_from(of.held.len()).unwrap_or(u32::MAX);
        let whom = Whom::All { members, digest: digest(of.held.iter()) };
        let tickets = of.held.iter().copied().collect();
        self.push(BatchPart::Lease { lease, tickets }, renew(whom));
    }

    fn renew_by_name(
        &mut self,
        lease: LeaseId,
        tickets: Vec<Ticket>,
        renew: impl Fn(Whom) -> Request,
    ) {
        let whom = Whom::Tickets(tickets.clone());
        self.push(BatchPart::Tickets { lease, tickets }, renew(whom));
    }
}
