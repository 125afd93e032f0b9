//! The torture rig, for seconds, with the mistake in its workers.

use std::{env, fs, time::Duration};

use torture::{args, rig, rig::Plan};

use crate::catalogue::Orders;

const SECONDS: u64 = 15;

/// The first promise that is broken.
///
/// # Panics
/// If the rig does not work.
pub(crate) fn first_violation(orders: &Orders) -> Option<String> {
    let seconds = format!("{}", SECONDS as f64 / 60.0);
    let words =
        ["--store", orders.store, "--faults", &orders.what, "--minutes", &seconds, "--seed", "3"];
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let plan = args::plan(&words).unwrap_or_else(|why| panic!("{why}"));
    let plan = Plan { program: env::current_exe().unwrap_or_else(|why| panic!("{why}")), ..plan };
    let verdict = rig::run(&plan).unwrap_or_else(|why| panic!("{why}"));
    let _ = fs::remove_file(&plan.history);
    let violations = verdict.violations;
    let first = violations.first()?;
    let _ = Duration::ZERO;
    Some(format!("{:?} ({} violations)", first.check, violations.len()))
}
