//! The command line, as clap reads it. docs/guide/command-line.md explains the commands and flags.

#[cfg(test)]
mod alone;
#[cfg(test)]
mod examples;
mod help;
mod look;
mod once;
mod plain;
pub(crate) mod queue;
mod run;
pub(crate) mod serve;
mod time;
mod values;

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{ArgAction, Args, Parser, Subcommand};
use clap_complete::Shell;
use seinpaal::{MAX_LIMIT, Name, SlotNames};

use crate::exit::TABLE;
use help::{
    ACQUIRE_EXAMPLES, DOCTOR_STATUS, ENVIRONMENT, LIMIT_EXAMPLES, RUN_ENVIRONMENT, RUN_EXAMPLES,
    STORES, TOP_KEYS,
};
pub(crate) use look::{ListArgs, ShowArgs, SortBy, TopArgs, Width};
pub(crate) use run::{AcquireArgs, EntryArgs, OnConflict, OnLost, OnUnreachable, RunArgs};
pub(crate) use seinpaal_words::ticket::TicketStart;

/// The heading of the options that every command understands.
const EVERYWHERE: &str = "Everywhere";

fn after(parts: &[&str]) -> String {
    parts.join("\n\n")
}

/// At most N at once, everywhere, first come first served.
///
/// A command holds permits of a name while it runs, on one machine or on many. Without a free
/// permit it waits in line. The permits of a process that dies become free again.
#[derive(Debug, Parser)]
#[command(
    name = "seinpaal",
    version,
    after_long_help = after(&[STORES, ENVIRONMENT, TABLE]),
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// The command line with `run` as its only command.
#[derive(Debug, Parser)]
#[command(name = "seinpaal", version)]
struct RunAlone {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: OnlyRun,
}

#[derive(Debug, Subcommand)]
enum OnlyRun {
    Run(RunArgs),
}

impl Arguments {
    /// Reads the command line. Building and freeing the parser of all commands takes most of the
    /// time of a read. So if the first word is `run`, a parser of `run` alone tries first. Only if
    /// it fails, or is asked for help, does the parser of all commands read the line.
    pub(crate) fn read(words: &[OsString]) -> Result<Self, clap::Error> {
        Self::read_from(words).map(Self::settled)
    }

    /// Sets the flags for which another flag is an abbreviation.
    fn settled(mut self) -> Self {
        if let CliCommand::Run(RunArgs { entry, on_conflict: OnConflict::Skip, .. }) =
            &mut self.command
        {
            (entry.nonblock, entry.conflict_exit_code) = (true, 0);
        }
        self
    }

    fn read_from(words: &[OsString]) -> Result<Self, clap::Error> {
        if let Some((global, run)) = plain::read(words) {
            return Ok(Self { global, command: CliCommand::Run(run) });
        }
        let is_run = words.get(1).is_some_and(|first| first == "run");
        match is_run.then(|| RunAlone::try_parse_from(words)) {
            Some(Ok(RunAlone { global, command: OnlyRun::Run(run) })) => {
                Ok(Self { global, command: CliCommand::Run(run) })
            }
            _ => Self::try_parse_from(words),
        }
    }
}

