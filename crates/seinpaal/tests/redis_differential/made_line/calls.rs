//! Calls of which the histories of a line are made. Each session has one lease, and asks for one
//! permit of two.

use seinpaal_proto::{
    Acquire, Enqueue, Kind, LeaseId, Limit, LimitRule, OnMismatch, Permits, Priority, Ticket,
    time::SECOND,
};

use super::super::history::{Event, FenceSeen, Sketch, inbox};

pub(super) fn by(who: u64, step: u64, sketch: Sketch) -> Event {
    in_one_call(who, step, vec![sketch])
}

pub(super) fn in_one_call(who: u64, step: u64, sketches: Vec<Sketch>) -> Event {
    let (inbox, fence) = (Some(inbox(who)), FenceSeen::None);
    Event::Call { step: step as i64, inbox, fence, sketches }
}

pub(super) fn look(step: u64) -> Event {
    by(0, step, Sketch::Inspect { rows: 9 })
}

/// A ticket of a session. Later sessions have lower ones. No series is found within other ids.
pub(super) fn ticket(who: u64, number: u32) -> Ticket {
    let spread = 0x7edc_ba98_7654_3211_0123_4567_89ab_cdef_u128;
    Ticket(spread - (u128::from(who) << 100)).series().ticket(number)
}

pub(super) fn sketch(acquire: Acquire) -> Sketch {
    Sketch::Acquire { acquire, not_after: None }
}

pub(super) fn release(who: u64, number: u32) -> Sketch {
    Sketch::Release { ticket: ticket(who, number), slots: None }
}

pub(super) fn renew(who: u64) -> Sketch {
    let lease = ticket(who, 0).into();
    Sketch::RenewAll { lease, ttl: 60 * SECOND, margin: 60 * SECOND, wrong: 0 }
}

/// A request for both permits.
pub(super) fn both(who: u64, number: u32) -> Acquire {
    Acquire { permits: Permits::new(2).unwrap(), ..acquire(who, number) }
}

pub(super) fn waits(who: u64, number: u32) -> Acquire {
    Acquire { enqueue: Enqueue::Yes { max_waiting: None }, ..acquire(who, number) }
}

pub(super) fn waits_for_both(who: u64) -> Acquire {
    Acquire { permits: both(who, 1).permits, ..waits(who, 1) }
}

pub(super) fn limit(limit: u32) -> Option<LimitRule> {
    Some(LimitRule { limit: Limit::new(limit).unwrap(), on_mismatch: OnMismatch::Refuse })
}

/// One permit of two.
pub(super) fn acquire(who: u64, number: u32) -> Acquire {
    Acquire {
        ticket: ticket(who, number),
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: seinpaal_proto::SlotNames::none(),
        limit: limit(2),
        enqueue: Enqueue::No,
        priority: Priority::default(),
        lease: ticket(who, 0).into(),
        ttl: 60 * SECOND,
        margin: 60 * SECOND,
        waiter_lease: LeaseId(u128::from(300 + who) << 64),
        waiter_ttl: 60 * SECOND,
        not_after: None,
        about: String::new(),
    }
}
