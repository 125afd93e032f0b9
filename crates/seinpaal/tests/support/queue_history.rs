//! Random histories of one queue, as plain data: they can be run again, made shorter and printed.
#![allow(missing_docs, unreachable_pub)]

use seinpaal_proto::{
    Inbox, Limit, Name, Priority,
    queue::{Configure, Dedup, Due, Pop, Purge, Push, Reason},
    time::{MILLISECOND, SECOND, UNBOUNDED},
};

/// What happens next.
#[derive(Clone, Debug)]
pub enum Event {
    /// Somebody subscribes to this inbox.
    Listen(Inbox),
    /// Nobody listens at this inbox any more.
    Hush(Inbox),
    /// The clock moves by so many microseconds, and a batch arrives.
    Call { step: i64, session: Inbox, turn: Turn, seen: Seen, asks: Vec<Ask> },
}

/// Which batch of its session it is.
#[derive(Clone, Copy, Debug)]
pub enum Turn {
    /// The next, with a deadline so far from the clock.
    Next(i64),
    /// The last one, sent again.
    Again,
    /// One that the last has overtaken.
    Overtaken,
    /// One that bears being done twice.
    Unnumbered,
}

/// What the sender claims to have seen.
#[derive(Clone, Copy, Debug)]
pub enum Seen {
    None,
    /// So far from the clock.
    Near(i64),
    /// More than can be believed.
    Absurd,
}

/// A request; what it is about is found among what was answered before.
#[derive(Clone, Debug)]
pub enum Ask {
    /// `At` is relative to the clock.
    Push(Push),
    Pop(Pop),
    /// Of the latest deliveries.
    Renew {
        ttl: u64,
        margin: u64,
        deliveries: Vec<usize>,
    },
    Acknowledge(usize),
    GiveBack(usize, u64),
    Fail(usize, u64, Reason),
    Leave,
    Cancel(usize),
    Replay(usize),
    Drop(usize),
    Purge(Purge),
    Configure(Configure),
    Inspect {
        rows: u32,
    },
    Dead {
        after: usize,
        rows: u32,
    },
}

/// What there is much of.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub events: u64,
    pub most_requests: u64,
    pub most_items: u64,
    /// Only what goes on all the time in a queue that is worked at, one in so many times something else.
    pub plain: Option<u64>,
}

/// Everything happens, to few items.
pub const SMALL: Scale = Scale { events: 220, most_requests: 4, most_items: 4, plain: None };
/// More is due at once than one call may do.
pub const LARGE: Scale = Scale { events: 50, most_requests: 60, most_items: 64, plain: None };
/// Little happens but pushes, pops, acknowledgements and renewals.
pub const PLAIN: Scale = Scale { events: 220, most_requests: 3, most_items: 4, plain: Some(25) };

/// The same, one request a call and one item a pop.
pub const LONE: Scale = Scale { events: 220, most_requests: 1, most_items: 1, plain: Some(25) };

/// The same with so many items that not all that are in work can be listed.
pub const CROWDED: Scale = Scale { events: 60, most_requests: 60, most_items: 64, plain: Some(25) };

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
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }
}

pub fn inbox(i: u64) -> Inbox {
    Inbox(0xb0_0000_0000_0000_0000_0000 + u128::from(i))
}

pub fn history(seed: u64, scale: Scale) -> Vec<Event> {
    let mut random = Random(seed);
    let first = (0..3).map(|i| Event::Listen(inbox(i))).collect::<Vec<_>>();
    let rest = (0..scale.events).map(|_| event(&mut random, scale));
    first.into_iter().chain(rest).collect()
}

