//! The models can fail: every planted mistake is found, and what is not promised is shown not to hold.

use std::time::Duration;

use seinpaal_models::{
    bounds::Bounds,
    explore::explore,
    list,
    model::{BELIEVED, FENCE, HELD, ORDER, PROGRESS, SHORTENED, TWICE},
    plant::Plant,
};

/// What an exploration finds to be broken.
fn broken(bounds: &Bounds) -> Vec<&'static str> {
    let report = explore(bounds, 1, 2_000_000, Duration::from_secs(3600));
    report.violations.into_iter().map(|(property, _)| property).collect()
}

fn expected(plant: Plant) -> &'static str {
    match plant {
        Plant::FromReply | Plant::NoMargin | Plant::ByClient => BELIEVED,
        Plant::NoSecondLook => PROGRESS,
        Plant::ForgetsPast | Plant::NoDeadline => TWICE,
        Plant::OneTooMany => HELD,
        Plant::ForgetsFence | Plant::FenceIsClock => FENCE,
        Plant::ShortensAll | Plant::FreeClock => SHORTENED,
        Plant::LastFirst => ORDER,
    }
}

#[test]
fn every_planted_mistake_is_found_by_the_promise_that_it_breaks() {
    for plant in Plant::ALL {
        let broken = broken(&list::planted(plant));
        assert!(broken.contains(&expected(plant)), "{plant:?} breaks {broken:?}");
    }
}

#[test]
fn what_is_not_promised_is_still_not_kept() {
    let [deaf, forgotten, late] = list::limits();
    assert_eq!(broken(&deaf), [BELIEVED]);
    assert_eq!(broken(&forgotten), [FENCE]);
    assert_eq!(broken(&late), [TWICE]);
}
