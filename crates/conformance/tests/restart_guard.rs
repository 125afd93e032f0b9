//! A short fault run: a server that forgets under load. A long one is the example of the same name.

use seinpaal_conformance::amnesia::{Plan, Report, run};

fn run_with(option: &str) -> Report {
    run(&Plan { clients: 12, limit: 3, mishaps: 6, option: option.into(), seed: 7 })
}

#[test]
fn with_the_restart_guard_no_more_than_the_limit_hold_however_often_the_server_forgets() {
    let report = run_with("restart-guard=1250ms");
    assert_eq!(report.over_admissions, 0, "{report}");
    assert!(report.lost > 0 && report.pauses.len() == 6, "nothing was forgotten: {report}");
}

#[test]
fn without_the_restart_guard_more_than_the_limit_hold_when_the_server_forgets() {
    let report = run_with("restart-guard=off");
    assert!(report.over_admissions > 0, "{report}");
}
