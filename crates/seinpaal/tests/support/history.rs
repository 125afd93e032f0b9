//! Random histories of one name, as plain data. They can be run again, made shorter and printed.
#![allow(missing_docs, unreachable_pub)]

mod calm;
mod events;

use fastrand::Rng;
use seinpaal_proto::{
    Acquire, Attach, Configure, Enqueue, Inbox, Kind, LeaseId, Limit, LimitRule, OnMismatch,
    Permits, Priority, Slots, Ticket,
    time::{MILLISECOND, SECOND, UNBOUNDED},
};

pub use events::{Event, FenceSeen, Sketch};

/// The sizes of a history.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub events: u64,
    pub tickets: u64,
    pub leases: u64,
    pub most_requests: u64,
    pub most_permits: u32,
    /// Whether clients behave like sessions, and hardly anything expires.
    pub is_calm: bool,
}

/// A history with much contention over little.
pub const SMALL: Scale = Scale {
    events: 250,
    tickets: 12,
    leases: 4,
    most_requests: 4,
    most_permits: 3,
    is_calm: false,
};
/// A history in which more is due at the same time than one call may do.
pub const LARGE: Scale = Scale {
    events: 60,
    tickets: 600,
    leases: 3,
    most_requests: 60,
    most_permits: 1,
    is_calm: false,
};

/// A history in which scripts mostly take their plain path.
pub const CALM: Scale =
    Scale { events: 250, tickets: 4, leases: 3, most_requests: 4, most_permits: 2, is_calm: true };

/// A calm history with so many clients that they are listed.
pub const CALM_CROWD: Scale =
    Scale { events: 500, tickets: 4, leases: 60, most_requests: 4, most_permits: 1, is_calm: true };

pub fn inbox(i: u64) -> Inbox {
    Inbox(0xb0_0000_0000_0000_0000_0000 + u128::from(i))
}

pub fn history(seed: u64, scale: Scale) -> Vec<Event> {
    let mut rng = Rng::with_seed(seed);
    if scale.is_calm {
        return calm::history(&mut rng, scale);
    }
    (0..scale.events).map(|_| event(&mut rng, scale)).collect()
}

fn event(rng: &mut Rng, scale: Scale) -> Event {
    match rng.u64(..40) {
        0 => Event::Hush(inbox(rng.u64(..4))),
        1 | 2 => Event::Listen(inbox(rng.u64(..4))),
        _ => call(rng, scale),
    }
}

fn call(rng: &mut Rng, scale: Scale) -> Event {
    let requests = match rng.u64(..10) {
        0 => 0,
        1..6 => 1,
        _ => rng.u64(1..=scale.most_requests),
    };
    let requests = if scale.most_requests > 4 { rng.u64(..scale.most_requests) } else { requests };
    Event::Call {
        step: step(rng),
        inbox: (rng.u64(..10) != 0).then(|| inbox(rng.u64(..4))),
        fence: fence(rng),
        sketches: (0..requests).map(|_| sketch(rng, scale)).collect(),
    }
}

fn step(rng: &mut Rng) -> i64 {
    match rng.u64(..40) {
        0 => -(rng.u64(..3_600 * SECOND) as i64),
        1 | 2 => -(rng.u64(..2 * SECOND) as i64),
        3 => rng.u64(..7_200 * SECOND) as i64,
        4..8 => rng.u64(..3 * SECOND) as i64,
        8..16 => rng.u64(..300 * MILLISECOND) as i64,
        16..19 => 0,
        // Exactly as long as a lease.
        19 | 20 => rng.choice([100, 150, 300]).unwrap() * MILLISECOND as i64,
        _ => rng.u64(..40 * MILLISECOND) as i64,
    }
}

fn fence(rng: &mut Rng) -> FenceSeen {
    match rng.u64(..60) {
        0 => FenceSeen::Absurd,
        1..4 => FenceSeen::Near(rng.u64(..20 * SECOND) as i64 - 10 * SECOND as i64),
        _ => FenceSeen::None,
    }
}

