//! Kills masters of a cluster and moves hash slots in use under the load of many clients, and prints the
//! results.
//!
//! ```text
//! cargo run -p seinpaal-conformance --example cluster_faults -- \
//!     [KILLS [CLIENTS [LIMIT [MOVES [SEED]]]]]
//! ```
//!
//! Exits with 1 if a promise was broken: moving hash slots admits nobody too many, and neither does a
//! fail-over with `replicated=1`, which is all the replicas that a master has here.

use std::{env, process::ExitCode};

use seinpaal_conformance::faults::cluster::{ClusterPlan, run};

fn main() -> ExitCode {
    let argument = |at, default| env::args().nth(at).map_or(default, number);
    let (kills, clients, limit) = (argument(1, 20), argument(2, 64), argument(3, 4));
    let (moves, seed) = (argument(4, 3), argument(5, 1));
    println!("{clients} clients, 6 names with {limit} permits each, seed {seed}");
    let plan = |kills: u64, moves: u64, options| {
        let (clients, limit) = (clients as usize, limit as u32);
        ClusterPlan { clients, limit, kills: kills as u32, moves: moves as u32, options, seed }
    };
    let moved = run(&plan(0, moves, ""));
    println!("every slot moved {moves} times | {moved}");
    println!("{kills} masters killed | {}", run(&plan(kills, 0, "")));
    let replicated = run(&plan(kills, 0, "?replicated=1"));
    println!("{kills} masters killed, replicated=1 | {replicated}");
    if moved.tally.over_admissions + replicated.tally.over_admissions == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn number(text: String) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("not a number: {text}"))
}
