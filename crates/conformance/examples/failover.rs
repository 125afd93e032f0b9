//! Kills master after master under the load of many clients, and prints the results.
//!
//! ```text
//! cargo run -p seinpaal-conformance --example failover -- [KILLS [CLIENTS [LIMIT [SEED [FAULT]]]]]
//! ```
//!
//! FAULT picks the faults whose names contain this word, such as `rush`. Without FAULT all faults
//! take their turn. Exits with 1 if more than `LIMIT` permits were believed in at one moment with
//! `replicated=2`, the number of replicas. A smaller number makes a breach unlikely, but cannot
//! exclude it.

use std::{env, process::ExitCode};

use seinpaal_conformance::faults::failover::{FailoverPlan, MasterFault, run};

const REPLICAS: usize = 2;

fn main() -> ExitCode {
    let argument = |at, default| env::args().nth(at).map_or(default, number);
    let plan = FailoverPlan {
        kills: argument(1, 20),
        clients: argument(2, 64) as usize,
        limit: argument(3, 16),
        seed: argument(4, 1).into(),
        replicas: REPLICAS,
        replicated: None,
        fault: MasterFault::Killed,
    };
    let FailoverPlan { kills, clients, limit, seed, .. } = plan;
    println!("{kills} kills, {clients} clients, {limit} permits, {REPLICAS} replicas, seed {seed}");
    let mut is_kept = true;
    let faults = [
        ("killed", MasterFault::Killed),
        ("killed, last writes lost", MasterFault::LastWritesLost),
        ("killed in a rush, last writes lost", MasterFault::RushLost),
    ];
    let wanted = env::args().nth(5).unwrap_or_default();
    for (shown, fault) in faults.into_iter().filter(|(shown, _)| shown.contains(&wanted)) {
        for replicated in [None, Some(1), Some(2)] {
            let report = run(&FailoverPlan { replicated, fault, ..plan.clone() });
            let option = replicated.map_or_else(|| "no".to_owned(), |n| n.to_string());
            println!("{shown} | replicated {option} | {report}");
            is_kept &= replicated != Some(2) || report.tally.over_admissions == 0;
        }
    }
    if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn number(text: String) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("not a number: {text}"))
}
