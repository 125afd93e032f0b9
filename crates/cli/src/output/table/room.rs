//! The room for a table.

use std::{env, io, io::IsTerminal};

use rustix::termios::tcgetwinsize;

/// The width without a terminal, and for a terminal that does not know its width.
const USUAL: usize = 80;
/// With fewer columns, no table can be read.
const LEAST: usize = 20;

/// The width for a table, and whether its head may be bold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TableRoom {
    pub(super) columns: usize,
    pub(super) is_bold: bool,
}

impl TableRoom {
    /// Returns the room of stdout: the width of the terminal, or `COLUMNS`, or 80. With `wide`
    /// there is no bound.
    pub(crate) fn of_stdout(wide: bool) -> Self {
        let columns = if wide { usize::MAX } else { columns(io::stdout().is_terminal()) };
        Self { columns, is_bold: may_be_bold() }
    }

    #[cfg(test)]
    pub(super) fn new(columns: usize) -> Self {
        Self { columns, is_bold: false }
    }
}

fn columns(is_terminal: bool) -> usize {
    let measured = is_terminal.then(|| tcgetwinsize(io::stdout()).ok()).flatten();
    let measured = measured.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    let said = || env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    measured.or_else(said).unwrap_or(USUAL).max(LEAST)
}

/// Returns whether heads may be bold: on a terminal, unless `NO_COLOR` is set to a text.
pub(crate) fn may_be_bold() -> bool {
    let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !unwanted && io::stdout().is_terminal()
}
