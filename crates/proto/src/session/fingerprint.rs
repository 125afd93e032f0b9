//! The part of a session's state that can change its next steps, as a fingerprint for the models.

use core::hash::{Hash, Hasher};

use super::{
    Session,
    desk::Desk,
    event::Want,
    lease::LeaseDesk,
    record::{Record, TicketExit, Validity},
    repetition::Repetition,
    sent::Sent,
};
use crate::{fingerprint::Lens, id::Fence};

impl Session {
    /// Feeds `hasher` all facts on which the session's later steps depend. Instants are taken
    /// relative to the session's clock, `own`, and to the store's, `store`. The numbers of calls
    /// are left out, and so is the jitter, which must be too small to show at the ticks of the
    /// lens.
    pub fn fingerprint<H: Hasher>(&self, own: &Lens, store: &Lens, hasher: &mut H) {
        // `tickets`, `agenda` and `alarms` follow from the desks.
        let Self { desks, shelf, calls, events, store_clock, fence_seen, .. } = self;
        shelf.iter().for_each(|kept| kept.hash(hasher));
        for (name, desk) in desks {
            name.hash(hasher);
            desk_of(desk, own, store, hasher);
        }
        for Sent { at, name: _, items, overtakes } in calls.values() {
            (own.exact(*at), items, overtakes).hash(hasher);
        }
        events.len().hash(hasher);
        let ahead = |(clock, sent): (u64, u64)| clock.wrapping_sub(sent);
        let offset = store.now.wrapping_sub(own.now);
        store_clock.map(|told| ahead(told).wrapping_sub(offset)).hash(hasher);
        store.fence(Fence(*fence_seen)).hash(hasher);
    }
}

fn desk_of<H: Hasher>(desk: &Desk, own: &Lens, store: &Lens, hasher: &mut H) {
    let Desk {
        records,
        outbox,
        places,
        uncertain,
        leases,
        shared_leases,
        hands_over_to_us,
        one_offs,
        nobodys_turn,
        under_way,
        retry_at,
        failures,
        must_settle,
        agenda_at,
    } = desk;
    records.values().for_each(|record| record_of(record, own, store, hasher));
    outbox.tickets().for_each(|ticket| ticket.hash(hasher));
    (uncertain, shared_leases).hash(hasher);
    for (lease, places) in places.iter() {
        (lease, &places.waiting).hash(hasher);
        own.due(places.due, hasher);
    }
    for (id, lease) in leases.iter() {
        id.hash(hasher);
        lease_of(lease, own, hasher);
    }
    own.due(retry_at.filter(|at| *at > own.now), hasher);
    // How long a name has been due decides only which of several names has its turn first.
    own.due(agenda_at.map(|at| at.max(own.now)), hasher);
    (hands_over_to_us, *nobodys_turn && !one_offs.is_empty()).hash(hasher);
    (one_offs.len(), under_way.is_some(), failures.min(&7), must_settle).hash(hasher);
}

fn lease_of<H: Hasher>(lease: &LeaseDesk, own: &Lens, hasher: &mut H) {
    let LeaseDesk { ttl, held, unproved, users, proved_at: _, due, by_ticket, .. } = lease;
    (ttl, held, unproved, users, lease.is_stale(own.now), by_ticket).hash(hasher);
    own.due(*due, hasher);
    for Repetition { at, sent } in [&lease.renewals, &lease.proofs] {
        own.due(*at, hasher);
        sent.hash(hasher);
    }
}

fn record_of<H: Hasher>(record: &Record, own: &Lens, store: &Lens, hasher: &mut H) {
    let Record { ticket, lease, want, phase, exit, is_attaching, is_doubted, granted, .. } = record;
    let Want { permits, kind, wishes, limit, ttl, deadline, .. } = want;
    (ticket, lease, permits, kind, wishes, limit, ttl, phase, exit, is_attaching, is_doubted)
        .hash(hasher);
    own.due(*deadline, hasher);
    // The program was told the fence, and `fence_seen` counts it. A detach names it as well.
    let detached = granted.as_ref().filter(|_| *exit == TicketExit::Detach);
    detached.map(|granted| store.fence(granted.fence)).hash(hasher);
    granted.as_ref().map(|granted| (&granted.slots, &granted.names, granted.limit)).hash(hasher);
    beliefs_of(record, own, hasher);
    let Record { sent_at, silent_since, leave_by, giving, .. } = record;
    (sent_at.is_some(), silent_since.map(|at| own.exact(at)), giving).hash(hasher);
    own.due(*leave_by, hasher);
}

fn beliefs_of<H: Hasher>(record: &Record, own: &Lens, hasher: &mut H) {
    let Record { validity, danger_at, is_delivered, in_danger, was_queued, .. } = record;
    match validity {
        Validity::Until(until) => own.exact(*until).hash(hasher),
        Validity::Always => i64::MAX.hash(hasher),
    }
    (own.ticks(*danger_at), is_delivered, in_danger, was_queued).hash(hasher);
}
