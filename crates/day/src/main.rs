//! `cargo run -p day -- …`: see docs/internals/tests/day.md.
#![forbid(unsafe_code)]

use std::{fs, io, path::Path, process::ExitCode};

use day::{
    args::{self, DayArguments, refuse},
    cmd,
    judge::{self, DayVerdict},
    program, report, rig, runs, service,
    world::DayWorld,
};
use torture::history;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.split_first() {
        Some((first, rest)) => match first.as_str() {
            "hold" => cmd::hold(rest).map(status),
            "item" => cmd::item().map(status),
            "once" => cmd::once(rest).map(status),
            "program" => program::main(rest).map(status),
            "service" => serve(rest),
            "judge" => judge_again(rest),
            "runs" => live(rest, |said| runs::run(&said.plan, said.runs, said.limit)),
            _ => live(&args, |said| rig::run(&said.plan)),
        },
        None => live(&args, |said| rig::run(&said.plan)),
    };
    done.unwrap_or_else(|error| {
        eprintln!("day: {error}");
        if error.kind() == io::ErrorKind::InvalidInput {
            eprintln!("{}", args::USAGE);
        }
        ExitCode::from(2)
    })
}

fn status(status: i32) -> ExitCode {
    ExitCode::from(u8::try_from(status).unwrap_or(u8::MAX))
}

/// `day judge DIR`: judges a history that was kept.
fn judge_again(args: &[String]) -> io::Result<ExitCode> {
    let [scratch] = args else { return refuse("day judge DIR".to_owned()) };
    let events = history::read(&DayWorld::history(Path::new(scratch)))?;
    let verdict = judge::judge(&events, &[]);
    print!("{}", report::report(&verdict));
    Ok(if verdict.is_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn serve(args: &[String]) -> io::Result<ExitCode> {
    let said = args::read(args).or_else(refuse)?;
    println!("seed {}, {}", said.plan.seed, said.plan.scratch.display());
    let verdicts = service::run(&said.plan, &said.service)?;
    for (store, verdict) in &verdicts {
        print!("{store}\n{verdict}");
    }
    let is_well = verdicts.iter().all(|(_, verdict)| verdict.is_well());
    if is_well && !said.is_kept {
        fs::remove_dir_all(&said.plan.scratch)?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn live(
    args: &[String],
    run: impl Fn(&DayArguments) -> io::Result<DayVerdict>,
) -> io::Result<ExitCode> {
    let said = args::read(args).or_else(refuse)?;
    let scratch = &said.plan.scratch;
    println!("seed {}, {}", said.plan.seed, scratch.display());
    let verdict = run(&said)?;
    print!("{}", report::report(&verdict));
    if !verdict.is_well() {
        println!(
            "something was broken, or nothing was done: the history and all output are in {}",
            scratch.display()
        );
        return Ok(ExitCode::FAILURE);
    }
    if !said.is_kept {
        fs::remove_dir_all(scratch)?;
    }
    Ok(ExitCode::SUCCESS)
}
