//! Random histories of one name, as plain data: they can be run again, made shorter and printed.
#![allow(missing_docs, unreachable_pub)]

use seinpaal_proto::{
    Acquire, Attach, Configure, Enqueue, Inbox, Kind, LeaseId, Limit, LimitRule, OnMismatch,
    Permits, Priority, Slots, Ticket,
    time::{MILLISECOND, SECOND, UNBOUNDED},
};

/// What happens next.
#[derive(Clone, Debug)]
pub enum Event {
    /// Somebody subscribes to this inbox.
    Listen(Inbox),
    /// Nobody listens at this inbox any more.
    Hush(Inbox),
    /// The server loses the marker of its restart guard, as if it had lost everything.
    LoseMarker,
    /// The clock moves by so many microseconds, and a batch arrives.
    Call { step: i64, inbox: Option<Inbox>, fence: FenceSeen, asks: Vec<Ask> },
}

/// What the sender claims to have seen.
#[derive(Clone, Copy, Debug)]
pub enum FenceSeen {
    None,
    /// So far from the clock.
    Near(i64),
    /// More than can be believed.
    Absurd,
}

/// A request; what depends on the state or the clock is filled in when it is sent.
#[derive(Clone, Debug)]
pub enum Ask {
    /// `not_after` is relative to the clock.
    Acquire {
        acquire: Acquire,
        not_after: Option<i64>,
    },
    /// With the members and the digest that the ledger has, changed by so much.
    RenewAll {
        lease: LeaseId,
        ttl: u64,
        margin: u64,
        wrong: u64,
    },
    RenewTickets {
        lease: LeaseId,
        ttl: u64,
        margin: u64,
        tickets: Vec<Ticket>,
    },
    /// `not_after` is relative to the clock.
    Attach {
        attach: Attach,
        not_after: Option<i64>,
    },
    Detach {
        ticket: Ticket,
        ttl: u64,
        margin: u64,
    },
    Release {
        ticket: Ticket,
        slots: Option<Slots>,
    },
    Cancel {
        ticket: Ticket,
        remember: u64,
        attach: Option<LeaseId>,
    },
    Evict {
        ticket: Ticket,
    },
    /// Somebody asks the holder to hand over.
    HandOver {
        ticket: Ticket,
        lease: LeaseId,
        by: &'static str,
    },
    Configure(Configure),
    Inspect {
        rows: u32,
    },
}

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
/// One in which scripts mostly take their plain path.
pub const CALM: Scale =
    Scale { events: 250, tickets: 4, leases: 3, most_requests: 4, most_permits: 2, is_calm: true };
/// The same with so many clients that they are listed.
pub const CALM_CROWD: Scale =
    Scale { events: 500, tickets: 4, leases: 60, most_requests: 4, most_permits: 1, is_calm: true };

/// SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to `end` exclusive.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

pub fn inbox(i: u64) -> Inbox {
    Inbox(0xb0_0000_0000_0000_0000_0000 + u128::from(i))
}

pub fn history(seed: u64, scale: Scale) -> Vec<Event> {
    let mut random = Random(seed);
    if scale.is_calm {
        return calm(&mut random, scale);
    }
    (0..scale.events).map(|_| event(&mut random, scale)).collect()
}

fn event(random: &mut Random, scale: Scale) -> Event {
    match random.below(40) {
        0 => Event::Hush(inbox(random.below(4))),
        1 | 2 => Event::Listen(inbox(random.below(4))),
        _ => call(random, scale),
    }
}

fn call(random: &mut Random, scale: Scale) -> Event {
    let requests = match random.below(10) {
        0 => 0,
        1..6 => 1,
        _ => 1 + random.below(scale.most_requests),
    };
    let requests =
        if scale.most_requests > 4 { random.below(scale.most_requests) } else { requests };
    Event::Call {
        step: step(random),
        inbox: (!random.one_in(10)).then(|| inbox(random.below(4))),
        fence: fence(random),
        asks: (0..requests).map(|_| ask(random, scale)).collect(),
    }
}

