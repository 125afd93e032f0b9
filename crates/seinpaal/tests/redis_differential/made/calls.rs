//! Calls of which histories are made. Sessions have one lease each, and ask for one permit of five.

use seinpaal_proto::{
    Acquire, Enqueue, Kind, LeaseId, Limit, LimitRule, OnMismatch, Permits, Priority, Ticket,
    time::SECOND,
};

use super::super::history::{Event, FenceSeen, Sketch, inbox};

pub(super) fn many_at_once() -> Option<LimitRule> {
    Some(LimitRule { limit: Limit::new(200).unwrap(), on_mismatch: OnMismatch::Refuse })
}

pub(super) fn call<const N: usize>(step: i64, sketches: [Sketch; N]) -> Event {
    by(0, step, sketches.to_vec())
}

pub(super) fn by(who: u64, step: i64, sketches: Vec<Sketch>) -> Event {
    Event::Call { step, inbox: Some(inbox(who)), fence: FenceSeen::None, sketches }
}

pub(super) fn look(step: u64) -> Event {
    call(step as i64, [Sketch::Inspect { rows: 9 }])
}

pub(super) fn ticket(number: u32) -> Ticket {
    Ticket(0).series().ticket(number)
}

pub(super) fn sketch(acquire: Acquire) -> Sketch {
    Sketch::Acquire { acquire, not_after: None }
}

pub(super) fn release(number: u32) -> Sketch {
    Sketch::Release { ticket: ticket(number), slots: None }
}

pub(super) fn renew(ttl: u64) -> Sketch {
    Sketch::RenewAll { lease: ticket(0).into(), ttl, margin: SECOND / 4, wrong: 0 }
}

pub(super) fn acquire(number: u32) -> Acquire {
    Acquire {
        ticket: ticket(number),
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: seinpaal_proto::SlotNames::none(),
        limit: Some(LimitRule { limit: Limit::new(5).unwrap(), on_mismatch: OnMismatch::Refuse }),
        enqueue: Enqueue::No,
        priority: Priority::default(),
        lease: ticket(0).into(),
        ttl: SECOND,
        margin: SECOND / 4,
        waiter_lease: LeaseId(100 + u128::from(number)),
        waiter_ttl: SECOND,
        not_after: None,
        about: String::new(),
    }
}

/// The first request of another session.
pub(super) fn another() -> Acquire {
    let series = Ticket(1 << 64).series();
    Acquire { ticket: series.ticket(1), lease: series.ticket(0).into(), ..acquire(1) }
}
