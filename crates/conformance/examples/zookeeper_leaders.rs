//! Kills the leader of a ZooKeeper ensemble under load, again and again, and prints the results.
//!
//! `cargo run -p seinpaal-conformance --example zookeeper_leaders -- [CLIENTS [KILLS]]` prints a
//! table and ends with 1 if a promise was broken.

use std::process::ExitCode;

use seinpaal_conformance::faults::leaders::{LeadersPlan, broken, run, table};

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let plan = LeadersPlan {
        clients: numbers.next().unwrap_or(64),
        kills: numbers.next().unwrap_or(10),
        limit: 4,
        grants_between: 300,
        grants_after: 100,
    };
    let seen = run(&plan);
    let broken = broken(&plan, &seen);
    print!("{}", table(&plan, &seen));
    broken.iter().for_each(|promise| println!("BROKEN: {promise}"));
    ExitCode::from(u8::from(!broken.is_empty()))
}
