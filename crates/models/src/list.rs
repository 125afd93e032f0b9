//! The models, by name.

use crate::{
    bounds::{Bounds, Fault},
    plant::Plant,
};

/// The model in which a planted mistake is looked for.
#[must_use]
pub fn planted(plant: Plant) -> Bounds {
    let base = Bounds { name: plant.says(), plant: Some(plant), quiet_one_in: u64::MAX, ..Bounds::BASE };
    match plant {
        Plant::FromReply => Bounds { faults: 2, kinds: &[Fault::Delay, Fault::Pause], ..base },
        Plant::NoMargin | Plant::FreeClock => {
            Bounds { faults: 0, clock_steps: 1, ..base }
        }
        Plant::NoSecondLook => {
            Bounds { faults: 0, quiet_one_in: 1, ..base }
        }
        Plant::ByClient => Bounds { wishes: 2, at_once: 2, faults: 0, ..base },
        Plant::ForgetsPast => Bounds { kinds: &[Fault::Repeat], ..base },
        Plant::OneTooMany | Plant::ShortensAll => Bounds { faults: 0, ..base },
        Plant::FenceIsClock => Bounds { faults: 0, ..base },
        Plant::LastFirst => Bounds { clients: 3, faults: 0, ..base },
    }
}
