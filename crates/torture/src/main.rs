//! `cargo run -p torture -- --store KIND …`: see docs/internals/proof/torture.md.
#![forbid(unsafe_code)]

use std::{fs, io, process::ExitCode};

use torture::{
    args, report,
    rig::{self, Plan},
    worker,
};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.split_first() {
        Some((first, orders)) if first == "worker" => be_worker(orders),
        Some((first, args)) if first == "judge" => judge(args),
        Some(_) => torment(&args),
        None => args::refuse("which store?".to_owned()),
    };
    done.unwrap_or_else(|error| {
        eprintln!("torture: {error}");
        if error.kind() == io::ErrorKind::InvalidInput {
            eprintln!("{}", args::USAGE);
        }
        ExitCode::from(2)
    })
}

fn be_worker(orders: &[String]) -> io::Result<ExitCode> {
    let orders = args::orders(orders).or_else(args::refuse)?;
    worker::work(orders).map(|()| ExitCode::SUCCESS)
}

fn torment(args: &[String]) -> io::Result<ExitCode> {
    let plan = args::plan(args).or_else(args::refuse)?;
    println!("store {}, seed {}, history {}", plan.kind, plan.seed, plan.history.display());
    if plan.queue {
        return torment_queue(&plan, args);
    }
    let verdict = rig::run(&plan)?;
    print!("{}", report::report(&plan, &verdict));
    told(&plan, args, verdict.violations.is_empty())
}

/// Judges once more what an earlier run wrote down.
fn judge(args: &[String]) -> io::Result<ExitCode> {
    let plan = args::plan(args).or_else(args::refuse)?;
    let verdict = rig::judge(&plan)?;
    print!("{}", report::report(&plan, &verdict));
    told(&plan, args, verdict.violations.is_empty())
}

fn torment_queue(plan: &Plan, args: &[String]) -> io::Result<ExitCode> {
    let verdict = rig::run_queue(plan)?;
    print!("{}", report::queue(plan, &verdict));
    told(plan, args, verdict.violations.is_empty())
}

fn told(plan: &Plan, args: &[String], is_well: bool) -> io::Result<ExitCode> {
    let is_kept = args.iter().any(|arg| arg == "--history");
    if is_well {
        if !is_kept {
            fs::remove_file(&plan.history)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    println!("a promise was broken: the history is {}", plan.history.display());
    Ok(ExitCode::FAILURE)
}
