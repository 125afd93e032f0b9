//! Random histories of one name, as plain data: they can be run again, made shorter and printed.
#![allow(missing_docs, unreachable_pub)]

mod calm;
mod events;

use seinpaal_draw::Draw;
use seinpaal_proto::{
    Acquire, Attach, Configure, Enqueue, Inbox, Kind, LeaseId, Limit, LimitRule, OnMismatch,
    Permits, Priority, Slots, Ticket,
    time::{MILLISECOND, SECOND, UNBOUNDED},
};

pub use events::{Event, FenceSeen, Sketch};

/// How many there are of everything.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub events: u64,
    pub tickets: u64,
    pub leases: u64,
    pub most_requests: u64,
    pub most_permits: u64,
    /// Clients do as sessions do, and hardly anything runs out.
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
/// One in which more is due at once than one call may do.
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

/// The same with so many clients that they are listed.
pub const CALM_CROWD: Scale =
    Scale { events: 500, tickets: 4, leases: 60, most_requests: 4, most_permits: 1, is_calm: true };

pub fn inbox(i: u64) -> Inbox {
    Inbox(0xb0_0000_0000_0000_0000_0000 + u128::from(i))
}

pub fn history(seed: u64, scale: Scale) -> Vec<Event> {
    let mut draw = Draw::new(seed);
    if scale.is_calm {
        return calm::history(&mut draw, scale);
    }
    (0..scale.events).map(|_| event(&mut draw, scale)).collect()
}

fn event(draw: &mut Draw, scale: Scale) -> Event {
    match draw.below(40) {
        0 => Event::Hush(inbox(draw.below(4))),
        1 | 2 => Event::Listen(inbox(draw.below(4))),
        _ => call(draw, scale),
    }
}

fn call(draw: &mut Draw, scale: Scale) -> Event {
    let requests = match draw.below(10) {
        0 => 0,
        1..6 => 1,
        _ => 1 + draw.below(scale.most_requests),
    };
    let requests = if scale.most_requests > 4 { draw.below(scale.most_requests) } else { requests };
    Event::Call {
        step: step(draw),
        inbox: (!draw.one_in(10)).then(|| inbox(draw.below(4))),
        fence: fence(draw),
        sketches: (0..requests).map(|_| sketch(draw, scale)).collect(),
    }
}

fn step(draw: &mut Draw) -> i64 {
    match draw.below(40) {
        0 => -(draw.below(3_600 * SECOND) as i64),
        1 | 2 => -(draw.below(2 * SECOND) as i64),
        3 => draw.below(7_200 * SECOND) as i64,
        4..8 => draw.below(3 * SECOND) as i64,
        8..16 => draw.below(300 * MILLISECOND) as i64,
        16..19 => 0,
        // As long as a lease to the microsecond.
        19 | 20 => draw.pick(&[100, 150, 300]) * MILLISECOND as i64,
        _ => draw.below(40 * MILLISECOND) as i64,
    }
}

fn fence(draw: &mut Draw) -> FenceSeen {
    match draw.below(60) {
        0 => FenceSeen::Absurd,
        1..4 => FenceSeen::Near(draw.below(20 * SECOND) as i64 - 10 * SECOND as i64),
        _ => FenceSeen::None,
    }
}

fn sketch(draw: &mut Draw, scale: Scale) -> Sketch {
    match draw.below(44) {
        0..18 => acquire(draw, scale),
        18..24 => {
            let slots = draw.one_in(3).then(|| slots(draw));
            Sketch::Release { ticket: ticket(draw, scale), slots }
        }
        24..28 => {
            let wrong = if draw.one_in(4) { 1 + draw.below(3) } else { 0 };
            let (ttl, margin) = terms(draw);
            Sketch::RenewAll { lease: lease(draw, scale), ttl, margin, wrong }
        }
        28..32 => {
            let (ttl, margin) = terms(draw);
            let tickets = (0..draw.below(5)).map(|_| ticket(draw, scale)).collect();
            Sketch::RenewTickets { lease: lease(draw, scale), ttl, margin, tickets }
        }
        32 | 33 => {
            let attach = draw.one_in(3).then(|| attach_lease(draw));
            let (ticket, remember) = (ticket(draw, scale), draw.below(3 * SECOND));
            Sketch::Cancel { ticket, remember, attach }
        }
        40..43 => attach(draw, scale),
        43 => {
            let (ttl, margin) = terms(draw);
            let is_late = draw.one_in(4);
            Sketch::Detach { ticket: ticket(draw, scale), is_late, ttl, margin }
        }
        34 => Sketch::Evict { ticket: ticket(draw, scale) },
        35 | 36 => Sketch::Configure(configure(draw)),
        _ => Sketch::Inspect { rows: draw.pick(&[0, 1, 3, 1000]) },
    }
}

