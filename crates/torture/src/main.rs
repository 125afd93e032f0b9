//! `cargo run -p torture -- --store KIND …`: see docs/internals/tests/torture.md.
#![forbid(unsafe_code)]

use std::{fs, io, path::Path, process::ExitCode};

use torture::{
    args, history, items,
    queue::check::QueueVerdict,
    report,
    rig::{self, TorturePlan},
    worker,
};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let first = args.first().map_or("", String::as_str);
    let done = match first {
        "worker" => be_worker(&args[1..]),
        "item-worker" => be_item_worker(&args[1..]),
        "judge" => judge(&args[1..]),
        "items" => load_with_items(&args[1..]),
        "" => args::refuse("which store?".to_owned()),
        _ => torment(&args),
    };
    done.unwrap_or_else(|error| {
        eprintln!("torture: {error}");
        if error.kind() == io::ErrorKind::InvalidInput {
            eprintln!("{}", if first == "items" { items::args::USAGE } else { args::USAGE });
        }
        ExitCode::from(2)
    })
}

fn be_worker(orders: &[String]) -> io::Result<ExitCode> {
    let orders = args::orders(orders).or_else(args::refuse)?;
    worker::work(orders).map(|()| ExitCode::SUCCESS)
}

fn be_item_worker(orders: &[String]) -> io::Result<ExitCode> {
    let orders = items::args::orders(orders).or_else(args::refuse)?;
    items::worker::work(orders).map(|()| ExitCode::SUCCESS)
}

fn load_with_items(args: &[String]) -> io::Result<ExitCode> {
    let plan = items::args::plan(args).or_else(args::refuse)?;
    println!("{plan}, history {}", plan.history.display());
    items::rig::run(&plan)?;
    let verdict = items::check::check(&history::read(&plan.history)?, plan.rules());
    print!("{}", items::report::report(&verdict));
    told(&plan.history, args, verdict.is_well())
}

fn torment(args: &[String]) -> io::Result<ExitCode> {
    let plan = args::plan(args).or_else(args::refuse)?;
    println!("store {}, seed {}, history {}", plan.kind, plan.seed, plan.history.display());
    if plan.queue {
        return torment_queue(&plan, args);
    }
    let verdict = rig::run(&plan)?;
    print!("{}", report::report(&plan, &verdict));
    told(&plan.history, args, verdict.is_well())
}

/// Judges the history of an earlier run again.
fn judge(args: &[String]) -> io::Result<ExitCode> {
    let plan = args::plan(args).or_else(args::refuse)?;
    if plan.queue {
        return told_of_queue(&plan, args, &rig::judge_queue(&plan)?);
    }
    let verdict = rig::judge(&plan)?;
    print!("{}", report::report(&plan, &verdict));
    told(&plan.history, args, verdict.is_well())
}

fn torment_queue(plan: &TorturePlan, args: &[String]) -> io::Result<ExitCode> {
    told_of_queue(plan, args, &rig::run_queue(plan)?)
}

fn told_of_queue(
    plan: &TorturePlan,
    args: &[String],
    verdict: &QueueVerdict,
) -> io::Result<ExitCode> {
    print!("{}", report::queue(plan, verdict));
    told(&plan.history, args, verdict.is_well())
}

/// Removes the history of a run that broke no promise, unless the command line names a file for it.
fn told(history: &Path, args: &[String], is_well: bool) -> io::Result<ExitCode> {
    let is_kept = args.iter().any(|arg| arg == "--history");
    if is_well {
        if !is_kept {
            fs::remove_file(history)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    println!("a promise was broken, or nothing was done: the history is {}", history.display());
    Ok(ExitCode::FAILURE)
}