fn step(random: &mut Random) -> i64 {
    match random.below(40) {
        0 => -(random.below(3_600 * SECOND) as i64),
        1 | 2 => -(random.below(2 * SECOND) as i64),
        3 => random.below(7_200 * SECOND) as i64,
        4..8 => random.below(3 * SECOND) as i64,
        8..16 => random.below(300 * MILLISECOND) as i64,
        16..19 => 0,
        // As long as a lease to the microsecond.
        19 | 20 => random.pick(&[100, 150, 300]) * MILLISECOND as i64,
        _ => random.below(40 * MILLISECOND) as i64,
    }
}

fn fence(random: &mut Random) -> FenceSeen {
    match random.below(60) {
        0 => FenceSeen::Absurd,
        1..4 => FenceSeen::Near(random.below(20 * SECOND) as i64 - 10 * SECOND as i64),
        _ => FenceSeen::None,
    }
}

fn ask(random: &mut Random, scale: Scale) -> Ask {
    match random.below(44) {
        0..18 => acquire(random, scale),
        18..24 => {
            let slots = random.one_in(3).then(|| slots(random));
            Ask::Release { ticket: ticket(random, scale), slots }
        }
        24..28 => {
            let wrong = if random.one_in(4) { 1 + random.below(3) } else { 0 };
            let (ttl, margin) = terms(random);
            Ask::RenewAll { lease: lease(random, scale), ttl, margin, wrong }
        }
        28..32 => {
            let (ttl, margin) = terms(random);
            let tickets = (0..random.below(5)).map(|_| ticket(random, scale)).collect();
            Ask::RenewTickets { lease: lease(random, scale), ttl, margin, tickets }
        }
        32 | 33 => {
            let attach = random.one_in(3).then(|| attach_lease(random));
            let (ticket, remember) = (ticket(random, scale), random.below(3 * SECOND));
            Ask::Cancel { ticket, remember, attach }
        }
        40..43 => attach(random, scale),
        43 => {
            let (ttl, margin) = terms(random);
            Ask::Detach { ticket: ticket(random, scale), ttl, margin }
        }
        34 => Ask::Evict { ticket: ticket(random, scale) },
        35 | 36 => Ask::Configure(configure(random)),
        _ => Ask::Inspect { rows: random.pick(&[0, 1, 3, 1000]) },
    }
}

fn acquire(random: &mut Random, scale: Scale) -> Ask {
    let (ttl, margin) = terms(random);
    let ticket = ticket(random, scale);
    let lease = match random.below(6) {
        0..3 => ticket.series().ticket(0).into(), // as sessions do
        3 => ticket.into(),
        _ => lease(random, scale),
    };
    let acquire = Acquire {
        ticket,
        kind: Kind::ALL[if random.below(12) == 0 { random.below(3) as usize } else { 0 }],
        permits: Permits::new(1 + random.below(scale.most_permits) as u32).unwrap(),
        wishes: random.pick(&["", "", "", "a 1", "b;2", "c,a 1"]).parse().unwrap(),
        limit: (!random.one_in(4)).then(|| rule(random, scale)),
        enqueue: enqueue(random),
        priority: Priority::new(random.pick(&[0, 0, 0, 1, -1, 2, 100, -100])).unwrap(),
        lease,
        ttl,
        margin,
        waiter_lease: waiter_lease(random),
        waiter_ttl: terms(random).0,
        not_after: None,
        about: random.pick(&["", "me", "two words", "1 2 3", "\u{1f}a\u{1e}b\nc %d"]).to_owned(),
    };
    let not_after = random.one_in(6).then(|| random.below(100) as i64 - 50);
    Ask::Acquire { acquire, not_after }
}