/// The options that every command understands, before and after its name.
#[derive(Args, Debug)]
pub(crate) struct Global {
    /// Where the permits are kept: file:///DIR, redis://HOST, memory: (default: SEINPAAL_STORE,
    /// then the config file, then this user's directory on this machine)
    #[arg(short, long, global = true, help_heading = EVERYWHERE, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Read the store's URL from this file; the URL may have a password in it
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "PATH", conflicts_with = "store")]
    pub(crate) store_file: Option<PathBuf>,
    /// Print no messages of our own
    #[arg(short, long, global = true, help_heading = EVERYWHERE)]
    pub(crate) quiet: bool,
    /// Explain what happens; -vv explains it in detail
    #[arg(short, long, global = true, help_heading = EVERYWHERE, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Print data as JSON: one object, or one object a line
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Run a command while holding permits
    #[command(
        override_usage = "seinpaal run <NAME> [OPTIONS] [--] <CMD> [ARG]...",
        after_long_help = after(&[RUN_ENVIRONMENT, RUN_EXAMPLES, ENVIRONMENT, TABLE])
    )]
    Run(RunArgs),
    /// Take permits without a command, and print their ticket
    #[command(after_long_help = after(&[ACQUIRE_EXAMPLES, ENVIRONMENT, TABLE]))]
    Acquire(AcquireArgs),
    /// Extend the lease of a ticket that `acquire` printed
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Renew(RenewArgs),
    /// Give back the permits of a ticket
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Release(NameAndTicket),
    /// List the names in use
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    List(ListArgs),
    /// Show the holders and the waiters of a name
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Show(ShowArgs),
    /// Watch all names, or one of them, as they change
    #[command(after_long_help = after(&[TOP_KEYS, ENVIRONMENT, TABLE]))]
    Top(TopArgs),
    /// Print or change how many permits exist
    #[command(after_long_help = after(&[LIMIT_EXAMPLES, ENVIRONMENT, TABLE]))]
    Limit(LimitArgs),
    /// Admit nobody new; holders keep their permits
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Pause(PauseArgs),
    /// Admit new holders again
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Resume(OneName),
    /// End a holder's lease or a waiter's place; its client learns of it at once
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Evict(NameAndTicket),
    /// Push items into a queue, work on them, inspect and control it
    Queue {
        #[command(subcommand)]
        command: queue::QueueSubcommand,
    },
    /// Serve web pages that show all names, and metrics (needs a build with `serve`)
    #[command(after_long_help = after(&[serve::ABOUT, ENVIRONMENT, TABLE]))]
    Serve(serve::ServeArgs),
    /// Check the store: risks, their remedies, and how long an outage a ttl survives
    #[command(after_long_help = after(&[DOCTOR_STATUS, ENVIRONMENT, TABLE]))]
    Doctor(DoctorArgs),
    /// Measure the store, which loads it for about ten seconds
    ///
    /// Acquires and releases permits as fast as it can. It uses names that nobody else has, and
    /// leaves none of them behind. Other clients of the store are slower in the meantime.
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Bench(BenchArgs),
    /// Print the completion script of a shell
    Completions(CompletionsArgs),
    /// Print a manual page, or write all of them into a directory
    Man(ManArgs),
}

#[derive(Args, Debug)]
pub(crate) struct RenewArgs {
    #[command(flatten)]
    pub(crate) which: NameAndTicket,
    /// How long the lease lasts from now, 100ms to 24h (default: the ttl of the acquire, and never
    /// less than what is left)
    #[arg(long, value_name = "DUR", value_parser = values::ttl)]
    pub(crate) ttl: Option<Duration>,
}

#[derive(Args, Debug)]
pub(crate) struct NameAndTicket {
    /// The name that the permits belong to
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    /// The ticket that `acquire` printed or `show` lists, or a prefix that no other ticket has
    #[arg(value_parser = values::ticket)]
    pub(crate) ticket: TicketStart,
}

#[derive(Args, Debug)]
pub(crate) struct OneName {
    /// The name that the permits belong to
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
}

#[derive(Args, Debug)]
pub(crate) struct LimitArgs {
    /// The name that the permits belong to
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    /// The new limit; 0 admits nobody. A limit below the number of held permits evicts nobody
    #[arg(value_name = "N", value_parser = values::count_or_zero(MAX_LIMIT))]
    pub(crate) limit: Option<u32>,
    /// Give the slots these names, from slot 0 up, with commas between them; their number becomes
    /// the limit
    ///
    /// CMD then finds the name of its slot in SEINPAAL_SLOT_NAME, and `run --slot NAME` waits for
    /// that slot. A name has 1 to 64 bytes. While anybody holds or waits, names can only be added
    /// at the end.
    #[arg(long, value_name = "NAME,...", conflicts_with = "limit", value_parser = values::slot_names)]
    pub(crate) slots: Option<SlotNames>,
    /// Remove the limit that was set, and the names of slots; the limit that holders and waiters
    /// state applies again
    #[arg(long, conflicts_with_all = ["limit", "slots"])]
    pub(crate) unset: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PauseArgs {
    /// The name that the permits belong to
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    /// The reason, shown to people
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true,
          value_parser = values::text)]
    pub(crate) reason: String,
}

#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Check for leases of this length, 100ms to 24h (default: 30s, or as long as the store's
    /// restart guard allows)
    #[arg(long, value_name = "DUR", value_parser = values::ttl)]
    pub(crate) ttl: Option<Duration>,
    /// Look at this many stored names and queues for contradictions; 0: at none
    #[arg(long, value_name = "N", default_value = "1000", value_parser = values::count_or_zero(1_000_000))]
    pub(crate) ledgers: u32,
}

#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    /// Length of the whole measurement in seconds, 1 to 3600
    #[arg(long, value_name = "N", default_value = "10", value_parser = values::count(3600))]
    pub(crate) seconds: u32,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The command whose page to print, such as `run` or `queue push` (default: seinpaal itself)
    pub(crate) command: Vec<String>,
    /// Write the page of every command into this directory instead, such as seinpaal-run.1
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) to: Option<PathBuf>,
}
