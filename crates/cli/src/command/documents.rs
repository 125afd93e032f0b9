//! `completions` and `man`: made from the same texts as `--help`.

use std::{fs, path::Path};

use clap::{Command, CommandFactory};
use clap_mangen::Man as Page;

use crate::{
    args::{Arguments, CompletionsArgs, ManArgs},
    exit::{Exit, Failure},
    output,
};

/// Prints a completion script.
pub(super) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "seinpaal", &mut script);
    print(script)
}

/// Prints a manual page, or writes all of them.
pub(super) fn man(args: &ManArgs) -> Result<Exit, Failure> {
    let mut command = Arguments::command();
    command.build();
    if let Some(folder) = &args.to {
        return write_all(&command, folder).map(|()| Exit::Success);
    }
    for name in &args.command {
        let found = command.find_subcommand(name).cloned();
        command = found.ok_or_else(|| Failure::usage(format!("no such command: {name:?}")))?;
    }
    print(page(command)?)
}

fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Page::new(command)
        .render(&mut page)
        .map_err(|error| Failure::internal(format!("cannot make the page: {error}")))?;
    Ok(page)
}

/// The page of this command, and of all commands below it.
fn write_all(command: &Command, folder: &Path) -> Result<(), Failure> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = folder.join(format!("{name}.1"));
    let cannot = |error| Failure::usage(format!("cannot write {}: {error}", path.display()));
    fs::write(&path, page(command.clone())?).map_err(cannot)?;
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    below.into_iter().try_for_each(|below| write_all(below, folder))
}

fn print(document: Vec<u8>) -> Result<Exit, Failure> {
    output::print(&String::from_utf8_lossy(&document)).map(|()| Exit::Success)
}
