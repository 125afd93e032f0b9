//! The one schedule of leases: renewal, two repetitions, danger, TERM, KILL and loss come in this
//! order, at the times that the documents state.

use alloc::{string::String, vec::Vec};
use std::format;

use super::alarms::{BOUNDS, CUTS, config, ttls};
use crate::{
    session::{LeaseSchedule, SessionConfig},
    time::{DEFAULT_TTL, MILLISECOND, Micros, SECOND},
};

/// The time that the program leaves CMD between TERM and KILL by default.
const KILL_AFTER: Micros = 5 * SECOND;

fn term(schedule: &LeaseSchedule, kill_after: Micros) -> Micros {
    kill(schedule) - kill_after.min(schedule.most_grace())
}

fn kill(schedule: &LeaseSchedule) -> Micros {
    schedule.lost() - schedule.slack()
}

fn all_schedules() -> impl Iterator<Item = (Micros, LeaseSchedule)> {
    BOUNDS.into_iter().flat_map(|bound| {
        CUTS.into_iter().flat_map(move |cut| {
            let config = config(bound, cut);
            ttls().into_iter().map(move |ttl| (ttl.min(cut), config.schedule(ttl)))
        })
    })
}

#[test]
fn the_first_renewal_and_two_repetitions_of_it_fit_before_danger() {
    for (ttl, schedule) in all_schedules() {
        assert!(schedule.renew() >= ttl / 9, "{ttl}: not too often");
        assert!(schedule.repeat() > ttl / 30, "{ttl}: there is time for an answer");
        assert!(schedule.renew() + 3 * schedule.repeat() <= schedule.danger(), "{ttl}");
    }
}

#[test]
fn what_stops_a_process_comes_after_danger_and_ends_before_the_lease() {
    for (ttl, schedule) in all_schedules() {
        for kill_after in [0, SECOND, KILL_AFTER, 3600 * SECOND] {
            let term = term(&schedule, kill_after);
            assert!(schedule.danger() + ttl / 30 < term, "{ttl} {kill_after}");
            assert!(term <= kill(&schedule) && kill(&schedule) < schedule.lost(), "{ttl}");
            assert!(schedule.lost() < ttl, "{ttl}");
        }
    }
}

#[test]
fn a_store_may_be_silent_for_half_of_the_default_ttl_at_any_time() {
    let outage = |ttl| SessionConfig::default().schedule(ttl).outage();
    assert!(outage(DEFAULT_TTL) > 15 * SECOND);
    for ttl in ttls() {
        assert!(outage(ttl) >= ttl / 4, "{ttl}");
    }
}

/// Returns a table of the documents, computed from the code.
fn table() -> String {
    let minute = 60 * SECOND;
    let ttls = [
        SECOND / 10,
        5 * SECOND,
        20 * SECOND,
        30 * SECOND,
        2 * minute,
        60 * minute,
        24 * 60 * minute,
    ];
    let mut lines = String::new();
    for ttl in ttls {
        let schedule = SessionConfig::default().schedule(ttl);
        let (renew, repeat) = (schedule.renew(), schedule.repeat());
        let times = [
            ttl,
            renew,
            repeat,
            schedule.danger(),
            term(&schedule, KILL_AFTER),
            kill(&schedule),
            schedule.lost(),
            schedule.outage(),
        ];
        let cells: Vec<String> = times.into_iter().map(text).collect();
        lines += &format!("| {} |\n", cells.join(" | "));
    }
    lines
}

/// Writes a time as people do.
fn text(time: Micros) -> String {
    let seconds = time as f64 / SECOND as f64;
    match time {
        _ if time < SECOND => format!("{:.1} ms", time as f64 / MILLISECOND as f64),
        _ if time < 100 * SECOND => format!("{seconds:.2} s"),
        _ if time < 7200 * SECOND => format!("{:.2} min", seconds / 60.0),
        _ => format!("{:.2} h", seconds / 3600.0),
    }
}

#[test]
fn the_documents_have_the_times_of_the_code() {
    let document = include_str!("../../../../../docs/internals/protocol.md");
    let table = table();
    assert!(document.contains(&table), "put this into docs/internals/protocol.md:\n{table}");
}