fn acquire(draw: &mut Draw, scale: Scale) -> Sketch {
    let (ttl, margin) = terms(draw);
    let ticket = ticket(draw, scale);
    let lease = match draw.below(6) {
        0..3 => ticket.series().ticket(0).into(), // as sessions do
        3 => ticket.into(),
        _ => lease(draw, scale),
    };
    let acquire = Acquire {
        ticket,
        kind: Kind::ALL[if draw.below(12) == 0 { draw.below(3) as usize } else { 0 }],
        permits: Permits::new(1 + draw.below(scale.most_permits) as u32).unwrap(),
        wishes: draw.pick(&["", "", "", "a 1", "b;2", "c,a 1"]).parse().unwrap(),
        limit: (!draw.one_in(4)).then(|| rule(draw, scale)),
        enqueue: enqueue(draw),
        priority: Priority::new(draw.pick(&[0, 0, 0, 1, -1, 2, 100, -100])).unwrap(),
        lease,
        ttl,
        margin,
        waiter_lease: waiter_lease(draw),
        waiter_ttl: terms(draw).0,
        not_after: None,
        about: draw.pick(&["", "me", "two words", "1 2 3", "\u{1f}a\u{1e}b\nc %d"]).to_owned(),
    };
    let not_after = draw.one_in(6).then(|| draw.below(100) as i64 - 50);
    Sketch::Acquire { acquire, not_after }
}

fn attach(draw: &mut Draw, scale: Scale) -> Sketch {
    let (ttl, margin) = terms(draw);
    let attach = Attach {
        ticket: ticket(draw, scale),
        lease: attach_lease(draw),
        ttl,
        margin,
        not_after: None,
        about: draw.pick(&["", "another", "three more words"]).to_owned(),
    };
    let not_after = draw.one_in(6).then(|| draw.below(100) as i64 - 50);
    Sketch::Attach { attach, not_after }
}

/// A lease that is drawn for an attach. There are few of them, so that some are used twice.
fn attach_lease(draw: &mut Draw) -> LeaseId {
    LeaseId(0xa77ac4 + u128::from(draw.below(12)))
}

fn terms(draw: &mut Draw) -> (u64, u64) {
    let ttl = draw.pick(&[100, 101, 150, 300, 1_000, 5_000]) * MILLISECOND;
    let margin = draw.pick(&[ttl / 4, ttl / 4, ttl / 4, 7 * MILLISECOND, UNBOUNDED, 0]);
    (ttl, margin)
}

fn rule(draw: &mut Draw, scale: Scale) -> LimitRule {
    let limit = if scale.tickets > 100 { 200 } else { draw.pick(&[2, 2, 2, 3, 1, 4, 0]) };
    let on_mismatch = draw.pick(&[
        OnMismatch::Refuse,
        OnMismatch::Adopt,
        OnMismatch::Adopt,
        OnMismatch::Set,
        OnMismatch::Exact,
    ]);
    LimitRule { limit: Limit::new(limit).unwrap(), on_mismatch }
}

fn enqueue(draw: &mut Draw) -> Enqueue {
    match draw.below(6) {
        0 => Enqueue::No,
        1 => Enqueue::Yes { max_waiting: Some(draw.below(4) as u32) },
        _ => Enqueue::Yes { max_waiting: None },
    }
}

/// Most of them are the beginning of another.
const NAMINGS: [&str; 5] = ["a 1,b;2", "a 1,b;2,c,d%", "a 1", "c,a 1", "a 1,b;2,c,d%,e,f,g"];

fn configure(draw: &mut Draw) -> Configure {
    match draw.below(10) {
        8.. => Configure::Slots(draw.pick(&NAMINGS).parse().unwrap()),
        0 => Configure::Limit(Limit::new(draw.below(6) as u32).unwrap()),
        1..4 => Configure::Unpin,
        4 => Configure::Pause(draw.pick(&["", "1", "for repairs\n\"now\""]).to_owned()),
        _ => Configure::Resume,
    }
}

fn slots(draw: &mut Draw) -> Slots {
    let mut slots = Slots::none();
    for _ in 0..draw.below(3) {
        let first = draw.below(6) as u32;
        slots.insert(first, first + draw.below(3) as u32);
    }
    slots
}

/// Most have a series to themselves, so that there is much to forget at once; the others share two.
fn ticket(draw: &mut Draw, scale: Scale) -> Ticket {
    let shares = if scale.tickets > 100 { 20 } else { 3 };
    let (series, number) = match draw.below(shares) {
        0 => (draw.below(2), 1 + draw.below(5)),
        _ => (2 + draw.below(scale.tickets), 1),
    };
    // Spread over all bits, so that digests wrap.
    let spread = u128::from(series + 1).wrapping_mul(0x0123_4567_89ab_cdef_fedc_ba98_7654_3211);
    Ticket(spread).series().ticket(number as u32)
}

/// A lease of holders. Now and then it is one that places in line stand under, or the one that the
/// tickets of a series have by themselves.
fn lease(draw: &mut Draw, scale: Scale) -> LeaseId {
    if draw.one_in(4) {
        return waiter_lease(draw);
    }
    if draw.one_in(3) {
        return ticket(draw, scale).series().ticket(0).into();
    }
    LeaseId(0x1ea5e + u128::from(draw.below(scale.leases)))
}

fn waiter_lease(draw: &mut Draw) -> LeaseId {
    LeaseId(u128::from(0x3a17 + draw.below(3)) << 32)
}

/// A random history under a restart guard, which begins anew three times in it.
pub fn guarded_history(seed: u64, scale: Scale) -> Vec<Event> {
    let mut draw = Draw::new(!seed);
    let mut events = history(seed, scale);
    for _ in 0..3 {
        let at = draw.below(events.len() as u64) as usize;
        events.insert(at, Event::LoseMarker);
    }
    events
}
