//! The models can fail: they find every planted mistake, and a violation for every limit of the
//! promises.

use std::{collections::BTreeSet, time::Duration};

use seinpaal_models::{
    explore::explore,
    game::Game,
    list,
    model::{
        BELIEVED, BOOKS, CALM, FENCE, HELD, NAMED, ORDER, PROGRESS, PROPERTIES, SHORTENED, TERMS,
        TWICE, UNTOLD,
    },
    plant::Plant,
    queue,
};

/// The rules that an exploration finds broken.
fn broken<G: Game + Clone + Send + Sync + 'static>(bounds: &G) -> Vec<&'static str> {
    let report = explore(bounds, 1, 2_000_000, Duration::from_secs(3600));
    report.violations.into_iter().map(|(property, _)| property).collect()
}

fn expected(plant: Plant) -> &'static str {
    match plant {
        Plant::NoMargin | Plant::ByClient => BELIEVED,
        Plant::NoSecondLook => PROGRESS,
        Plant::ForgetsPast | Plant::NoDeadline => TWICE,
        Plant::OneTooMany => HELD,
        Plant::ForgetsFence | Plant::FenceIsClock => FENCE,
        Plant::ShortensAll | Plant::FreeClock => SHORTENED,
        Plant::LastFirst => ORDER,
        Plant::WishLost | Plant::RenamesInUse => NAMED,
        Plant::EndUntold => UNTOLD,
        Plant::PinForgotten => TERMS,
        Plant::GrantDenied => CALM,
        Plant::Miscounted => BOOKS,
    }
}

#[test]
fn there_is_a_planted_mistake_for_every_property() {
    let expected: BTreeSet<_> = Plant::ALL.into_iter().map(expected).collect();
    assert_eq!(expected, PROPERTIES.into());
    let expected = queue::plant::Plant::ALL.into_iter().map(expected_of_queue);
    let all = queue::model::PROPERTIES.map(|(name, _)| name);
    assert_eq!(expected.collect::<BTreeSet<_>>(), all.into());
}

#[test]
fn every_planted_mistake_is_found_by_the_promise_that_it_breaks() {
    for plant in Plant::ALL {
        let broken = broken(&list::planted(plant));
        assert!(broken.contains(&expected(plant)), "{plant:?} breaks {broken:?}");
    }
}

fn expected_of_queue(plant: queue::plant::Plant) -> &'static str {
    use queue::{broken::Broken, plant::Plant};
    queue::model::property(match plant {
        Plant::LateAcknowledged | Plant::RenewalRevives => Some(Broken::Ended),
        Plant::ExpiredGone => Some(Broken::Lost),
        Plant::RepeatDone => Some(Broken::Again),
        Plant::GroupOneMore => Some(Broken::Limit),
        Plant::CallForEver | Plant::WatchUntold => None,
        Plant::PlaceLost => Some(Broken::Order),
        Plant::LossIgnored => Some(Broken::Believed),
        Plant::Uncounted | Plant::OneMore => Some(Broken::Count),
        Plant::NumberIsClock => Some(Broken::Number),
        Plant::AnotherPushed => Some(Broken::Answer),
        Plant::Miscounted | Plant::AboutLost => Some(Broken::Books),
    })
}

#[test]
fn every_mistake_planted_in_a_queue_is_found_by_the_promise_that_it_breaks() {
    for plant in queue::plant::Plant::ALL {
        let broken = broken(&queue::list::planted(plant));
        assert!(broken.contains(&expected_of_queue(plant)), "{plant:?} breaks {broken:?}");
    }
}

#[test]
fn what_is_not_promised_is_still_not_kept() {
    let [deaf, forgotten, late] = list::limits();
    assert_eq!(broken(&deaf), [BELIEVED]);
    assert_eq!(broken(&forgotten), [FENCE]);
    assert_eq!(broken(&late), [TWICE]);
}
