//! Our permits and their peers, side by side: see README.md.
//!
//! ```text
//! run                                      everything, about an hour
//! run --only pair --peers seinpaal,rslock  one row, of two of them
//! run --list                               the rows and the peers
//! run --page                               writes the figures into docs/internals/performance.md
//! ```
#![forbid(unsafe_code)]

mod drive;
mod install;
mod page;
mod peer;
mod report;
mod rows;
mod server;
mod times;
mod worker;

use std::{io, path::PathBuf, process::ExitCode};

use report::Report;
use rows::{Bench, Row};

const USAGE: &str =
    "usage: run [--only ROW,ROW] [--peers NAME,NAME] [--json FILE] [--page] [--list]";

/// The command line.
struct Choices {
    rows: Vec<Row>,
    peers: Option<Vec<String>>,
    json: PathBuf,
    is_page: bool,
    is_list: bool,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.split_first() {
        Some((first, rest)) if first == "drive" => drive::run(rest),
        _ => Choices::read(&args).and_then(run),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(choices: Choices) -> io::Result<()> {
    if choices.is_list {
        choices.rows.iter().for_each(|row| println!("{:10} {}", row.name, row.title));
        println!();
        peers().iter().for_each(|peer| println!("{peer}"));
        return Ok(());
    }
    let mut bench = Bench { wanted: choices.peers, report: Report::open(choices.json)? };
    if choices.is_page {
        return page::write(
            &peer::here("../../docs/internals/performance.md"),
            &bench.report.lines,
        );
    }
    choices.rows.iter().try_for_each(|row| bench.measure(row))
}

impl Choices {
    fn read(args: &[String]) -> io::Result<Self> {
        let (rows, json) = (rows::all(), peer::here("../figures.jsonl"));
        let mut choices = Self { rows, peers: None, json, is_page: false, is_list: false };
        let mut args = args.iter();
        while let Some(option) = args.next() {
            let mut value = || args.next().ok_or_else(|| io::Error::other(USAGE));
            match option.as_str() {
                "--only" => keep(&mut choices.rows, value()?, |row| row.name)?,
                "--peers" => {
                    let mut wanted = peers();
                    keep(&mut wanted, value()?, |name| name)?;
                    choices.peers = Some(wanted.into_iter().map(str::to_owned).collect());
                }
                "--json" => choices.json = value()?.into(),
                "--page" => choices.is_page = true,
                "--list" => choices.is_list = true,
                _ => return Err(io::Error::other(USAGE)),
            }
        }
        Ok(choices)
    }
}

/// Everybody's names.
fn peers() -> Vec<&'static str> {
    let mut names: Vec<_> = peer::all().iter().map(|peer| peer.name).collect();
    names
        .extend(rows::queue::PEERS.iter().map(|peer| peer.name).filter(|name| *name != peer::OURS));
    names
}

/// Keeps those that are named; a name of nothing is a mistake.
fn keep<T>(of: &mut Vec<T>, names: &str, name: impl Fn(&T) -> &str) -> io::Result<()> {
    let names: Vec<&str> = names.split(',').collect();
    let unknown = names.iter().find(|wanted| !of.iter().any(|it| name(it) == **wanted));
    if let Some(unknown) = unknown {
        return Err(io::Error::other(format!("there is no {unknown}: see --list")));
    }
    of.retain(|it| names.contains(&name(it)));
    Ok(())
}
