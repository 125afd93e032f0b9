//! The models, by name.

mod faulty;

pub use faulty::{limits, planted};

use crate::bounds::{Bounds, ModelFault, Rule, Steer};

/// The acts of an operator on the limit.
const PINS: &[Steer] = &[Steer::Pin(0), Steer::Pin(1), Steer::Pin(2), Steer::Unpin];

/// The statements of requests about the limit.
const RULES: &[Rule] = &[
    Rule::Nothing,
    Rule::Refuse(1),
    Rule::Refuse(2),
    Rule::Adopt(2),
    Rule::Set(2),
    Rule::Exact(2),
];

/// The names that an operator gives to slots.
const NAMES: &[Steer] =
    &[Steer::Name("a,b"), Steer::Name("a,b,c"), Steer::Name("c,a,b,d"), Steer::Unpin];

/// One fault of each kind, with the name of its model.
const ONE: [(&str, &[ModelFault]); 8] = [
    ("wakeup", &[ModelFault::LoseWakeup]),
    ("crash", &[ModelFault::Crash]),
    ("vanish", &[ModelFault::Vanish]),
    ("deaf", &[ModelFault::Deaf]),
    ("break", &[ModelFault::Break]),
    ("repeat", &[ModelFault::Repeat]),
    ("delay", &[ModelFault::Delay]),
    ("pause", &[ModelFault::Pause]),
];

/// The faults that go with steps of the store's clock. A holder that the store knows not to listen
/// is not among them, because time counts in full for its lease (docs/internals/protocol.md, "The
/// bounded clock").
const WITH_CLOCK: &[ModelFault] = &[
    ModelFault::Break,
    ModelFault::Repeat,
    ModelFault::Delay,
    ModelFault::LoseWakeup,
    ModelFault::Crash,
    ModelFault::Vanish,
    ModelFault::Pause,
];

/// The ways in which a ticket changes hands.
const HANDS: &[Steer] = &[Steer::Attach, Steer::Detach];
/// The ways in which others end a holder's lease, or act on it.
const ENDS: &[Steer] = &[Steer::Release, Steer::Evict, Steer::Renew, Steer::Attach];
/// All acts on a ticket of another client.
const MEDDLING: &[Steer] =
    &[Steer::Attach, Steer::Detach, Steer::Release, Steer::Evict, Steer::Renew];

/// Tickets that change hands, are ended by others, or have no owner.
fn hands() -> [Bounds; 5] {
    let base =
        Bounds { faults: 0, turns: 2, steers: HANDS, wakeups: 8, quiet_one_in: 64, ..Bounds::BASE };
    let short = Bounds { faults: 1, ttl: 4, place: 2, ..base };
    let untold = &[
        ModelFault::LoseWakeup,
        ModelFault::Delay,
        ModelFault::Deaf,
        ModelFault::Break,
        ModelFault::Repeat,
        ModelFault::Pause,
    ];
    [
        Bounds { name: "hands", ..base },
        Bounds { name: "hands-ended", steers: ENDS, ..base },
        Bounds { name: "hands-three", clients: 3, steers: &[Steer::Attach], ..base },
        Bounds { name: "hands-untold", kinds: untold, ..short },
        Bounds { name: "hands-gone", kinds: &[ModelFault::Crash, ModelFault::Vanish], ..short },
    ]
}

/// Limits that are stated, set, pinned and unset.
fn terms() -> [Bounds; 4] {
    let base =
        Bounds { limit: 2, faults: 0, turns: 2, wakeups: 8, quiet_one_in: 64, ..Bounds::BASE };
    let pin = &[Steer::Pin(1), Steer::Unpin];
    [
        Bounds { name: "terms-stated", rules: RULES, wants: 2, turns: 0, ..base },
        Bounds {
            name: "terms-pinned",
            rules: &[Rule::Nothing, Rule::Refuse(2), Rule::Exact(2)],
            steers: &[Steer::Pin(0), Steer::Pin(1), Steer::Unpin],
            ..base
        },
        Bounds {
            name: "terms-weights",
            weights: &[1, 2],
            rules: &[Rule::Refuse(2), Rule::Set(1)],
            steers: pin,
            ..base
        },
        Bounds {
            name: "terms-faults",
            rules: &[Rule::Nothing, Rule::Set(2)],
            steers: pin,
            faults: 1,
            ttl: 4,
            place: 2,
            ..base
        },
    ]
}

