//! Kills the leader of a ZooKeeper ensemble under load, again and again, and says what came of it.
//!
//! `cargo run -p seinpaal-conformance --example zookeeper_leaders -- [CLIENTS [KILLS]]` prints a table and
//! ends with 1 if a promise was broken.

mod load;
mod verdict;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let plan = load::Plan {
        clients: numbers.next().unwrap_or(64),
        kills: numbers.next().unwrap_or(10),
        limit: 4,
        grants_between: 300,
        grants_after: 100,
    };
    let seen = load::run(&plan);
    let broken = verdict::broken(&plan, &seen);
    print!("{}", verdict::table(&plan, &seen));
    broken.iter().for_each(|promise| println!("BROKEN: {promise}"));
    ExitCode::from(u8::from(!broken.is_empty()))
}
