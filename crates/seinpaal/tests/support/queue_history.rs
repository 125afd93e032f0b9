//! Random histories of one queue, as plain data. They can be run again, made shorter and printed.
#![allow(missing_docs, unreachable_pub)]

mod queue_events;

use fastrand::Rng;
use seinpaal_proto::{
    Inbox, Limit, Name, Priority,
    queue::{
        Configure, Dedup, Due, FailureReason, ItemId, ItemPosition, ItemState, Pop, Purge, Push,
    },
    time::{MILLISECOND, SECOND, UNBOUNDED},
};

pub use queue_events::{Event, ListPlace, Seen, Sketch, Turn};

/// The sizes of a history.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub events: u64,
    pub most_requests: u64,
    pub most_items: u32,
    /// If this is set, the history has only the usual requests at a queue in use, except that one
    /// event in so many is of another kind.
    pub plain: Option<u64>,
}

/// Every kind of event happens, to few items.
pub const SMALL: Scale = Scale { events: 220, most_requests: 4, most_items: 4, plain: None };

/// More is due at the same time than one call may do.
pub const LARGE: Scale = Scale { events: 50, most_requests: 60, most_items: 64, plain: None };

/// Most events are pushes, pops, acknowledgements and renewals.
pub const PLAIN: Scale = Scale { events: 220, most_requests: 3, most_items: 4, plain: Some(25) };

/// Like `PLAIN`, with one request a call and one item a pop.
pub const LONE: Scale = Scale { events: 220, most_requests: 1, most_items: 1, plain: Some(25) };

/// Like `PLAIN`, with more items in work than can be listed.
pub const CROWDED: Scale = Scale { events: 60, most_requests: 60, most_items: 64, plain: Some(25) };

pub fn inbox(i: u64) -> Inbox {
    Inbox(0xb0_0000_0000_0000_0000_0000 + u128::from(i))
}

pub fn history(seed: u64, scale: Scale) -> Vec<Event> {
    let mut rng = Rng::with_seed(seed);
    let first = (0..3).map(|i| Event::Listen(inbox(i))).collect::<Vec<_>>();
    let rest = (0..scale.events).map(|_| event(&mut rng, scale));
    first.into_iter().chain(rest).collect()
}

