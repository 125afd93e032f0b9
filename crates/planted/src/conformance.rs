//! The conformance suite, over a store with the mistake in it.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt;
use seinpaal_conformance::{
    CASES, Case, EmbeddedHarness, Harness, MemoryHarness, QuorumHarness, RedisHarness, Stage,
    failover::{Fault, Plan, run},
};

use crate::catalogue::Orders;

/// No case takes nearly as long unless it waits for what never comes.
const BOUND: Duration = Duration::from_secs(60);

/// The first case that fails.
pub(crate) async fn first_failed(orders: &Orders) -> Option<String> {
    if orders.store == "failover" {
        return over_admitted();
    }
    std::panic::set_hook(Box::new(|_| {}));
    let is_asked = |case: &&Case| orders.what == "all" || case.name.ends_with(&orders.what);
    for case in CASES.iter().filter(is_asked) {
        if fails(case, orders.store).await {
            return Some(format!("{}: {}", orders.store, case.name.replace("::", ": ")));
        }
    }
    None
}

fn harness(store: &str) -> Box<dyn Harness> {
    match store {
        "memory" => Box::new(MemoryHarness::new()),
        "embedded" => Box::new(EmbeddedHarness::new()),
        "quorum" => Box::new(QuorumHarness::new()),
        _ => Box::new(RedisHarness::new()),
    }
}

async fn fails(case: &Case, store: &str) -> bool {
    let run = async {
        let stage = Stage::of(harness(store));
        if stage.lacks(case.needs).is_none() {
            (case.run)(&stage).await;
        }
    };
    let done = tokio::time::timeout(BOUND, AssertUnwindSafe(run).catch_unwind()).await;
    !matches!(done, Ok(Ok(())))
}

/// The run of `a_grant_that_no_replica_has_is_not_believed_with_replicated`, writ large.
fn over_admitted() -> Option<String> {
    let plan = Plan {
        clients: 16,
        limit: 4,
        kills: 3,
        replicas: 1,
        replicated: Some(1),
        fault: Fault::RushLost,
        seed: 1,
    };
    let report = run(&plan);
    (report.over_admissions > 0)
        .then(|| format!("fail-over: {} over-admissions", report.over_admissions))
}
