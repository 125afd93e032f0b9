//! Our queue and its peers side by side: see README.md.
//!
//! ```text
//! ./run                                     everything, some minutes
//! ./run --items 2000 --peers seinpaal,rq    less
//! ```
#![forbid(unsafe_code)]

mod drive;
mod measure;
mod peer;
mod server;
mod table;

use std::{io, process::ExitCode};

use peer::Peer;

/// The number of items that are pushed and drained, unless `--items` is given.
const ITEMS: u64 = 5_000;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.split_first() {
        Some((first, rest)) if first == "drive" => drive::run(rest),
        _ => run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("queues: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> io::Result<()> {
    let (mut items, mut wanted) = (ITEMS, None);
    for pair in args.chunks(2) {
        match pair {
            [option, value] if option == "--items" => items = number(value)?,
            [option, value] if option == "--peers" => wanted = Some(value.clone()),
            _ => return Err(io::Error::other("usage: run [--items N] [--peers NAME,NAME]")),
        }
    }
    let is_wanted = |peer: &&Peer| {
        wanted.as_ref().is_none_or(|wanted| wanted.split(',').any(|name| name == peer.name))
    };
    table::head(items)?;
    for peer in peer::all()?.iter().filter(is_wanted) {
        table::row(peer.shown, &measure::all(peer, items)?);
    }
    table::foot()
}

fn number(text: &str) -> io::Result<u64> {
    text.parse().map_err(|_| io::Error::other(format!("not a number: {text}")))
}
