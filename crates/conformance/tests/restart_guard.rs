//! A short run with a server that forgets under load. The example of the same name is the long run.

use seinpaal_conformance::faults::amnesia::{AmnesiaPlan, AmnesiaReport, run};

/// The number of runs. In a single run without the guard it may happen that no client is admitted
/// while the limit is reached.
const RUNS: u64 = 5;

fn run_with(option: &str, seed: u64) -> AmnesiaReport {
    run(&AmnesiaPlan { clients: 12, limit: 3, mishaps: 6, option: option.into(), seed })
}

#[test]
#[ignore = "a load of many seconds; nightly runs it, and the example of the same name for longer"]
fn with_the_restart_guard_no_more_than_the_limit_hold_however_often_the_server_forgets() {
    let report = run_with("restart-guard=1250ms", 7);
    assert_eq!(report.tally.over_admissions, 0, "{report}");
    assert!(report.tally.lost > 0 && report.pauses.len() == 6, "nothing was forgotten: {report}");
}

#[test]
#[ignore = "a load of many seconds; nightly runs it, and the example of the same name for longer"]
fn without_the_restart_guard_more_than_the_limit_hold_when_the_server_forgets() {
    let mut reports = (7..7 + RUNS).map(|seed| run_with("restart-guard=off", seed));
    assert!(reports.any(|report| report.tally.over_admissions > 0), "in none of {RUNS} runs");
}
