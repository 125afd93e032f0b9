//! The torture rig, for seconds, with the mistake in its workers.

use std::{env, fs};

use torture::{args, rig, rig::Plan};

use crate::catalogue::Orders;

const MINUTES: &str = "0.25";
const SEED: &str = "3";

/// The first promise that is broken.
///
/// # Panics
/// If the rig does not know what it is told to do.
pub(crate) fn first_violation(orders: &Orders) -> Option<String> {
    let words = [
        "--store",
        orders.store,
        "--faults",
        &orders.what,
        "--minutes",
        MINUTES,
        "--calm",
        MINUTES,
        "--seed",
        SEED,
    ];
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let plan = args::plan(&words).unwrap_or_else(|why| panic!("{why}"));
    let plan = Plan { program: env::current_exe().unwrap_or_else(|why| panic!("{why}")), ..plan };
    let judged = rig::run(&plan);
    let _ = fs::remove_file(&plan.history);
    // Without a mistake the same run goes on to its end.
    let Ok(verdict) = judged.map_err(|why| eprintln!("{why}")) else {
        return Some("the store answers nobody at the end".to_owned());
    };
    let first = verdict.violations.first()?;
    Some(format!("{:?} ({} violations)", first.check, verdict.violations.len()))
}
