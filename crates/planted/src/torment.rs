//! A run of the torture rig for some seconds, with the mistake in its workers.

use std::{env, fs};

use torture::{args, rig, rig::TorturePlan};

use crate::catalogue::SuiteRun;

const MINUTES: &str = "0.25";
const SEED: &str = "3";

/// The first promise that the run breaks.
///
/// # Panics
/// If the rig does not accept the arguments.
pub(crate) fn first_violation(orders: &SuiteRun) -> Option<String> {
    let words = [
        "--store",
        orders.store.trim_start_matches("queue-"),
        "--faults",
        &orders.what,
        "--minutes",
        MINUTES,
        "--calm",
        MINUTES,
        "--seed",
        SEED,
    ];
    let kind = orders.store.starts_with("queue-").then_some("--queue");
    let words: Vec<String> = kind.iter().chain(&words).map(ToString::to_string).collect();
    let plan = args::plan(&words).unwrap_or_else(|why| panic!("{why}"));
    let plan =
        TorturePlan { program: env::current_exe().unwrap_or_else(|why| panic!("{why}")), ..plan };
    let judged = match plan.queue {
        true => rig::run_queue(&plan).map(|verdict| verdict.violations),
        false => rig::run(&plan).map(|verdict| verdict.violations),
    };
    let _ = fs::remove_file(&plan.history);
    // Without a mistake the run goes on to its end, so an error counts as a finding.
    let Ok(violations) = judged.map_err(|why| eprintln!("{why}")) else {
        return Some("the store answers nobody at the end".to_owned());
    };
    let first = violations.first()?;
    Some(format!("{:?} ({} violations)", first.check, violations.len()))
}