fn sketch(rng: &mut Rng, scale: Scale) -> Sketch {
    match rng.u64(..44) {
        0..18 => acquire(rng, scale),
        18..24 => {
            let slots = (rng.u64(..3) == 0).then(|| slots(rng));
            Sketch::Release { ticket: ticket(rng, scale), slots }
        }
        24..28 => {
            let wrong = if rng.u64(..4) == 0 { rng.u64(1..=3) } else { 0 };
            let (ttl, margin) = terms(rng);
            Sketch::RenewAll { lease: lease(rng, scale), ttl, margin, wrong }
        }
        28..32 => {
            let (ttl, margin) = terms(rng);
            let tickets = (0..rng.u64(..5)).map(|_| ticket(rng, scale)).collect();
            Sketch::RenewTickets { lease: lease(rng, scale), ttl, margin, tickets }
        }
        32 | 33 => {
            let attach = (rng.u64(..3) == 0).then(|| attach_lease(rng));
            let (ticket, remember) = (ticket(rng, scale), rng.u64(..3 * SECOND));
            Sketch::Cancel { ticket, remember, attach }
        }
        40..43 => attach(rng, scale),
        43 => {
            let (ttl, margin) = terms(rng);
            let is_late = rng.u64(..4) == 0;
            Sketch::Detach { ticket: ticket(rng, scale), is_late, ttl, margin }
        }
        34 => Sketch::Evict { ticket: ticket(rng, scale) },
        35 | 36 => Sketch::Configure(configure(rng)),
        _ => Sketch::Inspect { rows: rng.choice([0, 1, 3, 1000]).unwrap() },
    }
}

fn acquire(rng: &mut Rng, scale: Scale) -> Sketch {
    let (ttl, margin) = terms(rng);
    let ticket = ticket(rng, scale);
    let lease = match rng.u64(..6) {
        0..3 => ticket.series().ticket(0).into(), // as sessions do
        3 => ticket.into(),
        _ => lease(rng, scale),
    };
    let acquire = Acquire {
        ticket,
        kind: Kind::ALL[if rng.u64(..12) == 0 { rng.usize(..3) } else { 0 }],
        permits: Permits::new(rng.u32(1..=scale.most_permits)).unwrap(),
        wishes: rng.choice(["", "", "", "a 1", "b;2", "c,a 1"]).unwrap().parse().unwrap(),
        limit: (rng.u64(..4) != 0).then(|| rule(rng, scale)),
        enqueue: enqueue(rng),
        priority: Priority::new(rng.choice([0, 0, 0, 1, -1, 2, 100, -100]).unwrap()).unwrap(),
        lease,
        ttl,
        margin,
        waiter_lease: waiter_lease(rng),
        waiter_ttl: terms(rng).0,
        not_after: None,
        about: rng
            .choice(["", "me", "two words", "1 2 3", "\u{1f}a\u{1e}b\nc %d"])
            .unwrap()
            .to_owned(),
    };
    let not_after = (rng.u64(..6) == 0).then(|| rng.i64(-50..50));
    Sketch::Acquire { acquire, not_after }
}

fn attach(rng: &mut Rng, scale: Scale) -> Sketch {
    let (ttl, margin) = terms(rng);
    let attach = Attach {
        ticket: ticket(rng, scale),
        lease: attach_lease(rng),
        ttl,
        margin,
        not_after: None,
        about: rng.choice(["", "another", "three more words"]).unwrap().to_owned(),
    };
    let not_after = (rng.u64(..6) == 0).then(|| rng.i64(-50..50));
    Sketch::Attach { attach, not_after }
}

/// A lease for an attach. There are only a few of them, so that some are used twice.
fn attach_lease(rng: &mut Rng) -> LeaseId {
    LeaseId(0xa77ac4 + rng.u128(..12))
}

