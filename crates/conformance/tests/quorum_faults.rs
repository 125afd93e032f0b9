//! A short run of `examples/quorum_faults.rs`: one node of three stopped, paused, restarted empty
//! in turn.

use std::time::Duration;

use seinpaal_conformance::faults::quorum::{QuorumPlan, run};

#[test]
#[ignore = "a load of many seconds; nightly runs it, and the example of the same name for longer"]
fn under_faults_of_one_node_at_a_time_no_more_than_the_limit_hold_and_all_goes_on() {
    let plan = QuorumPlan {
        clients: 8,
        ttl: Duration::from_millis(800),
        guard: Some(Duration::from_millis(1000)),
        phase: Duration::from_millis(1500),
        rounds: 1,
        seed: 7,
    };
    let report = run(&plan);
    println!("{report}");
    assert_eq!(report.tally.over_admissions, 0, "{report}");
    // Each phase in which a majority answers has waited for more grants than this, so the speed of
    // the machine does not matter.
    let mut going_on = report.phases.iter().filter(|row| row.must_go_on);
    assert!(going_on.all(|row| row.grants > plan.clients as u64), "{report}");
}