fn attach(random: &mut Random, scale: Scale) -> Ask {
    let (ttl, margin) = terms(random);
    let attach = Attach {
        ticket: ticket(random, scale),
        lease: attach_lease(random),
        ttl,
        margin,
        not_after: None,
        about: random.pick(&["", "another", "three more words"]).to_owned(),
    };
    let not_after = random.one_in(6).then(|| random.below(100) as i64 - 50);
    Ask::Attach { attach, not_after }
}

/// One that is drawn for an attach. Few, so that some are used twice.
fn attach_lease(random: &mut Random) -> LeaseId {
    LeaseId(0xa77ac4 + u128::from(random.below(12)))
}

fn terms(random: &mut Random) -> (u64, u64) {
    let ttl = random.pick(&[100, 101, 150, 300, 1_000, 5_000]) * MILLISECOND;
    let margin = random.pick(&[ttl / 4, ttl / 4, ttl / 4, 7 * MILLISECOND, UNBOUNDED, 0]);
    (ttl, margin)
}

fn rule(random: &mut Random, scale: Scale) -> LimitRule {
    let limit = if scale.tickets > 100 { 200 } else { random.pick(&[2, 2, 2, 3, 1, 4, 0]) };
    let on_mismatch = random.pick(&[
        OnMismatch::Refuse,
        OnMismatch::Adopt,
        OnMismatch::Adopt,
        OnMismatch::Set,
        OnMismatch::Exact,
    ]);
    LimitRule { limit: Limit::new(limit).unwrap(), on_mismatch }
}

fn enqueue(random: &mut Random) -> Enqueue {
    match random.below(6) {
        0 => Enqueue::No,
        1 => Enqueue::Yes { max_waiting: Some(random.below(4) as u32) },
        _ => Enqueue::Yes { max_waiting: None },
    }
}

/// Most of them are the beginning of another.
const NAMINGS: [&str; 5] = ["a 1,b;2", "a 1,b;2,c,d%", "a 1", "c,a 1", "a 1,b;2,c,d%,e,f,g"];

fn configure(random: &mut Random) -> Configure {
    match random.below(10) {
        8.. => Configure::Slots(random.pick(&NAMINGS).parse().unwrap()),
        0 => Configure::Limit(Limit::new(random.below(6) as u32).unwrap()),
        1..4 => Configure::Unpin,
        4 => Configure::Pause(random.pick(&["", "1", "for repairs\n\"now\""]).to_owned()),
        _ => Configure::Resume,
    }
}

fn slots(random: &mut Random) -> Slots {
    let mut slots = Slots::none();
    for _ in 0..random.below(3) {
        let first = random.below(6) as u32;
        slots.insert(first, first + random.below(3) as u32);
    }
    slots
}

/// Most have a series to themselves, so that there is much to forget at once; the others share two.
fn ticket(random: &mut Random, scale: Scale) -> Ticket {
    let shares = if scale.tickets > 100 { 20 } else { 3 };
    let (series, number) = match random.below(shares) {
        0 => (random.below(2), 1 + random.below(5)),
        _ => (2 + random.below(scale.tickets), 1),
    };
    // Spread over all bits, so that digests wrap.
    let spread = u128::from(series + 1).wrapping_mul(0x0123_4567_89ab_cdef_fedc_ba98_7654_3211);
    Ticket(spread).series().ticket(number as u32)
}

/// Now and then one that places in the queue stand under.
fn lease(random: &mut Random, scale: Scale) -> LeaseId {
    if random.one_in(4) {
        return waiter_lease(random);
    }
    if random.one_in(3) {
        return ticket(random, scale).series().ticket(0).into();
    }
    LeaseId(0x1ea5e + u128::from(random.below(scale.leases)))
}

fn waiter_lease(random: &mut Random) -> LeaseId {
    LeaseId(u128::from(0x3a17 + random.below(3)) << 32)
}

/// The same under a restart guard that now and then begins anew.
pub fn guarded_history(seed: u64, scale: Scale) -> Vec<Event> {
    let mut random = Random(!seed);
    let mut events = history(seed, scale);
    for _ in 0..3 {
        let at = random.below(events.len() as u64) as usize;
        events.insert(at, Event::LoseMarker);
    }
    events
}

