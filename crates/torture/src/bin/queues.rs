//! `cargo run -p torture --bin queues -- --store KIND …`: see docs/internals/proof/torture.md.
#![forbid(unsafe_code)]

use std::{fs, io, process::ExitCode};

use torture::queues::{args, check, report, rig, worker};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.split_first() {
        Some((first, orders)) if first == "worker" => be_worker(orders),
        _ => torment(&args),
    };
    done.unwrap_or_else(|error| {
        eprintln!("queues: {error}");
        if error.kind() == io::ErrorKind::InvalidInput {
            eprintln!("{}", args::USAGE);
        }
        ExitCode::from(2)
    })
}

fn be_worker(orders: &[String]) -> io::Result<ExitCode> {
    let orders = args::orders(orders).or_else(torture::args::refuse)?;
    worker::work(orders).map(|()| ExitCode::SUCCESS)
}

fn torment(args: &[String]) -> io::Result<ExitCode> {
    let plan = args::plan(args).or_else(torture::args::refuse)?;
    println!("{plan}, history {}", plan.history.display());
    rig::run(&plan)?;
    let verdict = check::check(&torture::history::read(&plan.history)?, plan.rules());
    print!("{}", report::report(&verdict));
    if !verdict.violations.is_empty() {
        println!("a promise was broken: the history is {}", plan.history.display());
        return Ok(ExitCode::FAILURE);
    }
    if !args.iter().any(|arg| arg == "--history") {
        fs::remove_file(&plan.history)?;
    }
    Ok(ExitCode::SUCCESS)
}
