//! A cluster under load: slots that move, and masters that die. The example `cluster_faults` is the
//! long run.

use std::time::Duration;

use seinpaal_conformance::faults::cluster::{ClusterPlan, run};

/// How soon a client has its next permit after a fault. A cluster fails over within seconds.
const SOON: Duration = Duration::from_secs(30);

#[test]
#[ignore = "a load of many seconds; nightly runs it, and the example of the same name for longer"]
fn slots_move_under_load_and_nobody_holds_too_much() {
    let plan = ClusterPlan { clients: 12, limit: 1, kills: 0, moves: 1, options: "", seed: 3 };
    let report = run(&plan);
    println!("{report}");
    let tally = report.tally;
    assert_eq!((tally.over_admissions, tally.errors, tally.lost), (0, 0, 0), "{report}");
    assert!(report.recoveries.quantile(1.0) < SOON, "{report}");
}

#[test]
#[ignore = "a load of many seconds; nightly runs it, and the example of the same name for longer"]
fn masters_die_under_load_and_nobody_holds_too_much_with_replicated() {
    let options = "?replicated=1";
    let plan = ClusterPlan { clients: 12, limit: 1, kills: 2, moves: 0, options, seed: 4 };
    let report = run(&plan);
    println!("{report}");
    assert_eq!(report.tally.over_admissions, 0, "{report}");
    assert!(report.recoveries.quantile(1.0) < SOON, "{report}");
}
