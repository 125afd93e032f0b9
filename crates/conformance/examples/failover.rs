//! Kills master after master under the load of many clients, and prints what came of it.
//!
//! ```text
//! cargo run -p seinpaal-conformance --example failover -- [KILLS [CLIENTS [LIMIT [SEED]]]]
//! ```
//!
//! Exits with 1 if more than `LIMIT` permits were believed in at one moment with `replicated`.

use std::{env, process::ExitCode};

use seinpaal_conformance::failover::{Plan, run};

const REPLICAS: usize = 2;

fn main() -> ExitCode {
    let argument = |at, default| env::args().nth(at).map_or(default, number);
    let (kills, clients, limit, seed) =
        (argument(1, 20), argument(2, 64), argument(3, 8), argument(4, 1));
    println!("{kills} kills, {clients} clients, {limit} permits, {REPLICAS} replicas, seed {seed}");
    let mut is_kept = true;
    for replicated in [None, Some(1), Some(2)] {
        let (kills, limit) = (kills as u32, limit as u32);
        let clients = clients as usize;
        let report = run(&Plan { clients, limit, kills, replicas: REPLICAS, replicated, seed });
        let option = replicated.map_or_else(|| "none".to_owned(), |n| n.to_string());
        println!("replicated {option} | {report}");
        is_kept &= replicated.is_none() || report.over_admissions == 0;
    }
    if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn number(text: String) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("not a number: {text}"))
}
