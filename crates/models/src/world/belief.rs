//! Compares the grants that clients believe in with the grants of the ledger.

use seinpaal_proto::{Entry, Standing};

use super::{
    Broken, PermitInProgram, World,
    act::asks_for_permits,
    judge::{clock_after, is_over},
    step::fence_of,
};
use crate::traffic::Life;

impl World {
    /// The grants that clients believe in now.
    pub(super) fn beliefs(&self) -> impl Iterator<Item = (usize, &PermitInProgram)> {
        let clients = self.clients.iter().enumerate().filter(|(_, c)| c.life != Life::Gone);
        let held =
            clients.flat_map(|(who, client)| client.held.iter().map(move |held| (who, held)));
        held.filter(|(_, held)| held.until.is_none_or(|until| until > self.now))
    }

    /// The holders of the ledger.
    pub(crate) fn holders(&self) -> impl Iterator<Item = &Entry> {
        let holds = |entry: &&Entry| matches!(entry.standing, Standing::Holding { .. });
        self.ledger.entries().filter(holds)
    }

    /// Looks for a client that believes in a grant that the ledger has ended, or would end at its
    /// next step. If another client has ended a grant, the holder may believe in it until it hears
    /// of the end, and at most for as long as the grant was certain when it ended.
    pub(super) fn misbelief(&self) -> Option<Broken> {
        self.beliefs().find_map(|(who, held)| match self.ended_at(who, held) {
            Some(at) => {
                let config = self.clients[who].session.config();
                let certain = config.schedule(config.ttl).lost();
                let is_bounded = held.until.is_some_and(|until| until <= at + certain);
                (!is_bounded).then_some(Broken::Untold)
            }
            None => (!self.is_so(who, held)).then_some(Broken::Believed),
        })
    }

    /// Returns whether a client believes in a grant that another has ended. Where nothing fails,
    /// every such client is told before time passes.
    pub(super) fn is_anybody_untold(&self) -> bool {
        self.beliefs().any(|(who, held)| self.ended_at(who, held).is_some())
    }

    pub(super) fn ended_at(&self, who: usize, held: &PermitInProgram) -> Option<u64> {
        self.ghost.ended.get(&(who, held.ticket, held.fence)).copied()
    }

    pub(super) fn is_so(&self, who: usize, held: &PermitInProgram) -> bool {
        let inbox = Some(self.clients[who].inbox);
        let is_it = |entry: &&Entry| {
            entry.ticket == held.ticket
                && entry.inbox == inbox
                && fence_of(entry) == Some(held.fence)
        };
        let lease = self.holders().find(is_it).and_then(|e| self.ledger.lease_under(e.ticket));
        let clock = self.ledger.facts().map_or(0, |head| clock_after(head, self.store_now));
        lease.is_some_and(|lease| !is_over(lease, clock, self.store_now, &self.clients))
    }

    /// Forgets the endings of grants that nobody can believe in any more, and that no copy under
    /// way asks for again.
    pub(super) fn forget_endings(&mut self) {
        let (clients, parcels) = (&self.clients, &self.parcels);
        self.ghost.ended.retain(|(who, ticket, _), _| {
            let client = &clients[*who];
            client.wanted.contains(ticket)
                || client.held.iter().any(|held| held.ticket == *ticket)
                || parcels.iter().any(|parcel| asks_for_permits(parcel, *ticket))
        });
    }
}
