//! The arguments of the commands that only look: `show`, `list` and `top`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{OneName, TicketStart, values};

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) which: OneName,
    /// Explain why this waiter waits, and estimate for how long
    #[arg(long, value_name = "TICKET", value_parser = values::ticket)]
    pub(crate) why: Option<TicketStart>,
    #[command(flatten)]
    pub(crate) width: Width,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Only names with this prefix
    #[arg(default_value = "", hide_default_value = true)]
    pub(crate) prefix: String,
    #[command(flatten)]
    pub(crate) width: Width,
}

/// The width of a table.
#[derive(Args, Debug)]
pub(crate) struct Width {
    /// Print all columns and whole tickets, however wide the table becomes (default: the width of
    /// the terminal, else COLUMNS, else 80)
    #[arg(long)]
    pub(crate) wide: bool,
}

#[derive(Args, Debug)]
pub(crate) struct TopArgs {
    /// Only names with this prefix
    #[arg(default_value = "", hide_default_value = true)]
    pub(crate) prefix: String,
    /// Time between two requests to the store, 100ms to 1h
    #[arg(long, value_name = "DUR", default_value = "1s", value_parser = values::interval)]
    pub(crate) interval: Duration,
    /// The column to sort by
    #[arg(long, value_name = "COLUMN", default_value = "waiting")]
    pub(crate) sort: SortBy,
    /// Print one table and exit; also done with --json, and if stdout is not a terminal
    #[arg(long)]
    pub(crate) once: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum SortBy {
    /// By name
    Name,
    /// The most permits held
    Held,
    /// The most waiters
    Waiting,
    /// The longest wait
    Oldest,
}

impl SortBy {
    /// Returns the next column. The first column follows the last one.
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Name => Self::Held,
            Self::Held => Self::Waiting,
            Self::Waiting => Self::Oldest,
            Self::Oldest => Self::Name,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Held => "held",
            Self::Waiting => "waiting",
            Self::Oldest => "oldest",
        }
    }
}
