//! The models, by name.

use crate::{
    bounds::{Bounds, Fault, Rule, Steer},
    plant::Plant,
};

/// What an operator does about a limit.
const PINS: &[Steer] = &[Steer::Pin(0), Steer::Pin(1), Steer::Pin(2), Steer::Unpin];

/// What requests state of a limit.
const RULES: &[Rule] = &[
    Rule::Nothing,
    Rule::Refuse(1),
    Rule::Refuse(2),
    Rule::Adopt(2),
    Rule::Set(2),
    Rule::Exact(2),
];

/// How an operator names slots.
const NAMES: &[Steer] =
    &[Steer::Name("a,b"), Steer::Name("a,b,c"), Steer::Name("c,a,b,d"), Steer::Unpin];

/// More people ask than a store keeps of one grant, and tickets change hands and end besides.
const ASKS: &[Steer] = &[
    Steer::Ask("a"),
    Steer::Ask("b"),
    Steer::Ask("c"),
    Steer::Ask("d"),
    Steer::Ask("e"),
    Steer::Ask("f"),
    Steer::Ask("g"),
    Steer::Ask("h"),
    Steer::Ask("i"),
    Steer::Ask("j"),
    Steer::Attach,
    Steer::Evict,
    Steer::Detach,
];

/// One fault of each kind, with the name of its model.
const ONE: [(&str, &[Fault]); 8] = [
    ("wakeup", &[Fault::LoseWakeup]),
    ("crash", &[Fault::Crash]),
    ("vanish", &[Fault::Vanish]),
    ("deaf", &[Fault::Deaf]),
    ("break", &[Fault::Break]),
    ("repeat", &[Fault::Repeat]),
    ("delay", &[Fault::Delay]),
    ("pause", &[Fault::Pause]),
];

/// Faults that go with steps of the store's clock: all but a holder whom the store knows not to listen, for
/// whom time counts in full (docs/internals/protocol.md, "The bounded clock").
const WITH_CLOCK: &[Fault] = &[
    Fault::Break,
    Fault::Repeat,
    Fault::Delay,
    Fault::LoseWakeup,
    Fault::Crash,
    Fault::Vanish,
    Fault::Pause,
];

/// How a ticket changes hands.
const HANDS: &[Steer] = &[Steer::Attach, Steer::Detach];
/// How others end what somebody holds, or meddle with it.
const ENDS: &[Steer] = &[Steer::Release, Steer::Evict, Steer::Renew, Steer::Attach];
/// All of it.
const MEDDLING: &[Steer] =
    &[Steer::Attach, Steer::Detach, Steer::Release, Steer::Evict, Steer::Renew];

/// Tickets that change hands, are ended by others or left to themselves.
fn hands() -> [Bounds; 5] {
    let base =
        Bounds { faults: 0, turns: 2, steers: HANDS, wakeups: 8, quiet_one_in: 64, ..Bounds::BASE };
    let short = Bounds { faults: 1, ttl: 4, place: 2, ..base };
    let untold =
        &[Fault::LoseWakeup, Fault::Delay, Fault::Deaf, Fault::Break, Fault::Repeat, Fault::Pause];
    [
        Bounds { name: "hands", ..base },
        Bounds { name: "hands-ended", steers: ENDS, ..base },
        Bounds { name: "hands-three", clients: 3, steers: &[Steer::Attach], ..base },
        Bounds { name: "hands-untold", kinds: untold, ..short },
        Bounds { name: "hands-gone", kinds: &[Fault::Crash, Fault::Vanish], ..short },
    ]
}

