//! Makes a server forget everything again and again under the load of many clients, and prints the
//! results.
//!
//! ```text
//! cargo run -p seinpaal-conformance --example restart_guard -- [MISHAPS [CLIENTS [LIMIT [SEED]]]]
//! ```
//!
//! Exits with 1 if more than `LIMIT` permits were believed in at one moment with `restart-guard`.

use std::{env, process::ExitCode};

use seinpaal_conformance::faults::amnesia::{AmnesiaPlan, run};

fn main() -> ExitCode {
    let argument = |at, default| env::args().nth(at).map_or(default, number);
    let (mishaps, clients, limit, seed) =
        (argument(1, 40), argument(2, 32), argument(3, 4), argument(4, 1));
    println!("{mishaps} mishaps, {clients} clients, {limit} permits, ttl 1 s, seed {seed}");
    let mut is_kept = true;
    for option in ["restart-guard=off", "restart-guard=1250ms"] {
        let (mishaps, limit, clients) = (mishaps as u32, limit as u32, clients as usize);
        let report = run(&AmnesiaPlan { clients, limit, mishaps, option: option.into(), seed });
        println!("{option} | {report}");
        is_kept &= option.ends_with("off") || report.tally.over_admissions == 0;
    }
    if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn number(text: String) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("not a number: {text}"))
}
