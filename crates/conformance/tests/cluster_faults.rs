//! A cluster under load: slots that move, and masters that die. The example `cluster_faults` is the
//! long run.

use seinpaal_conformance::faults::cluster::{ClusterPlan, run};

#[test]
fn slots_move_under_load_and_nobody_holds_too_much() {
    let plan = ClusterPlan { clients: 12, limit: 1, kills: 0, moves: 1, options: "", seed: 3 };
    let report = run(&plan);
    println!("{report}");
    assert_eq!((report.tally.over_admissions, report.tally.errors), (0, 0), "{report}");
    assert_eq!(report.recoveries.len(), plan.clients - 1, "all but the patient one");
}

#[test]
fn masters_die_under_load_and_nobody_holds_too_much_with_replicated() {
    let options = "?replicated=1";
    let plan = ClusterPlan { clients: 12, limit: 1, kills: 2, moves: 0, options, seed: 4 };
    let report = run(&plan);
    println!("{report}");
    assert_eq!(report.tally.over_admissions, 0, "{report}");
    assert!(report.recoveries.len() >= 2 * 3 && report.promotions.len() == 2, "{report}");
}