fn terms(rng: &mut Rng) -> (u64, u64) {
    let ttl = rng.choice([100, 101, 150, 300, 1_000, 5_000]).unwrap() * MILLISECOND;
    let margin = rng.choice([ttl / 4, ttl / 4, ttl / 4, 7 * MILLISECOND, UNBOUNDED, 0]).unwrap();
    (ttl, margin)
}

fn rule(rng: &mut Rng, scale: Scale) -> LimitRule {
    let limit = if scale.tickets > 100 { 200 } else { rng.choice([2, 2, 2, 3, 1, 4, 0]).unwrap() };
    let on_mismatch = rng
        .choice([
            OnMismatch::Refuse,
            OnMismatch::Adopt,
            OnMismatch::Adopt,
            OnMismatch::Set,
            OnMismatch::Exact,
        ])
        .unwrap();
    LimitRule { limit: Limit::new(limit).unwrap(), on_mismatch }
}

fn enqueue(rng: &mut Rng) -> Enqueue {
    match rng.u64(..6) {
        0 => Enqueue::No,
        1 => Enqueue::Yes { max_waiting: Some(rng.u32(..4)) },
        _ => Enqueue::Yes { max_waiting: None },
    }
}

/// Most of these names are the beginning of another one.
const NAMINGS: [&str; 5] = ["a 1,b;2", "a 1,b;2,c,d%", "a 1", "c,a 1", "a 1,b;2,c,d%,e,f,g"];

fn configure(rng: &mut Rng) -> Configure {
    match rng.u64(..10) {
        8.. => Configure::Slots(rng.choice(NAMINGS).unwrap().parse().unwrap()),
        0 => Configure::Limit(Limit::new(rng.u32(..6)).unwrap()),
        1..4 => Configure::Unpin,
        4 => Configure::Pause(rng.choice(["", "1", "for repairs\n\"now\""]).unwrap().to_owned()),
        _ => Configure::Resume,
    }
}

fn slots(rng: &mut Rng) -> Slots {
    let mut slots = Slots::none();
    for _ in 0..rng.u64(..3) {
        let first = rng.u32(..6);
        slots.insert(first, first + rng.u32(..3));
    }
    slots
}

/// Most tickets have a series to themselves, so that there is much to forget at the same time. The
/// others share two series.
fn ticket(rng: &mut Rng, scale: Scale) -> Ticket {
    let shares = if scale.tickets > 100 { 20 } else { 3 };
    let (series, number) = match rng.u64(..shares) {
        0 => (rng.u64(..2), rng.u64(1..=5)),
        _ => (2 + rng.u64(..scale.tickets), 1),
    };
    // The bits are spread over all places, so that digests wrap.
    let spread = u128::from(series + 1).wrapping_mul(0x0123_4567_89ab_cdef_fedc_ba98_7654_3211);
    Ticket(spread).series().ticket(number as u32)
}

/// A lease of holders. Now and then it is a lease under which places in line stand, or the lease
/// that the tickets of a series have by default.
fn lease(rng: &mut Rng, scale: Scale) -> LeaseId {
    if rng.u64(..4) == 0 {
        return waiter_lease(rng);
    }
    if rng.u64(..3) == 0 {
        return ticket(rng, scale).series().ticket(0).into();
    }
    LeaseId(0x1ea5e + u128::from(rng.u64(..scale.leases)))
}

fn waiter_lease(rng: &mut Rng) -> LeaseId {
    LeaseId((0x3a17 + rng.u128(..3)) << 32)
}

/// A random history under a restart guard, which begins anew three times in it.
pub fn guarded_history(seed: u64, scale: Scale) -> Vec<Event> {
    let mut rng = Rng::with_seed(!seed);
    let mut events = history(seed, scale);
    for _ in 0..3 {
        let at = rng.usize(..events.len());
        events.insert(at, Event::LoseMarker);
    }
    events
}
