//! `completions` and `man`. They use the same texts as `--help`.

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
    // This gives the subcommands the global flags, and the names of their pages.
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
    Ok(in_sections(&String::from_utf8_lossy(&page)).into_bytes())
}

/// The section into which `clap_mangen` puts the text after the options.
const EXTRA: &str = ".SH EXTRA\n";

/// Splits this section. A paragraph that begins with a title, such as `Examples:`, begins a new
/// section. Lines stay as they are in the help.
fn in_sections(page: &str) -> String {
    let Some((before, rest)) = page.split_once(EXTRA) else { return page.to_owned() };
    let (extra, after) = rest.split_at(rest.find("\n.SH ").map_or(rest.len(), |at| at + 1));
    let sections =
        extra.trim_end().split("\n\n").map(|paragraph| match paragraph.split_once(":\n") {
            Some((title, lines)) if !title.contains(['\n', '.']) => {
                format!(".SH {}\n.nf\n{lines}\n.fi\n", in_capitals(title))
            }
            _ => format!(".PP\n{paragraph}\n"),
        });
    before.to_owned() + &sections.collect::<String>() + after
}

/// Writes a title in capitals. In a page `\*(Aq` is an apostrophe. It names a string, so it must
/// keep its letters.
fn in_capitals(title: &str) -> String {
    title.to_uppercase().replace("\\*(AQ", "\\*(Aq")
}

/// Writes the pages of this command and of all its subcommands.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_after_the_options_has_sections_of_its_own() {
        let page = ".SH OPTIONS\na\n.SH EXTRA\nTo CMD\\*(Aqs end:\n  b\n\nSaid. Of it:\n  c\n\nExamples:\n  d\n.SH VERSION\ne\n";
        let sections = ".SH OPTIONS\na\n.SH TO CMD\\*(AqS END\n.nf\n  b\n.fi\n.PP\nSaid. Of it:\n  c\n\
                        .SH EXAMPLES\n.nf\n  d\n.fi\n.SH VERSION\ne\n";
        assert_eq!(in_sections(page), sections);
        assert_eq!(in_sections(".SH OPTIONS\na\n"), ".SH OPTIONS\na\n");
    }

    #[test]
    fn no_page_has_a_section_without_a_title() {
        let mut command = Arguments::command();
        command.build();
        let mut pages = vec![command];
        while let Some(command) = pages.pop() {
            pages.extend(command.get_subcommands().cloned());
            let text = String::from_utf8(page(command).unwrap()).unwrap();
            assert!(!text.contains(EXTRA), "{text}");
        }
        let mut command = Arguments::command();
        command.build();
        let run = page(command.find_subcommand("run").unwrap().clone()).unwrap();
        assert!(String::from_utf8(run).unwrap().contains("\n.SH EXAMPLES\n.nf\n"));
    }
}