/// Each client has a series, under one lease, and draws its numbers in order.
fn calm(random: &mut Random, scale: Scale) -> Vec<Event> {
    let mut events: Vec<Event> = (0..4).map(|i| Event::Listen(inbox(i))).collect();
    let mut drawn = vec![0_u32; scale.leases as usize];
    // In every other history nearly nothing runs out.
    let is_brief = random.one_in(2);
    let pause = if is_brief { 20 } else { 90 };
    for _ in 0..scale.events {
        let client = random.below(scale.leases);
        let drawn = &mut drawn[client as usize];
        let requests = if random.one_in(3) { 1 + random.below(scale.most_requests) } else { 1 };
        events.push(Event::Call {
            step: if random.one_in(pause) { 3 * SECOND } else { random.below(30 * MILLISECOND) }
                as i64,
            inbox: Some(inbox(if random.one_in(12) { random.below(4) } else { client % 4 })),
            fence: FenceSeen::None,
            asks: (0..requests).map(|_| calm_ask(random, scale, client, drawn, is_brief)).collect(),
        });
    }
    events
}

fn calm_ask(
    random: &mut Random,
    scale: Scale,
    client: u64,
    drawn: &mut u32,
    is_brief: bool,
) -> Ask {
    let series =
        Ticket(u128::from(client + 1).wrapping_mul(0xfedc_ba98_7654_3211_0123_4567_89ab_cdef))
            .series();
    let lease = LeaseId::from(series.ticket(0));
    let ttl = random.pick(&[10, 60]) * SECOND;
    let margin = ttl / 4;
    let recent = |random: &mut Random, drawn: u32| {
        series.ticket(drawn.saturating_sub(random.below(scale.tickets) as u32).max(1))
    };
    match random.below(16) {
        0..7 => {
            *drawn += 1;
            calm_acquire(random, scale, client, series.ticket(*drawn), is_brief)
        }
        7 if random.one_in(2) => {
            let again = recent(random, *drawn);
            calm_acquire(random, scale, client, again, is_brief)
        }
        7..12 => Ask::Release { ticket: recent(random, *drawn), slots: None },
        12 | 13 => {
            let wrong = u64::from(random.one_in(8));
            Ask::RenewAll { lease, ttl, margin, wrong }
        }
        14 => {
            let tickets = (0..1 + random.below(2)).map(|_| recent(random, *drawn)).collect();
            Ask::RenewTickets { lease, ttl, margin, tickets }
        }
        _ if random.one_in(3) => {
            Ask::Cancel { ticket: recent(random, *drawn), remember: ttl, attach: None }
        }
        _ => Ask::Inspect { rows: 1000 },
    }
}

fn calm_acquire(
    random: &mut Random,
    scale: Scale,
    client: u64,
    ticket: Ticket,
    is_brief: bool,
) -> Ask {
    let ttl = if is_brief { SECOND } else { 10 * SECOND };
    let rule = LimitRule {
        limit: Limit::new(if scale.leases > 4 { 50 } else { 3 }).unwrap(),
        on_mismatch: OnMismatch::Refuse,
    };
    let acquire = Acquire {
        ticket,
        kind: Kind::Semaphore,
        permits: Permits::new(1 + random.below(scale.most_permits) as u32).unwrap(),
        wishes: seinpaal_proto::SlotNames::none(),
        limit: (!random.one_in(8)).then_some(rule),
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::new(random.pick(&[0, 0, 0, 1])).unwrap(),
        lease: ticket.series().ticket(0).into(),
        ttl,
        margin: ttl / 4,
        waiter_lease: LeaseId(u128::from(0x3a17 + client) << 64),
        waiter_ttl: random.pick(&[4, 6]) * SECOND,
        not_after: None,
        about: random.pick(&["", "me", "two words"]).to_owned(),
    };
    Ask::Acquire { acquire, not_after: None }
}
