//! A readers-writer lock for which more readers wait than one call may let in.

use seinpaal_proto::{
    Acquire, Enqueue, Kind, LeaseId, Limit, LimitRule, OnMismatch, Permits, Ticket, time::SECOND,
};

use super::{
    super::history::{Event, Sketch, inbox},
    calls::{acquire, by, call, look, sketch},
};

/// How many readers stand in line behind the writer.
const READERS: u64 = 200;

/// The writer gives the lock back and does nothing more, or asks for it again in the same call, or
/// listens where the readers do, so that it is told when to look in.
pub(in super::super) fn crowds_of_readers() -> [Vec<Event>; 3] {
    let again = sketch(lock(0, 2, Permits::ONE));
    [
        behind_a_writer(1, vec![back()]),
        behind_a_writer(1, vec![back(), again]),
        behind_a_writer(0, vec![back()]),
    ]
}

/// Each reader is a session of its own, and all of them listen at one inbox.
fn behind_a_writer(readers_at: u64, sketches: Vec<Sketch>) -> Vec<Event> {
    let here = [0, 1].map(|who| Event::Listen(inbox(who)));
    let writes = call(1, [sketch(lock(0, 1, Permits::READERS))]);
    let waits =
        (1..=READERS).map(|who| by(readers_at, 1, vec![sketch(lock(who, 1, Permits::ONE))]));
    let last = sketch(lock(READERS + 1, 1, Permits::READERS));
    let end = [by(0, 1, sketches), call(1, [last]), look(1), look(1)];
    here.into_iter().chain([writes]).chain(waits).chain(end).collect()
}

fn back() -> Sketch {
    Sketch::Release { ticket: lock(0, 1, Permits::ONE).ticket, slots: None }
}

fn lock(who: u64, number: u32, permits: Permits) -> Acquire {
    let series = Ticket(u128::from(who) << 64).series();
    let rule = LimitRule { limit: Limit::READERS, on_mismatch: OnMismatch::Refuse };
    Acquire {
        ticket: series.ticket(number),
        lease: series.ticket(0).into(),
        kind: Kind::RwLock,
        permits,
        limit: Some(rule),
        enqueue: Enqueue::Yes { max_waiting: None },
        ttl: 60 * SECOND,
        margin: SECOND,
        waiter_lease: LeaseId(u128::from(1_000 + who) << 64),
        waiter_ttl: 60 * SECOND,
        ..acquire(1)
    }
}
