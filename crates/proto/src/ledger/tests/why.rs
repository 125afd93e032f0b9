//! Compares the reasons that are given for a wait with the next steps of the ledger.

use std::{collections::BTreeSet, vec, vec::Vec};

use super::world::*;
use crate::{
    About, Acquire, Configure, HoldLengths, HolderRow, Kind, Request, Snapshot, Ticket, WaiterRow,
    time::{Micros, SECOND},
    why::{Estimate, Reason, Unsaid, Waits, Why},
};

pub(super) fn waits(seen: &Snapshot, ticket: Ticket) -> Waits {
    match seen.why(&ticket) {
        Some(Why::Waits(waits)) => waits,
        other => panic!("{ticket} waits: {other:?}"),
    }
}

/// Checks that every waiter has a reason, and that every reason agrees with the snapshot.
pub(super) fn everybody_is_told_the_truth(seen: &Snapshot) {
    let estimates = seen.estimates(&HoldLengths::from(seen.recent));
    for (at, row) in seen.waiters.iter().enumerate() {
        let told = waits(seen, row.ticket);
        assert_eq!(
            told.estimate, estimates[at],
            "estimates of all at once and of one agree: {seen:?}"
        );
        assert!(!told.reasons.is_empty());
        let ahead = seen.waiters[..at].iter().filter(|row| !row.unreachable).count();
        for reason in &told.reasons {
            let is_true = agrees(seen, row, ahead, &told, reason);
            assert!(is_true, "{reason:?} of {row:?} in {seen:?}");
        }
        estimate_agrees(seen, row, &told);
    }
    for row in &seen.holders {
        assert!(
            matches!(seen.why(&row.ticket), Some(Why::Holds(held)) if held.ticket == row.ticket)
        );
    }
}

fn agrees(seen: &Snapshot, row: &WaiterRow, ahead: usize, told: &Waits, reason: &Reason) -> bool {
    let is_full = row.permits > seen.limit.saturating_sub(seen.held) || ahead > 0;
    match reason {
        Reason::Paused { reason } => seen.paused.as_ref() == Some(reason),
        Reason::Guarded { .. } => seen.guarded_for.is_some(),
        Reason::LimitIsZero { is_pinned } => seen.limit == 0 && *is_pinned == seen.pinned.is_some(),
        Reason::Unreachable => row.unreachable,
        Reason::AboveLimit { permits, limit } => *permits == row.permits && permits > limit,
        Reason::LimitLowered { held, limit } => held > limit && *limit > 0,
        Reason::Ahead { waiters, first, .. } => {
            *waiters as usize == ahead && ahead > 0 && *first == seen.waiters[0].ticket
        }
        Reason::Overtaken { priority, waiters } => {
            *priority > row.priority && *waiters as usize <= ahead && *waiters > 0
        }
        Reason::KeptFree { ticket, permits, free } => {
            *ticket != row.ticket && permits > free && *free > 0 && ahead > 0
        }
        Reason::WriterAhead { ticket } => *ticket != row.ticket && seen.kind == Some(Kind::RwLock),
        Reason::Held { holders, .. } => is_full && holders.listed.len() == seen.holders.len(),
        Reason::SlotHeld { name, holder } => {
            let slots = seen.slot_names.slots(&name.parse().unwrap()).unwrap();
            let holds = |it: &HolderRow| it.ticket == holder.ticket && it.slots.contains(&slots);
            row.wishes.contains(&slots) && seen.holders.iter().any(holds)
        }
        Reason::SlotAwaited { name, ticket } => {
            let slots = seen.slot_names.slots(&name.parse().unwrap()).unwrap();
            let is_free = seen.holders.iter().all(|it| !it.slots.contains(&slots));
            is_free
                && seen
                    .waiters
                    .iter()
                    .take_while(|it| it.ticket != row.ticket)
                    .any(|it| it.ticket == *ticket)
        }
        Reason::ReadersHold { .. } | Reason::WriterHolds { .. } => {
            is_full && seen.kind == Some(Kind::RwLock) && seen.held > 0
        }
        Reason::NotRenewed { holders } => {
            is_full && !holders.is_empty() && holders.iter().all(|held| held.valid_for.is_some())
        }
        Reason::AboutToBeServed => {
            told.reasons.len() == 1 && row.permits <= seen.limit.saturating_sub(seen.held)
        }
    }
}

fn estimate_agrees(seen: &Snapshot, row: &WaiterRow, told: &Waits) {
    let is_served = told.reasons == [Reason::AboutToBeServed];
    assert_eq!(told.estimate == Estimate::Now, is_served, "{told:?}");
    if let Estimate::CannotSay(unsaid) = told.estimate {
        assert_ne!(unsaid, Unsaid::NotAllListed, "all are listed: {seen:?}");
        assert!(unsaid == Unsaid::NoHoldEnded || told.leases_end.is_none(), "{told:?}");
    }
    if let Some(end) = told.leases_end {
        assert!(
            !is_served && end.leases > 0 && end.leases <= seen.holders_total,
            "{row:?}: {end:?}"
        );
    }
}

/// Checks, at a name that is resumed and resized, that exactly those waiters are granted which were
/// told that they are about to be served.
pub(super) fn what_is_foretold_comes_true(mut world: World, limit: u32) {
    world.contacts.0.clear(); // everybody listens
    let now = world.snapshot();
    if now.kind.is_some_and(|kind| kind != Kind::Semaphore) {
        return;
    }
    let is_named = !now.slot_names.is_empty();
    let limit = if is_named { now.limit } else { limit };
    let foreseen = Snapshot { limit, pinned: Some(limit), paused: None, ..now };
    let tickets: Vec<_> = foreseen.waiters.iter().map(|row| row.ticket).collect();
    let is_served =
        |ticket: &Ticket| waits(&foreseen, *ticket).reasons == [Reason::AboutToBeServed];
    let foretold: BTreeSet<_> = tickets.iter().copied().filter(is_served).collect();
    if !is_named {
        world.resize(limit);
    }
    world.send(0, vec![Request::Configure(Configure::Resume)]);
    let after = world.snapshot();
    let holds = |ticket: &Ticket| after.holders.iter().any(|row| row.ticket == *ticket);
    let granted: BTreeSet<_> = tickets.iter().copied().filter(holds).collect();
    assert_eq!(foretold, granted, "{foreseen:?}");
}

/// Returns how long ago the holder's lease was renewed, if the holder should have renewed it since.
fn not_renewed(world: &mut World) -> Option<Micros> {
    world.snapshot().holders[0].not_renewed_for()
}

/// A permit that was handed over lasts only as long as its place did, until its holder is heard
/// from. Such a short lease is no sign of a death.
#[test]
fn a_permit_that_was_handed_over_is_late_only_when_its_holder_should_have_been_heard() {
    let mut world = World::limited(1);
    let about = || About::default().encode();
    world.take(1, Acquire { about: about(), ..want(1) });
    world.queue(2, Acquire { about: about(), ..want(2) });
    world.now += SECOND;
    world.release(1, 1);
    assert_eq!(world.holders(), [2]);
    let left = world.snapshot().holders[0].valid_for.unwrap();
    assert_eq!(not_renewed(&mut world), None, "the permit was handed over just now");
    world.last(left / 2);
    assert_eq!(not_renewed(&mut world), None, "a client that waits looks more often than that");
    world.now += 2;
    assert_eq!(not_renewed(&mut world), Some(left / 2 + 2), "since the permit was handed over");
}