/// Slots that get names, other names and none, and requests that wish for one.
fn names() -> [Bounds; 3] {
    let base = Bounds {
        limit: 2,
        faults: 0,
        turns: 2,
        wakeups: 8,
        slots: &["", "a", "b"],
        steers: &[Steer::Name("a,b"), Steer::Name("a,b,c"), Steer::Name("b,a"), Steer::Unpin],
        quiet_one_in: 64,
        ..Bounds::BASE
    };
    let two = &[Steer::Name("a,b")];
    [
        Bounds { name: "names", ..base },
        Bounds {
            name: "names-weights",
            weights: &[1, 2],
            steers: two,
            turns: 1,
            clients: 3,
            ..base
        },
        Bounds { name: "names-faults", steers: two, turns: 1, faults: 1, ttl: 4, place: 2, ..base },
    ]
}

/// Tasks of one client that take turns: a release also proves the permit that it hands over to the
/// next task.
fn turns() -> [Bounds; 3] {
    let base = Bounds {
        wants: 3,
        at_once: 3,
        clients: 1,
        ttl: 4,
        place: 2,
        quiet_one_in: 64,
        ..Bounds::BASE
    };
    [
        Bounds { name: "turns", faults: 0, ..base },
        Bounds { name: "turns-faults", faults: 1, ..base },
        Bounds { name: "turns-beside", clients: 2, faults: 0, ..base },
    ]
}

/// The models that are explored breadth-first.
#[must_use]
pub fn explored() -> Vec<Bounds> {
    let base = Bounds { quiet_one_in: 64, ..Bounds::BASE };
    let short = Bounds { ttl: 4, place: 2, ..base };
    let mut all = vec![
        Bounds { name: "calm", faults: 0, quiet_one_in: 1, ..base },
        Bounds { name: "calm-places", faults: 0, place: 12, wants: 2, quiet_one_in: 1, ..base },
        // The first waiter looks again after a quarter of the ttl, which is no sooner than its
        // place is renewed.
        Bounds { name: "calm-short-places", faults: 0, place: 5, quiet_one_in: 1, ..base },
        Bounds { name: "clock", faults: 0, clock_steps: 1, steps_back: 1, ..base },
    ];
    all.extend(ONE.map(|(name, kinds)| Bounds { name, kinds, ..short }));
    all.extend([
        Bounds { name: "weights", limit: 2, weights: &[1, 2], faults: 0, ..short },
        Bounds { name: "two-each", limit: 2, wants: 2, at_once: 2, faults: 0, ..short },
        Bounds { name: "three", clients: 3, faults: 0, ..short },
        Bounds { name: "everything", limit: 2, weights: &[1, 2], faults: 2, ..base },
        Bounds {
            name: "everything-clock",
            clock_steps: 1,
            steps_back: 1,
            kinds: WITH_CLOCK,
            ..base
        },
    ]);
    all.extend(turns());
    all.extend(hands());
    all.extend(terms());
    all.extend(names());
    all
}

/// The models that are walked at random: many requests, many faults.
#[must_use]
pub fn walked() -> Vec<Bounds> {
    let long = Bounds {
        limit: 2,
        weights: &[1, 2],
        wants: 20,
        at_once: 3,
        faults: 40,
        copies: 4,
        wakeups: 6,
        ..Bounds::BASE
    };
    vec![
        Bounds { name: "walk-two", ..long },
        Bounds { name: "walk-three", clients: 3, ..long },
        Bounds {
            name: "walk-clock",
            clients: 3,
            clock_steps: 1,
            steps_back: 1,
            kinds: WITH_CLOCK,
            ..long
        },
        Bounds { name: "walk-hands", clients: 3, steers: MEDDLING, turns: 20, ..long },
        Bounds { name: "walk-terms", clients: 3, rules: RULES, steers: PINS, turns: 20, ..long },
        Bounds {
            name: "walk-names",
            clients: 3,
            slots: &["", "a", "b", "c"],
            steers: NAMES,
            turns: 20,
            ..long
        },
    ]
}
