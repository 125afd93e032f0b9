//! A short run of the example that kills leaders. The example prints figures for people, and this
//! test checks its verdict.

use seinpaal_conformance::faults::leaders::{LeadersPlan, broken, run, table};

#[test]
#[ignore = "a load of many seconds; nightly runs it, and the example of the same name for longer"]
fn killing_the_leader_breaks_no_promise() {
    let plan =
        LeadersPlan { clients: 12, kills: 2, limit: 3, grants_between: 60, grants_after: 40 };
    let seen = run(&plan);
    println!("{}", table(&plan, &seen));
    assert_eq!(broken(&plan, &seen), [""; 0]);
}
