//! The models, by name.

use crate::{
    bounds::{Bounds, Fault},
    plant::Plant,
};

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
/// whom time counts in full (docs/protocol.md, "The bounded clock").
const WITH_CLOCK: &[Fault] = &[
    Fault::Break,
    Fault::Repeat,
    Fault::Delay,
    Fault::LoseWakeup,
    Fault::Crash,
    Fault::Vanish,
    Fault::Pause,
];

/// What is explored breadth-first.
#[must_use]
pub fn explored() -> Vec<Bounds> {
    let base = Bounds { quiet_one_in: 64, ..Bounds::BASE };
    let short = Bounds { ttl: 4, place: 2, ..base };
    let mut all = vec![
        Bounds { name: "calm", faults: 0, quiet_one_in: 1, ..base },
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
        Plant::FromReply => Bounds { faults: 1, kinds: &[Fault::Delay], ttl: 4, place: 2, ..base },
        Plant::NoMargin => {
            Bounds { faults: 1, kinds: &[Fault::Pause], clock_steps: 1, ttl: 4, place: 2, ..base }
        }
        Plant::FreeClock => Bounds { clock_steps: 1, ..base },
        Plant::NoSecondLook => Bounds { quiet_one_in: 1, ..base },
        Plant::ByClient => Bounds { wishes: 2, at_once: 2, ..base },
        Plant::ForgetsPast | Plant::NoDeadline => {
            Bounds { faults: 1, kinds: &[Fault::Repeat], ..base }
        }
        Plant::ForgetsFence => Bounds { clock_steps: 1, steps_back: 1, ..base },
        Plant::LastFirst => Bounds { clients: 3, ..base },
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
