//! `completions` and `man`: made from the same texts as `--help`.

use clap::CommandFactory;
use clap_mangen::Man as Page;

use crate::{
    args::{Arguments, Completions, Man},
    exit::{Exit, Failure},
    output,
};

/// Prints a completion script.
pub(super) fn completions(args: &Completions) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "seinpaal", &mut script);
    print(script)
}

/// Prints a manual page.
pub(super) fn man(args: &Man) -> Result<Exit, Failure> {
    let mut command = Arguments::command();
    command.build();
    for name in &args.command {
        let found = command.find_subcommand(name).cloned();
        command = found.ok_or_else(|| Failure::usage(format!("no such command: {name:?}")))?;
    }
    let mut page = Vec::new();
    Page::new(command)
        .render(&mut page)
        .map_err(|error| Failure::internal(format!("cannot write the page: {error}")))?;
    print(page)
}

fn print(document: Vec<u8>) -> Result<Exit, Failure> {
    output::print(&String::from_utf8_lossy(&document)).map(|()| Exit::Success)
}
