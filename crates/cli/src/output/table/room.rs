//! How much room a table has.

use std::{env, io, io::IsTerminal};

use rustix::termios::tcgetwinsize;

/// The width without a terminal, and for a terminal that does not know its width.
const USUAL: usize = 80;
/// With fewer, nothing can be read whatever is left out.
const LEAST: usize = 20;

/// How much room a table has, and what kind it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TableRoom {
    pub(super) columns: usize,
    pub(super) is_terminal: bool,
    pub(super) is_bold: bool,
}

impl TableRoom {
    /// Of stdout: as many columns as the terminal has, or as `COLUMNS` says, or 80; without a bound
    /// if `wide`.
    pub(crate) fn of_stdout(wide: bool) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let columns = if wide { usize::MAX } else { columns(is_terminal) };
        Self { columns, is_terminal, is_bold: may_be_bold() }
    }

    #[cfg(test)]
    pub(super) fn new(columns: usize, is_terminal: bool) -> Self {
        Self { columns, is_terminal, is_bold: false }
    }
}

fn columns(is_terminal: bool) -> usize {
    let measured = is_terminal.then(|| tcgetwinsize(io::stdout()).ok()).flatten();
    let measured = measured.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    let said = || env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    measured.or_else(said).unwrap_or(USUAL).max(LEAST)
}

/// Returns whether heads may be bold: on a terminal, unless `NO_COLOR` is set to something.
pub(crate) fn may_be_bold() -> bool {
    let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !unwanted && io::stdout().is_terminal()
}
