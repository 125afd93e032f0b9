//! The models of queues, by name.

use super::{
    bounds::{Bounds, PlayedEnd, Spec},
    plant::Plant,
};
use crate::bounds::ModelFault;

/// One fault of each kind, with the name of its model.
const ONE: [(&str, &[ModelFault]); 8] = [
    ("queue-wakeup", &[ModelFault::LoseWakeup]),
    ("queue-crash", &[ModelFault::Crash]),
    ("queue-vanish", &[ModelFault::Vanish]),
    ("queue-deaf", &[ModelFault::Deaf]),
    ("queue-break", &[ModelFault::Break]),
    ("queue-repeat", &[ModelFault::Repeat]),
    ("queue-delay", &[ModelFault::Delay]),
    ("queue-pause", &[ModelFault::Pause]),
];

/// The faults that go with steps of the store's clock. As for semaphores, a worker that the store
/// knows not to listen is not among them. A copy of a request is not among them either: if the
/// clock jumps over the deadline between the request and its copy, the copy is refused although the
/// request was executed.
const WITH_CLOCK: &[ModelFault] = &[
    ModelFault::Break,
    ModelFault::Delay,
    ModelFault::LoseWakeup,
    ModelFault::Crash,
    ModelFault::Vanish,
    ModelFault::Pause,
];

const ENDS: &[PlayedEnd] =
    &[PlayedEnd::GiveBack, PlayedEnd::GiveBackLater, PlayedEnd::Fail, PlayedEnd::FailLater];
const ONE_ITEM: &[Spec] = &[Spec::PLAIN];
const TWO: &[Spec] = &[Spec::PLAIN, Spec::PLAIN];
const DELAYED: &[Spec] = &[Spec { delay: 3, ..Spec::PLAIN }, Spec { delay: 1, ..Spec::PLAIN }];
const APART: &[Spec] = &[Spec { delay: 20, ..Spec::PLAIN }, Spec { delay: 1, ..Spec::PLAIN }];
const GROUPS: &[Spec] = &[
    Spec { group: Some("a"), ..Spec::PLAIN },
    Spec { group: Some("a"), ..Spec::PLAIN },
    Spec { group: Some("b"), ..Spec::PLAIN },
];
const RANKED: &[Spec] = &[Spec::PLAIN, Spec { priority: 5, ..Spec::PLAIN }, Spec::PLAIN];
const MORTAL: &[Spec] = &[Spec { most: 2, ..Spec::PLAIN }];

/// The models that are explored breadth-first.
#[must_use]
pub fn explored() -> Vec<Bounds> {
    let base = Bounds { quiet_one_in: 64, ..Bounds::BASE };
    let calm = Bounds { faults: 0, ..base };
    let mut all = vec![
        Bounds { name: "queue-calm", quiet_one_in: 16, ..calm },
        Bounds { name: "queue-ends", ends: ENDS, returns: 2, items: MORTAL, ..calm },
        Bounds { name: "queue-delayed", items: DELAYED, ..calm },
        Bounds { name: "queue-cancel", cancels: 1, ..calm },
        Bounds { name: "queue-limit", limit: Some(1), ..calm },
        Bounds { name: "queue-groups", items: GROUPS, group_limit: Some(1), ..calm },
        Bounds { name: "queue-ranked", items: RANKED, workers: 1, at_once: 2, ..calm },
        Bounds { name: "queue-served", goes_on: false, pops: 2, ..calm },
        Bounds { name: "queue-clock", clock_steps: 1, steps_back: 1, items: ONE_ITEM, ..calm },
    ];
    all.extend(ONE.map(|(name, kinds)| Bounds { name, kinds, ..base }));
    all.extend([
        Bounds { name: "queue-one-delay", items: ONE_ITEM, kinds: &[ModelFault::Delay], ..base },
        Bounds { name: "queue-apart", items: APART, quiet_one_in: 1, ..calm },
        Bounds {
            name: "queue-mortal",
            items: MORTAL,
            kinds: &[ModelFault::Vanish],
            faults: 2,
            ..base
        },
        Bounds { name: "queue-everything", ends: ENDS, returns: 1, ..base },
        Bounds {
            name: "queue-everything-clock",
            clock_steps: 1,
            steps_back: 1,
            kinds: WITH_CLOCK,
            items: ONE_ITEM,
            ..base
        },
    ]);
    all
}

/// The models that are walked at random: many items, many faults.
#[must_use]
pub fn walked() -> Vec<Bounds> {
    const MIXED: &[Spec] = &[
        Spec { group: Some("a"), ..Spec::PLAIN },
        Spec { delay: 5, ..Spec::PLAIN },
        Spec { group: Some("a"), most: 1, ..Spec::PLAIN },
        Spec { priority: 3, ..Spec::PLAIN },
        Spec { group: Some("b"), delay: 2, ..Spec::PLAIN },
        Spec { group: Some("a"), priority: -2, ..Spec::PLAIN },
        Spec { most: 2, ..Spec::PLAIN },
        Spec { group: Some("b"), ..Spec::PLAIN },
    ];
    let long = Bounds {
        items: MIXED,
        limit: Some(3),
        group_limit: Some(1),
        at_once: 2,
        ends: ENDS,
        returns: 10,
        cancels: 2,
        ttl: 6,
        faults: 30,
        copies: 4,
        wakeups: 6,
        ..Bounds::BASE
    };
    vec![
        Bounds { name: "queue-walk", ..long },
        Bounds { name: "queue-walk-three", workers: 3, ..long },
        Bounds { name: "queue-walk-served", goes_on: false, pops: 12, ..long },
        Bounds {
            name: "queue-walk-clock",
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
        items: ONE_ITEM,
        ..Bounds::BASE
    };
    let one = |kinds| Bounds { faults: 1, kinds, ..base };
    match plant {
        Plant::LateAcknowledged => one(&[ModelFault::Pause]),
        Plant::RenewalRevives => one(&[ModelFault::Delay]),
        Plant::ExpiredGone => one(&[ModelFault::Vanish]),
        Plant::RepeatDone => one(&[ModelFault::Repeat]),
        Plant::CallForEver => Bounds { quiet_one_in: 1, ..one(&[ModelFault::Vanish]) },
        Plant::WatchUntold => Bounds { quiet_one_in: 1, items: APART, ..base },
        Plant::GroupOneMore => Bounds { items: GROUPS, group_limit: Some(1), ..base },
        Plant::PlaceLost => {
            Bounds { items: TWO, goes_on: false, ends: &[PlayedEnd::GiveBack], returns: 1, ..base }
        }
        Plant::LossIgnored => Bounds { cancels: 1, ..base },
        Plant::Uncounted
        | Plant::NumberIsClock
        | Plant::AnotherPushed
        | Plant::Miscounted
        | Plant::AboutLost => base,
        Plant::OneMore => {
            Bounds { items: MORTAL, ends: &[PlayedEnd::Fail], returns: 3, workers: 1, ..base }
        }
    }
}
