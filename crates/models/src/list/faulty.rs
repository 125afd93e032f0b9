//! The models that must find a violation: of a planted mistake, or of a promise that is not made.

use crate::{
    bounds::{Bounds, ModelFault, Rule, Steer},
    plant::Plant,
};

/// A model without faults, in which the quiet schedule runs from almost no state.
const CALM: Bounds = Bounds { faults: 0, quiet_one_in: u64::MAX, ..Bounds::BASE };

/// The model in which a planted mistake is looked for.
#[must_use]
pub fn planted(plant: Plant) -> Bounds {
    let base = Bounds { name: plant.says(), plant: Some(plant), ..CALM };
    match plant {
        Plant::NoMargin => Bounds {
            faults: 1,
            kinds: &[ModelFault::Pause],
            clock_steps: 1,
            ttl: 4,
            place: 12,
            ..base
        },
        Plant::FreeClock => Bounds { clock_steps: 1, ..base },
        Plant::NoSecondLook => Bounds { quiet_one_in: 1, ..base },
        Plant::ByClient => Bounds { wants: 2, at_once: 2, ..base },
        Plant::ForgetsPast | Plant::NoDeadline => {
            Bounds { faults: 1, kinds: &[ModelFault::Repeat], ..base }
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
        Plant::EndUntold => Bounds { steers: &[Steer::Evict], turns: 1, wakeups: 8, ..base },
        Plant::PinForgotten => {
            let rules = &[Rule::Refuse(2)];
            Bounds { limit: 2, rules, steers: &[Steer::Pin(1)], turns: 1, wakeups: 8, ..base }
        }
        Plant::OneTooMany
        | Plant::ShortensAll
        | Plant::FenceIsClock
        | Plant::GrantDenied
        | Plant::Miscounted => base,
    }
}

/// One model for each limit of the promises. Each must find a history in which a client holds too
/// much or too long.
#[must_use]
pub fn limits() -> [Bounds; 3] {
    [
        Bounds {
            name: "a holder that does not listen, and a clock that jumps",
            clock_steps: 1,
            steps_back: 1,
            kinds: &[ModelFault::Deaf],
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
            kinds: &[ModelFault::Repeat],
            quiet_one_in: u64::MAX,
            ..Bounds::BASE
        },
    ]
}