fn event(random: &mut Random, scale: Scale) -> Event {
    match random.below(40) {
        0 => Event::Hush(inbox(random.below(5))),
        1 | 2 => Event::Listen(inbox(random.below(5))),
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
    let is_plain = scale.plain.is_some_and(|odd| !random.one_in(odd));
    let asks = if is_plain {
        plain_asks(random, requests.max(1), scale)
    } else {
        (0..requests).map(|_| ask(random, scale)).collect()
    };
    Event::Call {
        step: step(random),
        session: inbox(random.below(5)),
        turn: turn(random),
        seen: seen(random),
        asks,
    }
}

/// What sessions send together.
fn plain_asks(random: &mut Random, requests: u64, scale: Scale) -> Vec<Ask> {
    let kind = random.below(8);
    let mut asks = (0..requests)
        .map(|_| match kind {
            0..3 => Ask::Push(plain_push(random)),
            3..6 if random.one_in(6) => Ask::Fail(at(random), 0, Reason::default()),
            3..6 => Ask::Acknowledge(at(random)),
            6 => renew(random),
            _ => Ask::Acknowledge(at(random)),
        })
        .collect::<Vec<_>>();
    if (3..6).contains(&kind) {
        if kind == 5 && random.one_in(3) {
            asks.clear();
        }
        asks.push(Ask::Pop(Pop { wait: random.one_in(12), drains: false, ..a_pop(random, scale) }));
    }
    asks
}

fn plain_push(random: &mut Random) -> Push {
    let push = push(random);
    let is_odd = random.one_in(12);
    if is_odd { push } else { Push { group: None, due: Due::Now, dedup: None, ..push } }
}

fn turn(random: &mut Random) -> Turn {
    match random.below(30) {
        0 | 1 => Turn::Again,
        2 => Turn::Overtaken,
        3 => Turn::Unnumbered,
        4 => Turn::Next(random.below(100 * MILLISECOND) as i64 - 50 * MILLISECOND as i64),
        5..10 => Turn::Next(random.below(SECOND) as i64),
        _ => Turn::Next(random.below(20 * SECOND) as i64),
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
        // As long as a lease or a call to the microsecond.
        19 | 20 => random.pick(&[100, 150, 300, 1_000]) * MILLISECOND as i64,
        _ => random.below(40 * MILLISECOND) as i64,
    }
}

fn seen(random: &mut Random) -> Seen {
    match random.below(60) {
        0 => Seen::Absurd,
        1..4 => Seen::Near(random.below(20 * SECOND) as i64 - 10 * SECOND as i64),
        _ => Seen::None,
    }
}

/// Mostly one of the latest.
fn at(random: &mut Random) -> usize {
    let most = if random.one_in(4) { 100 } else { 6 };
    random.below(most) as usize
}

fn ask(random: &mut Random, scale: Scale) -> Ask {
    match random.below(60) {
        0..18 => Ask::Push(push(random)),
        18..32 => Ask::Pop(a_pop(random, scale)),
        32..35 => renew(random),
        35..42 => Ask::Acknowledge(at(random)),
        42..44 => Ask::GiveBack(at(random), delay(random)),
        44..47 => Ask::Fail(at(random), delay(random), reason(random)),
        47 => Ask::Leave,
        48 | 49 => Ask::Cancel(at(random)),
        50 => Ask::Replay(at(random)),
        51 => Ask::Drop(at(random)),
        52 if random.one_in(3) => {
            Ask::Purge(random.pick(&[Purge::Waiting, Purge::Waiting, Purge::Dead]))
        }
        53..57 => Ask::Configure(change(random)),
        57 => Ask::Dead { after: at(random), rows: random.pick(&[0, 1, 3, 1000]) },
        _ => Ask::Inspect { rows: random.pick(&[0, 1, 3, 1000]) },
    }
}

fn push(random: &mut Random) -> Push {
    Push {
        payload: random
            .pick(&[
                b"".as_slice(),
                b"x",
                b"two words",
                b"\0\r\n\xff$-1\r\n",
                &[7; 300],
                &[0; 3000],
            ])
            .to_vec(),
        priority: Priority::new(random.pick(&[0, 0, 0, 1, -1, 2, 100, -100])).unwrap(),
        due: due(random),
        group: (random.one_in(3)).then(|| group(random)),
        dedup: random.one_in(8).then(|| dedup(random)),
        most: 1 + random.below(3) as u32,
        about: about(random),
    }
}

fn due(random: &mut Random) -> Due {
    match random.below(20) {
        0..3 => Due::In(random.below(2 * SECOND)),
        3 => Due::At(random.below(4 * SECOND)),
        4 => Due::In(random.pick(&[0, 1, 100 * MILLISECOND, u64::MAX])),
        _ => Due::Now,
    }
}

fn group(random: &mut Random) -> Name {
    Name::new(random.pick(&["a", "a b", "ab", "zürich", "b"])).unwrap()
}

fn dedup(random: &mut Random) -> Dedup {
    let key = Name::new(random.pick(&["k", "k 1", "ké", "l"])).unwrap();
    Dedup { key, window: random.pick(&[0, 1, 100 * MILLISECOND, SECOND, 5 * SECOND]) }
}

fn about(random: &mut Random) -> String {
    random.pick(&["", "me", "two words", "1 2 3", "\u{1f}a\u{1e}b\nc %d"]).to_owned()
}

fn a_pop(random: &mut Random, scale: Scale) -> Pop {
    let (ttl, margin) = terms(random);
    Pop {
        items: 1 + random.below(scale.most_items) as u32,
        ttl,
        margin,
        wait: random.one_in(2),
        drains: random.one_in(4),
        about: about(random),
    }
}

fn renew(random: &mut Random) -> Ask {
    let (ttl, margin) = terms(random);
    let deliveries = (0..random.below(5)).map(|_| at(random)).collect();
    Ask::Renew { ttl, margin, deliveries }
}

fn terms(random: &mut Random) -> (u64, u64) {
    let ttl = random.pick(&[100, 101, 150, 300, 1_000, 5_000]) * MILLISECOND;
    let margin = random.pick(&[ttl / 4, ttl / 4, ttl / 4, 7 * MILLISECOND, UNBOUNDED, 0]);
    (ttl, margin)
}

fn delay(random: &mut Random) -> u64 {
    random.pick(&[0, 0, 1, 100 * MILLISECOND, SECOND, u64::MAX])
}

fn reason(random: &mut Random) -> Reason {
    Reason::new(random.pick(&["", "no", "no route to host: 5 %d", "é€"]))
}

fn change(random: &mut Random) -> Configure {
    let limit = random.pick(&[None, Some(0), Some(1), Some(2), Some(3)]);
    let limit = limit.map(|limit| Limit::new(limit).unwrap());
    match random.below(9) {
        0 | 1 => Configure::Limit(limit),
        2 | 3 => Configure::GroupLimit(limit),
        4 => Configure::Pause(random.pick(&["", "1", "for repairs\n\"now\""]).to_owned()),
        5 => Configure::Limit(None),
        _ => Configure::Resume,
    }
}