/// Limits that are stated, set, pinned and unset.
fn terms() -> [Bounds; 4] {
    let base =
        Bounds { limit: 2, faults: 0, turns: 2, wakeups: 8, quiet_one_in: 64, ..Bounds::BASE };
    let pin = &[Steer::Pin(1), Steer::Unpin];
    [
        Bounds { name: "terms-stated", rules: RULES, wishes: 2, turns: 0, ..base },
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

/// Slots that get names, other names and none, and those who wish for one.
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

/// Holders who are asked to hand over, by one person, by two, and by one twice.
fn asks() -> [Bounds; 5] {
    let base = Bounds {
        faults: 0,
        turns: 2,
        steers: &[Steer::Ask("eve"), Steer::Ask("bob")],
        wakeups: 8,
        quiet_one_in: 64,
        ..Bounds::BASE
    };
    let two = Bounds { limit: 2, wishes: 2, at_once: 2, ..base };
    [
        Bounds { name: "asks", ..base },
        Bounds { name: "asks-shared", clients: 1, turns: 3, ..two },
        Bounds { name: "asks-hands", steers: &[Steer::Ask("eve"), Steer::Attach], ..base },
        Bounds { name: "asks-faults", clients: 1, faults: 1, ttl: 4, place: 2, ..two },
        // No wakeup arrives, so that only renewals tell; and one of their requests comes twice.
        Bounds {
            name: "asks-repeat",
            clients: 1,
            wakeups: 0,
            faults: 1,
            kinds: &[Fault::Repeat],
            quiet_one_in: 1,
            ..base
        },
    ]
}

/// What is explored breadth-first.
#[must_use]
pub fn explored() -> Vec<Bounds> {
    let base = Bounds { quiet_one_in: 64, ..Bounds::BASE };
    let short = Bounds { ttl: 4, place: 2, ..base };
    let mut all = vec![
        Bounds { name: "calm", faults: 0, quiet_one_in: 1, ..base },
        Bounds { name: "calm-places", faults: 0, place: 12, wishes: 2, quiet_one_in: 1, ..base },
        // The first in line looks again after a quarter of the ttl, which is no sooner than its place is renewed.
        Bounds { name: "calm-short-places", faults: 0, place: 5, quiet_one_in: 1, ..base },
        Bounds { name: "clock", faults: 0, clock_steps: 1, steps_back: 1, ..base },
    ];
    all.extend(ONE.map(|(name, kinds)| Bounds { name, kinds, ..short }));
    all.extend([
        Bounds { name: "weights", limit: 2, weights: &[1, 2], faults: 0, ..short },
        Bounds { name: "two-each", limit: 2, wishes: 2, at_once: 2, faults: 0, ..short },
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
    all.extend(hands());
    all.extend(terms());
    all.extend(names());
    all.extend(asks());
    all
}

/// What is walked at random: many requests, many faults.
#[must_use]
pub fn walked() -> Vec<Bounds> {
    let long = Bounds {
        limit: 2,
        weights: &[1, 2],
        wishes: 20,
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
        Bounds { name: "walk-asks", clients: 3, steers: ASKS, turns: 60, ..long },
    ]
}

/// The model in which a planted mistake is looked for.
#[must_use]
pub fn planted(plant: Plant) -> Bounds {
    let base = Bounds {
        name: plant.says(),
        plant: Some(plant),
        faults: 0,
        quiet_one_in: u64::MAX,
        ..Bounds::BASE
    };
    match plant {
        Plant::NoMargin => {
            Bounds { faults: 1, kinds: &[Fault::Pause], clock_steps: 1, ttl: 4, place: 12, ..base }
        }
        Plant::FreeClock => Bounds { clock_steps: 1, ..base },
        Plant::NoSecondLook => Bounds { quiet_one_in: 1, ..base },
        Plant::ByClient => Bounds { wishes: 2, at_once: 2, ..base },
        Plant::ForgetsPast | Plant::NoDeadline => {
            Bounds { faults: 1, kinds: &[Fault::Repeat], ..base }
        }
        Plant::ForgetsFence => Bounds { clock_steps: 1, steps_back: 1, ..base },
        Plant::LastFirst => Bounds { clients: 3, ..base },
        Plant::WishLost | Plant::RenamesInUse => Bounds {
            limit: 2,
            clients: 3,
            slots: &["", "a"],
            steers: &[Steer::Name("a,b"), Steer::Name("b,a")],
            turns: 2,
            wakeups: 8,
            ..base
        },
        // No wakeup arrives, so that only a renewal tells.
        Plant::AskInPlace | Plant::AskUntold => {
            Bounds { steers: &[Steer::Ask("eve")], turns: 1, wakeups: 0, ..base }
        }
        Plant::AskReplaced => {
            Bounds { steers: &[Steer::Ask("eve"), Steer::Ask("bob")], turns: 2, ..base }
        }
        Plant::OneTooMany | Plant::ShortensAll | Plant::FenceIsClock => base,
    }
}

/// What is known not to be promised, with a model that shows it.
#[must_use]
pub fn limits() -> [Bounds; 3] {
    [
        Bounds {
            name: "a holder who does not listen, and a clock that jumps",
            clock_steps: 1,
            steps_back: 1,
            kinds: &[Fault::Deaf],
            quiet_one_in: u64::MAX,
            ..Bounds::BASE
        },
        Bounds {
            name: "a name that was forgotten, and a clock that was set back",
            steps_back: 1,
            is_strict: true,
            faults: 0,
            quiet_one_in: u64::MAX,
            ..Bounds::BASE
        },
        Bounds {
            name: "a late copy of a request, and a clock that was set back",
            clock_steps: 1,
            steps_back: 1,
            is_strict: true,
            kinds: &[Fault::Repeat],
            quiet_one_in: u64::MAX,
            ..Bounds::BASE
        },
    ]
}
