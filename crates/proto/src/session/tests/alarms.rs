//! No false alarm (rule 19): if nothing has failed, no client is in danger, loses a permit or is
//! refused, and permits that are handed over last.

use alloc::vec::Vec;

use super::{
    net::{Fate, Net},
    want,
};
use crate::{
    session::{Event, JumpBound, SessionConfig, Want},
    time::{MAX_TTL, MILLISECOND, MIN_TTL, Micros, SECOND, UNBOUNDED},
};

/// Returns ttls from the shortest to the longest: about four in each factor of ten, and those that
/// people choose.
pub(super) fn ttls() -> Vec<Micros> {
    let steps = [100, 178, 316, 562].map(|step| step * MILLISECOND);
    let mut ttls: Vec<Micros> = (0..6)
        .flat_map(|power| steps.map(|step| step * 10_u64.pow(power)))
        .filter(|ttl| (MIN_TTL..=MAX_TTL).contains(ttl))
        .collect();
    ttls.extend([5, 7, 8, 10, 15, 24, 30, 60].map(|seconds| seconds * SECOND));
    ttls.extend([7_500 * MILLISECOND, MAX_TTL]);
    ttls
}

pub(super) const BOUNDS: [JumpBound; 4] = [
    JumpBound::Second,
    JumpBound::Off,
    JumpBound::Fixed(100 * MILLISECOND),
    JumpBound::Fixed(MAX_TTL), // which is cut to half of the ttl
];

/// The longest leases of stores: without bound, and as ZooKeeper's sessions bound them.
pub(super) const CUTS: [Micros; 4] =
    [UNBOUNDED, 7_500 * MILLISECOND, 3 * SECOND, 1_500 * MILLISECOND];

/// Returns clients on a store that always answers, with a delay of up to this share of the ttl.
fn net(clients: usize, seed: u64, config: &SessionConfig, lag: Micros) -> Net {
    let mut net = Net::with(clients, seed, config);
    net.fate = Fate { lag: lag.max(1), ..Fate::default() };
    net
}

pub(super) fn config(clock_bound: JumpBound, cut: Micros) -> SessionConfig {
    SessionConfig { clock_bound, ..SessionConfig::default() }.within(cut)
}

/// Returns the events that no client may hear.
fn alarms(net: &Net) -> Vec<Event> {
    let is_alarm = |event: &&Event| {
        matches!(event, Event::Danger { .. } | Event::Lost { .. } | Event::Refused { .. })
    };
    net.told.iter().map(|(_, _, event)| event).filter(is_alarm).cloned().collect()
}

/// Returns the least time that was certain when a permit was handed over, as the program was told.
fn least_certain(net: &Net) -> Micros {
    let certain = net.told.iter().filter_map(|(_, at, event)| match event {
        Event::Acquired { valid_until: Some(until), .. } => Some(until.saturating_sub(*at)),
        _ => None,
    });
    certain.min().unwrap()
}

/// Returns the time that must be certain when a permit is handed over. It is two thirds of the ttl
/// if the clock's bound is the default.
fn wanted_certain(config: &SessionConfig, ttl: Micros) -> Micros {
    let full = config.schedule(ttl).lost();
    full - ttl / 16
}

/// Hands a permit over when the place in line has this `age`, and lets it be held for two ttls.
fn hand_over_at(config: &SessionConfig, ttl: Micros, age: Micros, lag: Micros) -> Net {
    let mut net = net(2, age, config, lag);
    let first = net.acquire(0, want(1, 1, MAX_TTL));
    net.run_for(20 * lag);
    let second = net.acquire(1, want(1, 1, ttl));
    net.run_for(20 * lag + age);
    net.release(0, first);
    net.run_for(2 * ttl.min(config.longest_lease));
    assert!(net.holds(1, second), "{ttl} {age}: {:?}", net.told);
    net
}

#[test]
fn a_permit_that_was_waited_for_lasts_whatever_its_ttl_and_the_age_of_its_place() {
    for bound in BOUNDS {
        for cut in CUTS {
            let config = config(bound, cut);
            for ttl in ttls() {
                let (ttl, longest) = (ttl, ttl.min(cut));
                for age in (0..8).map(|age| age * config.waiter_ttl / 24 + 7 * MILLISECOND) {
                    let lag = longest.min(config.waiter_ttl) / 100;
                    let net = hand_over_at(&config, ttl, age, lag);
                    let what = (bound, cut, ttl, age);
                    assert_eq!(alarms(&net), [], "{what:?}");
                    let wanted = wanted_certain(&config, longest) - 2 * lag;
                    assert!(least_certain(&net) + 2 * MILLISECOND >= wanted, "{what:?}");
                }
            }
        }
    }
}