fn event(rng: &mut Rng, scale: Scale) -> Event {
    match rng.u64(..40) {
        0 => Event::Hush(inbox(rng.u64(..5))),
        1 | 2 => Event::Listen(inbox(rng.u64(..5))),
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
    let is_plain = scale.plain.is_some_and(|odd| rng.u64(..odd) != 0);
    let sketches = if is_plain {
        plain_sketches(rng, requests.max(1), scale)
    } else {
        (0..requests).map(|_| sketch(rng, scale)).collect()
    };
    Event::Call {
        step: step(rng),
        session: inbox(rng.u64(..5)),
        turn: turn(rng),
        seen: seen(rng),
        sketches,
    }
}

/// Requests that sessions send together.
fn plain_sketches(rng: &mut Rng, requests: u64, scale: Scale) -> Vec<Sketch> {
    let kind = rng.u64(..8);
    let mut sketches = (0..requests)
        .map(|_| match kind {
            0..3 => Sketch::Push(plain_push(rng)),
            3..6 if rng.u64(..6) == 0 => Sketch::Fail(at(rng), 0, FailureReason::default()),
            3..6 => Sketch::Acknowledge(at(rng)),
            6 => renew(rng),
            _ => Sketch::Acknowledge(at(rng)),
        })
        .collect::<Vec<_>>();
    if (3..6).contains(&kind) {
        if kind == 5 && rng.u64(..3) == 0 {
            sketches.clear();
        }
        sketches.push(Sketch::Pop(Pop {
            wait: rng.u64(..12) == 0,
            drains: false,
            ..a_pop(rng, scale)
        }));
    }
    sketches
}

fn plain_push(rng: &mut Rng) -> Push {
    let push = push(rng);
    let is_odd = rng.u64(..12) == 0;
    if is_odd { push } else { Push { group: None, due: Due::Now, dedup: None, ..push } }
}

fn turn(rng: &mut Rng) -> Turn {
    match rng.u64(..30) {
        0 | 1 => Turn::Again,
        2 => Turn::Overtaken,
        3 => Turn::Unnumbered,
        4 => Turn::Next(rng.u64(..100 * MILLISECOND) as i64 - 50 * MILLISECOND as i64),
        5..10 => Turn::Next(rng.u64(..SECOND) as i64),
        _ => Turn::Next(rng.u64(..20 * SECOND) as i64),
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
        // Exactly as long as a lease or a call.
        19 | 20 => rng.choice([100, 150, 300, 1_000]).unwrap() * MILLISECOND as i64,
        _ => rng.u64(..40 * MILLISECOND) as i64,
    }
}

fn seen(rng: &mut Rng) -> Seen {
    match rng.u64(..60) {
        0 => Seen::Absurd,
        1..4 => Seen::Near(rng.u64(..20 * SECOND) as i64 - 10 * SECOND as i64),
        _ => Seen::None,
    }
}

/// Mostly one of the latest deliveries.
fn at(rng: &mut Rng) -> usize {
    let most = if rng.u64(..4) == 0 { 100 } else { 6 };
    rng.usize(..most)
}

fn sketch(rng: &mut Rng, scale: Scale) -> Sketch {
    match rng.u64(..60) {
        0..18 => Sketch::Push(push(rng)),
        18..32 => Sketch::Pop(a_pop(rng, scale)),
        32..35 => renew(rng),
        35..42 => Sketch::Acknowledge(at(rng)),
        42..44 => Sketch::GiveBack(at(rng), delay(rng)),
        44..47 => Sketch::Fail(at(rng), delay(rng), reason(rng)),
        47 => Sketch::Leave,
        48 => Sketch::Cancel(at(rng), false),
        49 => Sketch::Cancel(at(rng), true),
        50 => Sketch::Replay(at(rng)),
        51 => Sketch::Drop(at(rng)),
        52 if rng.u64(..3) == 0 => {
            Sketch::Purge(rng.choice([Purge::Waiting, Purge::Waiting, Purge::Dead]).unwrap())
        }
        53..56 => Sketch::Configure(change(rng)),
        56 | 57 => {
            Sketch::List { after: place(rng), rows: rng.choice([0, 1, 2, 3, 1000]).unwrap() }
        }
        _ => Sketch::Inspect { rows: rng.choice([0, 1, 3, 1000]).unwrap() },
    }
}

/// A place before an order, behind one of the latest items, or where no item is.
fn place(rng: &mut Rng) -> ListPlace {
    let state = rng.choice(ItemState::ALL).unwrap();
    match rng.u64(..8) {
        0..4 => ListPlace::Before(state),
        4..7 => ListPlace::Behind(at(rng)),
        _ => ListPlace::At(
            rng.choice([
                ItemPosition::Open(i64::MAX >> 11, ItemId(UNBOUNDED)),
                ItemPosition::Open(0, ItemId(5)),
                ItemPosition::before_open(),
                ItemPosition::Grouped(Name::new("ab").ok(), -(1 << 53), ItemId(0)),
                ItemPosition::Grouped(Name::new("no such: 1").ok(), 1 << 53, ItemId(7)),
                ItemPosition::Delayed(UNBOUNDED, ItemId(0)),
                ItemPosition::InWork(1, ItemId(UNBOUNDED)),
            ])
            .unwrap(),
        ),
    }
}

fn push(rng: &mut Rng) -> Push {
    Push {
        payload: rng
            .choice([
                b"".as_slice(),
                b"x",
                b"two words",
                b"\0\r\n\xff$-1\r\n",
                &[7; 300],
                &[0; 3000],
            ])
            .unwrap()
            .to_vec(),
        priority: Priority::new(rng.choice([0, 0, 0, 1, -1, 2, 100, -100]).unwrap()).unwrap(),
        due: due(rng),
        group: (rng.u64(..3) == 0).then(|| group(rng)),
        dedup: (rng.u64(..8) == 0).then(|| dedup(rng)),
        most: rng.u32(1..=3),
        about: about(rng),
    }
}

fn due(rng: &mut Rng) -> Due {
    match rng.u64(..20) {
        0..3 => Due::In(rng.u64(..2 * SECOND)),
        3 => Due::At(rng.u64(..4 * SECOND)),
        4 => Due::In(rng.choice([0, 1, 100 * MILLISECOND, u64::MAX]).unwrap()),
        _ => Due::Now,
    }
}

fn group(rng: &mut Rng) -> Name {
    Name::new(rng.choice(["a", "a b", "ab", "zürich", "b"]).unwrap()).unwrap()
}

fn dedup(rng: &mut Rng) -> Dedup {
    let key = Name::new(rng.choice(["k", "k 1", "ké", "l"]).unwrap()).unwrap();
    Dedup {
        key,
        window: rng.choice([0, 1, 5 * MILLISECOND, 100 * MILLISECOND, SECOND, 5 * SECOND]).unwrap(),
    }
}

fn about(rng: &mut Rng) -> String {
    rng.choice(["", "me", "two words", "1 2 3", "\u{1f}a\u{1e}b\nc %d"]).unwrap().to_owned()
}

fn a_pop(rng: &mut Rng, scale: Scale) -> Pop {
    let (ttl, margin) = terms(rng);
    Pop {
        items: rng.u32(1..=scale.most_items),
        ttl,
        margin,
        wait: rng.bool(),
        drains: rng.u64(..4) == 0,
        about: about(rng),
    }
}

fn renew(rng: &mut Rng) -> Sketch {
    let (ttl, margin) = terms(rng);
    let deliveries = (0..rng.u64(..5)).map(|_| at(rng)).collect();
    Sketch::Renew { ttl, margin, deliveries }
}

fn terms(rng: &mut Rng) -> (u64, u64) {
    let ttl = rng.choice([100, 101, 150, 300, 1_000, 5_000]).unwrap() * MILLISECOND;
    let margin = rng.choice([ttl / 4, ttl / 4, ttl / 4, 7 * MILLISECOND, UNBOUNDED, 0]).unwrap();
    (ttl, margin)
}

fn delay(rng: &mut Rng) -> u64 {
    rng.choice([0, 0, 1, 100 * MILLISECOND, SECOND, u64::MAX]).unwrap()
}

fn reason(rng: &mut Rng) -> FailureReason {
    FailureReason::new(rng.choice(["", "no", "no route to host: 5 %d", "é€"]).unwrap())
}

fn change(rng: &mut Rng) -> Configure {
    let limit = rng.choice([None, Some(0), Some(1), Some(2), Some(3)]).unwrap();
    let limit = limit.map(|limit| Limit::new(limit).unwrap());
    match rng.u64(..9) {
        0 | 1 => Configure::Limit(limit),
        2 | 3 => Configure::GroupLimit(limit),
        4 => Configure::Pause(rng.choice(["", "1", "for repairs\n\"now\""]).unwrap().to_owned()),
        5 => Configure::Limit(None),
        _ => Configure::Resume,
    }
}
