//! Random histories of one queue, as plain data: they can be run again, made shorter and printed.
#![allow(missing_docs, unreachable_pub)]

mod queue_events;

use seinpaal_draw::Draw;
use seinpaal_proto::{
    Inbox, Limit, Name, Priority,
    queue::{
        Configure, Dedup, Due, FailureReason, ItemId, ItemPosition, ItemState, Pop, Purge, Push,
    },
    time::{MILLISECOND, SECOND, UNBOUNDED},
};

pub use queue_events::{Event, ListPlace, Seen, Sketch, Turn};

/// The scale of a history.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub events: u64,
    pub most_requests: u64,
    pub most_items: u64,
    /// Only what goes on all the time in a queue that is worked at, one in so many times something
    /// else.
    pub plain: Option<u64>,
}

/// Everything happens, to few items.
pub const SMALL: Scale = Scale { events: 220, most_requests: 4, most_items: 4, plain: None };

/// More is due at once than one call may do.
pub const LARGE: Scale = Scale { events: 50, most_requests: 60, most_items: 64, plain: None };

/// Little happens but pushes, pops, acknowledgements and renewals.
pub const PLAIN: Scale = Scale { events: 220, most_requests: 3, most_items: 4, plain: Some(25) };

/// Like `PLAIN`, with one request a call and one item a pop.
pub const LONE: Scale = Scale { events: 220, most_requests: 1, most_items: 1, plain: Some(25) };

/// Like `PLAIN`, with so many items that not all of those in work can be listed.
pub const CROWDED: Scale = Scale { events: 60, most_requests: 60, most_items: 64, plain: Some(25) };

pub fn inbox(i: u64) -> Inbox {
    Inbox(0xb0_0000_0000_0000_0000_0000 + u128::from(i))
}

pub fn history(seed: u64, scale: Scale) -> Vec<Event> {
    let mut draw = Draw::new(seed);
    let first = (0..3).map(|i| Event::Listen(inbox(i))).collect::<Vec<_>>();
    let rest = (0..scale.events).map(|_| event(&mut draw, scale));
    first.into_iter().chain(rest).collect()
}