#[test]
fn with_the_default_bound_two_thirds_of_the_ttl_are_certain() {
    for ttl in ttls() {
        let config = SessionConfig::default();
        assert!(wanted_certain(&config, ttl) >= ttl / 3 * 2, "{ttl}");
    }
}

#[test]
fn a_permit_that_joins_others_of_its_client_lasts_as_long_as_the_first() {
    for ttl in ttls() {
        let config = SessionConfig::default();
        let lag = ttl.min(30 * SECOND) / 200;
        let mut net = net(1, ttl, &config, lag);
        for _ in 0..60 {
            net.acquire(0, want(1, 1000, ttl));
            net.run_for(ttl / 17);
        }
        assert_eq!(alarms(&net), [], "{ttl}");
        let wanted = wanted_certain(&config, ttl) - 2 * lag;
        assert!(least_certain(&net) + 2 * MILLISECOND >= wanted, "{ttl}");
    }
}

/// Many clients come and go at a healthy store. Wakeups overtake answers.
#[test]
fn where_nothing_fails_nobody_is_alarmed() {
    for seed in 1..=40 {
        for ttl in [SECOND, 5 * SECOND, 8 * SECOND, 30 * SECOND] {
            let mut net = net(4, seed, &SessionConfig::default(), ttl / 100);
            net.fate.jumble = ttl / 100;
            for _ in 0..150 {
                net.do_something(3, ttl);
                net.check(3);
            }
            assert_eq!(alarms(&net), [], "seed {seed}, ttl {ttl}");
        }
    }
}

#[test]
fn a_store_that_is_silent_right_after_a_hand_over_costs_nothing_but_time() {
    let config = SessionConfig::default();
    for silent in [1, 4, 6, 12].map(|seconds| seconds * SECOND) {
        let mut net = net(2, 7, &config, MILLISECOND);
        let first = net.acquire(0, want(1, 1, 30 * SECOND));
        net.run_for(SECOND);
        let second = net.acquire(1, want(1, 1, 30 * SECOND));
        net.run_for(4_900 * MILLISECOND);
        net.release(0, first);
        net.run_for(MILLISECOND); // the wakeup is under way
        net.fate.lose_requests = 100;
        net.run_for(silent);
        net.fate.lose_requests = 0;
        net.run_for(20 * SECOND);
        assert_eq!(alarms(&net), [], "{silent}");
        assert!(net.holds(1, second), "{silent}");
    }
}

#[test]
fn a_wait_that_is_over_while_a_grant_is_not_proved_is_over() {
    let mut net = net(2, 7, &SessionConfig::default(), MILLISECOND);
    let first = net.acquire(0, want(1, 1, 30 * SECOND));
    net.run_for(SECOND);
    let deadline = Some(net.now + 3 * SECOND);
    let second = net.acquire(1, Want { deadline, ..want(1, 1, 30 * SECOND) });
    net.run_for(SECOND);
    net.release(0, first);
    net.run_for(MILLISECOND);
    net.fate.lose_requests = 100;
    net.run_for(4 * SECOND);
    assert_eq!(alarms(&net).len(), 1);
    assert!(!net.holds(1, second));
    net.fate.lose_requests = 0;
    net.run_for(20 * SECOND);
    assert!(net.sessions[1].is_idle(), "the permit is given back");
}

#[test]
fn requests_as_nobody_without_end_hold_up_no_renewal() {
    for ttl in [SECOND, 30 * SECOND] {
        let mut net = net(1, 7, &SessionConfig::default(), ttl / 100);
        let ticket = net.acquire(0, want(1, 2, ttl));
        net.run_for(ttl / 10);
        let (mut asked, began) = (Vec::new(), net.now);
        while net.now < began + 3 * ttl {
            while asked.len() < net.answered() + 2 {
                asked.push(net.one_off_as_nobody(0));
            }
            net.run_for(ttl / 200);
        }
        assert!(net.answered() > 60, "{} answers", net.answered());
        assert_eq!(alarms(&net), [], "{ttl}");
        assert!(net.holds(0, ticket));
    }
}
