//! Kills master after master under the load of many clients, and prints what came of it.
//!
//! ```text
//! cargo run -p seinpaal-conformance --example failover -- [KILLS [CLIENTS [LIMIT [SEED]]]]
//! ```
//!
//! Exits with 1 if more than `LIMIT` permits were believed in at one moment with `replicated=2`, which is as
//! many as there are replicas. With fewer that is likely, and not certain.

use std::{env, process::ExitCode};

use seinpaal_conformance::failover::{Plan, run};

const REPLICAS: usize = 2;

fn main() -> ExitCode {
    let argument = |at, default| env::args().nth(at).map_or(default, number);
    let plan = Plan {
        kills: argument(1, 20),
        clients: argument(2, 64) as usize,
        limit: argument(3, 16),
        seed: argument(4, 1).into(),
        replicas: REPLICAS,
        replicated: None,
        loses_writes: false,
    };
    let Plan { kills, clients, limit, seed, .. } = plan;
    println!("{kills} kills, {clients} clients, {limit} permits, {REPLICAS} replicas, seed {seed}");
    let mut is_kept = true;
    for (fault, loses_writes) in [("killed", false), ("killed and last writes lost", true)] {
        for replicated in [None, Some(1), Some(2)] {
            let report = run(&Plan { replicated, loses_writes, ..plan.clone() });
            let option = replicated.map_or_else(|| "no".to_owned(), |n| n.to_string());
            println!("{fault} | replicated {option} | {report}");
            is_kept &= replicated != Some(2) || report.over_admissions == 0;
        }
    }
    if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn number(text: String) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("not a number: {text}"))
}