fn event(draw: &mut Draw, scale: Scale) -> Event {
    match draw.below(40) {
        0 => Event::Hush(inbox(draw.below(5))),
        1 | 2 => Event::Listen(inbox(draw.below(5))),
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
    let is_plain = scale.plain.is_some_and(|odd| !draw.one_in(odd));
    let sketches = if is_plain {
        plain_sketches(draw, requests.max(1), scale)
    } else {
        (0..requests).map(|_| sketch(draw, scale)).collect()
    };
    Event::Call {
        step: step(draw),
        session: inbox(draw.below(5)),
        turn: turn(draw),
        seen: seen(draw),
        sketches,
    }
}

/// The requests that sessions send together.
fn plain_sketches(draw: &mut Draw, requests: u64, scale: Scale) -> Vec<Sketch> {
    let kind = draw.below(8);
    let mut sketches = (0..requests)
        .map(|_| match kind {
            0..3 => Sketch::Push(plain_push(draw)),
            3..6 if draw.one_in(6) => Sketch::Fail(at(draw), 0, FailureReason::default()),
            3..6 => Sketch::Acknowledge(at(draw)),
            6 => renew(draw),
            _ => Sketch::Acknowledge(at(draw)),
        })
        .collect::<Vec<_>>();
    if (3..6).contains(&kind) {
        if kind == 5 && draw.one_in(3) {
            sketches.clear();
        }
        sketches.push(Sketch::Pop(Pop {
            wait: draw.one_in(12),
            drains: false,
            ..a_pop(draw, scale)
        }));
    }
    sketches
}

fn plain_push(draw: &mut Draw) -> Push {
    let push = push(draw);
    let is_odd = draw.one_in(12);
    if is_odd { push } else { Push { group: None, due: Due::Now, dedup: None, ..push } }
}

fn turn(draw: &mut Draw) -> Turn {
    match draw.below(30) {
        0 | 1 => Turn::Again,
        2 => Turn::Overtaken,
        3 => Turn::Unnumbered,
        4 => Turn::Next(draw.below(100 * MILLISECOND) as i64 - 50 * MILLISECOND as i64),
        5..10 => Turn::Next(draw.below(SECOND) as i64),
        _ => Turn::Next(draw.below(20 * SECOND) as i64),
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
        // As long as a lease or a call to the microsecond.
        19 | 20 => draw.pick(&[100, 150, 300, 1_000]) * MILLISECOND as i64,
        _ => draw.below(40 * MILLISECOND) as i64,
    }
}

fn seen(draw: &mut Draw) -> Seen {
    match draw.below(60) {
        0 => Seen::Absurd,
        1..4 => Seen::Near(draw.below(20 * SECOND) as i64 - 10 * SECOND as i64),
        _ => Seen::None,
    }
}

/// Mostly one of the latest.
fn at(draw: &mut Draw) -> usize {
    let most = if draw.one_in(4) { 100 } else { 6 };
    draw.below(most) as usize
}

fn sketch(draw: &mut Draw, scale: Scale) -> Sketch {
    match draw.below(60) {
        0..18 => Sketch::Push(push(draw)),
        18..32 => Sketch::Pop(a_pop(draw, scale)),
        32..35 => renew(draw),
        35..42 => Sketch::Acknowledge(at(draw)),
        42..44 => Sketch::GiveBack(at(draw), delay(draw)),
        44..47 => Sketch::Fail(at(draw), delay(draw), reason(draw)),
        47 => Sketch::Leave,
        48 => Sketch::Cancel(at(draw), false),
        49 => Sketch::Cancel(at(draw), true),
        50 => Sketch::Replay(at(draw)),
        51 => Sketch::Drop(at(draw)),
        52 if draw.one_in(3) => {
            Sketch::Purge(draw.pick(&[Purge::Waiting, Purge::Waiting, Purge::Dead]))
        }
        53..56 => Sketch::Configure(change(draw)),
        56 | 57 => Sketch::List { after: place(draw), rows: draw.pick(&[0, 1, 2, 3, 1000]) },
        _ => Sketch::Inspect { rows: draw.pick(&[0, 1, 3, 1000]) },
    }
}

/// Before an order, behind one of the latest items, or at a place that none has.
fn place(draw: &mut Draw) -> ListPlace {
    let state = draw.pick(&ItemState::ALL);
    match draw.below(8) {
        0..4 => ListPlace::Before(state),
        4..7 => ListPlace::Behind(at(draw)),
        _ => ListPlace::At(draw.pick(&[
            ItemPosition::Open(i64::MAX >> 11, ItemId(UNBOUNDED)),
            ItemPosition::Open(0, ItemId(5)),
            ItemPosition::before_open(),
            ItemPosition::Grouped(Name::new("ab").ok(), -(1 << 53), ItemId(0)),
            ItemPosition::Grouped(Name::new("no such: 1").ok(), 1 << 53, ItemId(7)),
            ItemPosition::Delayed(UNBOUNDED, ItemId(0)),
            ItemPosition::InWork(1, ItemId(UNBOUNDED)),
        ])),
    }
}

fn push(draw: &mut Draw) -> Push {
    Push {
        payload: draw
            .pick(&[
                b"".as_slice(),
                b"x",
                b"two words",
                b"\0\r\n\xff$-1\r\n",
                &[7; 300],
                &[0; 3000],
            ])
            .to_vec(),
        priority: Priority::new(draw.pick(&[0, 0, 0, 1, -1, 2, 100, -100])).unwrap(),
        due: due(draw),
        group: (draw.one_in(3)).then(|| group(draw)),
        dedup: draw.one_in(8).then(|| dedup(draw)),
        most: 1 + draw.below(3) as u32,
        about: about(draw),
    }
}

fn due(draw: &mut Draw) -> Due {
    match draw.below(20) {
        0..3 => Due::In(draw.below(2 * SECOND)),
        3 => Due::At(draw.below(4 * SECOND)),
        4 => Due::In(draw.pick(&[0, 1, 100 * MILLISECOND, u64::MAX])),
        _ => Due::Now,
    }
}

fn group(draw: &mut Draw) -> Name {
    Name::new(draw.pick(&["a", "a b", "ab", "zürich", "b"])).unwrap()
}

fn dedup(draw: &mut Draw) -> Dedup {
    let key = Name::new(draw.pick(&["k", "k 1", "ké", "l"])).unwrap();
    Dedup {
        key,
        window: draw.pick(&[0, 1, 5 * MILLISECOND, 100 * MILLISECOND, SECOND, 5 * SECOND]),
    }
}

fn about(draw: &mut Draw) -> String {
    draw.pick(&["", "me", "two words", "1 2 3", "\u{1f}a\u{1e}b\nc %d"]).to_owned()
}

fn a_pop(draw: &mut Draw, scale: Scale) -> Pop {
    let (ttl, margin) = terms(draw);
    Pop {
        items: 1 + draw.below(scale.most_items) as u32,
        ttl,
        margin,
        wait: draw.one_in(2),
        drains: draw.one_in(4),
        about: about(draw),
    }
}

fn renew(draw: &mut Draw) -> Sketch {
    let (ttl, margin) = terms(draw);
    let deliveries = (0..draw.below(5)).map(|_| at(draw)).collect();
    Sketch::Renew { ttl, margin, deliveries }
}

fn terms(draw: &mut Draw) -> (u64, u64) {
    let ttl = draw.pick(&[100, 101, 150, 300, 1_000, 5_000]) * MILLISECOND;
    let margin = draw.pick(&[ttl / 4, ttl / 4, ttl / 4, 7 * MILLISECOND, UNBOUNDED, 0]);
    (ttl, margin)
}

fn delay(draw: &mut Draw) -> u64 {
    draw.pick(&[0, 0, 1, 100 * MILLISECOND, SECOND, u64::MAX])
}

fn reason(draw: &mut Draw) -> FailureReason {
    FailureReason::new(draw.pick(&["", "no", "no route to host: 5 %d", "é€"]))
}

fn change(draw: &mut Draw) -> Configure {
    let limit = draw.pick(&[None, Some(0), Some(1), Some(2), Some(3)]);
    let limit = limit.map(|limit| Limit::new(limit).unwrap());
    match draw.below(9) {
        0 | 1 => Configure::Limit(limit),
        2 | 3 => Configure::GroupLimit(limit),
        4 => Configure::Pause(draw.pick(&["", "1", "for repairs\n\"now\""]).to_owned()),
        5 => Configure::Limit(None),
        _ => Configure::Resume,
    }
}
