//! Puts mistakes into Seinpaal, one at a time, and tells which check finds which:
//! docs/internals/proof/planted.md.
//!
//! ```text
//!   planted all | quick | none | NAME… ──▶ itself, a process a mistake and check ──▶ a verdict
//! ```
#![forbid(unsafe_code)]

mod catalogue;
mod child;
mod choice;
mod conformance;
#[path = "../../seinpaal/tests/redis_differential.rs"]
#[allow(dead_code, unused_imports, reason = "its tests are not here")]
mod differential;
mod models;
#[path = "../../seinpaal/tests/queue_differential.rs"]
#[allow(dead_code, unused_imports, clippy::duplicate_mod, reason = "its tests are not here")]
mod queue_differential;
mod table;
mod torment;

use std::{env, io, process::ExitCode};

use seinpaal_proto::planted::Mistake;

use crate::{
    catalogue::{Suite, SuiteRun},
    child::ChildVerdict,
    choice::choose_from_environment,
};

const USAGE: &str = "usage: planted all | quick | none | NAME…
  all    every mistake under every check, and the same checks without one: some minutes
  quick  every mistake under one check that finds it: a minute
  none   every check without a mistake
  NAME   a mistake, under every check";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["worker", orders @ ..] => be_worker(orders),
        ["check", orders @ ..] => be_check(orders),
        ["all"] => table::all(Mistake::ALL, true),
        ["none"] => table::all(&[], true),
        ["quick"] => table::quick(),
        names => some(names),
    }
}

fn some(names: &[&str]) -> ExitCode {
    let mistake =
        |name: &&str| Mistake::ALL.iter().copied().find(|mistake| mistake.name() == *name);
    match names.iter().map(mistake).collect::<Option<Vec<Mistake>>>() {
        Some(mistakes) if !mistakes.is_empty() => table::all(&mistakes, false),
        _ => {
            let known: Vec<&str> = Mistake::ALL.iter().map(|mistake| mistake.name()).collect();
            eprintln!("{USAGE}\nknown are: {}", known.join(", "));
            ExitCode::from(2)
        }
    }
}

/// Runs as a worker of the torture rig.
fn be_worker(orders: &[&str]) -> ExitCode {
    choose_from_environment();
    let orders: Vec<String> = orders.iter().map(ToString::to_string).collect();
    let done =
        torture::args::orders(&orders).map_err(io::Error::other).and_then(torture::worker::work);
    done.map_or_else(
        |error| {
            eprintln!("planted: {error}");
            ExitCode::from(2)
        },
        |()| ExitCode::SUCCESS,
    )
}

/// Runs one check in this process, with the mistake that the environment names.
fn be_check(orders: &[&str]) -> ExitCode {
    choose_from_environment();
    let Some(orders) = SuiteRun::parse(orders) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let found = match orders.check {
        Suite::Models => models::first_broken(&orders.what),
        Suite::Differential if orders.what == "queues" => {
            block_on(queue_differential::differs(100))
        }
        Suite::Differential => block_on(differential::differs(100)),
        Suite::Conformance => block_on(conformance::first_failed(&orders)),
        Suite::Torture => torment::first_violation(&orders),
    };
    ChildVerdict::tell(found)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap_or_else(|error| panic!("no runtime: {error}")).block_on(future)
}
