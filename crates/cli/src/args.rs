//! The command line, as clap reads it. What the words mean is in docs/guide/command-line.md.

#[cfg(test)]
mod alone;
#[cfg(test)]
mod examples;
pub(crate) mod queue;
pub(crate) mod serve;
mod time;
mod values;

use std::{env, ffi::OsString, path::PathBuf, time::Duration};

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use seinpaal::{MAX_LIMIT, Name};

use crate::exit::{NOT_ACQUIRED, TABLE};
pub(crate) use values::TicketStart;

// Lines of at most 70 characters: manual pages indent them by seven.
const ENVIRONMENT: &str = "\
Environment:
  SEINPAAL_STORE   the store, unless --store or --store-file names one
  XDG_CONFIG_HOME  where seinpaal/config.toml is: store = \"URL\"
                   (default ~/.config; after it /etc/seinpaal.toml)
  NO_COLOR         if set to anything: no bold print
There is no RUST_LOG: -vv prints what the library logs.";

const STORES: &str = "\
Stores:
  file:  file:///DIR      this machine, without a server (default)
  redis://[USER:PASSWORD@]HOST[:PORT][/DB]   Redis or Valkey
  rediss://  valkey://  valkeys://  unix:///SOCKET
  redis+sentinel://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT]/MASTER[/DB]
  rediss+sentinel://      the master that these sentinels watch over
                          (?sentinel-user=USER  sentinel-pass=PASSWORD)
  redis+cluster://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT]
  rediss+cluster://       a cluster, found by any of its nodes
  redis+quorum://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT],HOST[:PORT]
  rediss+quorum://        3, 5, 7 or 9 servers that know nothing of
                          each other; no order
  zookeeper://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT][/CHROOT]
                          an ensemble (?session=DUR  connect-timeout=DUR);
                          packages have it, your own build with
                          `--features zookeeper`
  memory:                 one process, for trying out

Options of a Redis store:
  ?replicated=N  restart-guard=on|off|DUR  clock-bound=DUR|off
  prefix=TEXT  connect-timeout=DUR
  ca=PATH  cert=PATH&key=PATH  (PEM files, with TLS)

A password is best kept in a file that only you can read: the
configuration file, or the one that --store-file names. SEINPAAL_STORE
keeps it out of `ps`, too, but CMD inherits it, unless --hide-store is
given.

Durations: 500ms 2s 1.5m 2h 1d; a bare number is seconds.";

const RUN_ENVIRONMENT: &str = "\
Added to CMD's environment:
  SEINPAAL_NAME   SEINPAAL_FENCE   SEINPAAL_SLOT (the lowest held)
  SEINPAAL_SLOTS (all, comma-separated)           SEINPAAL_PERMITS
  SEINPAAL_LIMIT  SEINPAAL_TICKET
  SEINPAAL_HELD   what is held around CMD, as JSON: a `run` of NAME
                  inside CMD goes in under this permit
Added with --also, one for each, in their order, comma-separated:
  SEINPAAL_ALSO_FENCES   SEINPAAL_ALSO_SLOTS (the lowest held)";

const RUN_EXAMPLES: &str = "\
Examples:
  seinpaal run deploy ./deploy.sh
      one at a time; the others wait in line
  seinpaal run gpus -j 4 -p 2 -- train --fast
      two of four permits
  seinpaal run nightly -n -E 0 ./nightly.sh
      skip quietly if it runs already
  seinpaal run pages --shared ./render.sh
  seinpaal run pages --exclusive ./publish.sh
      many readers or one writer
  seinpaal run gpus -j 4 --also licence -- train
      a permit of each, or none
  seinpaal run gpus -j 4 sh -c 'train --gpu=$SEINPAAL_SLOT'
      the slot, 0 to 3, chooses the device";

const ACQUIRE_EXAMPLES: &str = "\
Example:
  ticket=$(seinpaal acquire deploy --ttl 10m) || exit
  trap 'seinpaal release deploy \"$ticket\"' EXIT";

const TOP_KEYS: &str = "\
Keys:
  up down (k j), page up, page down, home end (g G)   move
  enter, right (l)   open a name: who holds, who waits, and why the
                     waiter at the cursor waits
  left, escape (h)   back to all names
  s                  sort by the next column
  q                  leave";

const DOCTOR_STATUS: &str = "\
Exit status of doctor:
  0   all well
  1   a promise is at risk: each line that begins with RISK says
      which, and the remedy
  69  the store cannot be reached
  77, 78  the store cannot be used: this user may not do what is
      needed; it is too old, a replica, or not what the URL says";

/// The heading of what every command understands.
const EVERYWHERE: &str = "Everywhere";

fn after(parts: &[&str]) -> String {
    parts.join("\n\n")
}

/// At most N at once, everywhere, first come first served.
///
/// Takes permits of a name for as long as a command runs, on one machine or on many. Who cannot
/// have them waits in line. Who dies gives them back.
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
    pub(crate) command: Command,
}

/// `run` and no other command.
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
    Run(Run),
}

impl Arguments {
    /// Reads the command line. To learn all commands, and to forget them, takes the parser longer than anything else that
    /// happens here. So it learns of `run` alone where the first word is that. What is wrong then, and help, is for the
    /// parser that knows them all.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        Self::read_from(&env::args_os().collect::<Vec<_>>()).map(Self::settled)
    }

    /// With what one flag says of another.
    fn settled(mut self) -> Self {
        if let Command::Run(run) = &mut self.command {
            run.entry.nonblock |= run.on_conflict == OnConflict::Skip;
        }
        self
    }

    fn read_from(words: &[OsString]) -> Result<Self, clap::Error> {
        let is_run = words.get(1).is_some_and(|first| first == "run");
        match is_run.then(|| RunAlone::try_parse_from(words)) {
            Some(Ok(RunAlone { global, command: OnlyRun::Run(run) })) => {
                Ok(Self { global, command: Command::Run(run) })
            }
            _ => Self::try_parse_from(words),
        }
    }
}

/// What every command understands, before and after its name.
#[derive(Args, Debug)]
pub(crate) struct Global {
    /// Where the permits are kept: file:///DIR, redis://HOST, memory: (default: SEINPAAL_STORE, then
    /// the config file, then this user's directory on this machine)
    #[arg(short, long, global = true, help_heading = EVERYWHERE, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Read the store's URL from a file, which may have a password in it
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "PATH", conflicts_with = "store")]
    pub(crate) store_file: Option<PathBuf>,
    /// Say nothing
    #[arg(short, long, global = true, help_heading = EVERYWHERE)]
    pub(crate) quiet: bool,
    /// Explain what happens; twice: in detail
    #[arg(short, long, global = true, help_heading = EVERYWHERE, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Print data as JSON: one object, or one object a line
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command while holding permits
    #[command(
        override_usage = "seinpaal run <NAME> [OPTIONS] [--] <CMD> [ARG]...",
        after_long_help = after(&[RUN_ENVIRONMENT, RUN_EXAMPLES, ENVIRONMENT, TABLE])
    )]
    Run(Run),
    /// Take permits without a command, and print their ticket
    #[command(after_long_help = after(&[ACQUIRE_EXAMPLES, ENVIRONMENT, TABLE]))]
    Acquire(Acquire),
    /// Extend the lease of a ticket that `acquire` printed
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Renew(Renew),
    /// Give back the permits of a ticket
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Release(NameAndTicket),
    /// List the names in use
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    List(List),
    /// Show who holds and who waits
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Show(Show),
    /// Watch all names, or one of them, as they change
    #[command(after_long_help = after(&[TOP_KEYS, ENVIRONMENT, TABLE]))]
    Top(Top),
    /// Print or change how many permits exist
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Limit(Limit),
    /// Let nobody new in; who holds, holds
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Pause(Pause),
    /// Let people in again
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Resume(OneName),
    /// End a holder's lease or a waiter's place; its owner learns of it at once
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Evict(NameAndTicket),
    /// Push items into a queue, work on them, see and steer
    Queue {
        #[command(subcommand)]
        command: queue::Queue,
    },
    /// Show all names on pages for browsers, and metrics (needs a build with `serve`)
    #[command(after_long_help = after(&[serve::ABOUT, ENVIRONMENT, TABLE]))]
    Serve(serve::Serve),
    /// Check the store: what is at risk, the remedy, and which outage a ttl survives
    #[command(after_long_help = after(&[DOCTOR_STATUS, ENVIRONMENT, TABLE]))]
    Doctor(Doctor),
    /// Measure the store, which loads it for about ten seconds
    ///
    /// Takes and gives back permits as fast as it can, of names of its own that nobody else uses, and leaves none of them
    /// behind. Others who use the store are slower meanwhile.
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Bench(Bench),
    /// Print the completion script of a shell
    Completions(Completions),
    /// Print a manual page
    Man(Man),
}

#[derive(Args, Debug)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) entry: Entry,
    /// Take permits of this name as well, W of them (default 1): all or none; repeatable. A name
    /// that ends in a colon and digits is written NAME:1
    #[arg(long, value_name = "NAME[:W]", value_parser = values::also)]
    pub(crate) also: Vec<(Name, u32)>,
    /// Inside CMD of a `run` of the same name, wait like anybody instead of going in under the permit that it holds
    #[arg(long)]
    pub(crate) no_reenter: bool,
    /// What to do when the lease is lost or about to be
    #[arg(long, value_name = "ACTION", default_value = "term")]
    pub(crate) on_lost: OnLost,
    /// How long between TERM and KILL, cut so as to end before the lease does
    #[arg(short, long, value_name = "DUR", default_value = "5s", value_parser = values::duration)]
    pub(crate) kill_after: Duration,
    /// Keep the permits at least that long, also if CMD ends sooner: a job that many clocks start is then not run
    /// twice because one of them is late
    #[arg(long, value_name = "DUR", value_parser = values::above_zero)]
    pub(crate) min_hold: Option<Duration>,
    /// What to do where this ends with 69, because the store cannot be reached or has no room
    #[arg(long, value_name = "ACTION", default_value = "fail")]
    pub(crate) on_unreachable: OnUnreachable,
    /// What to do about those who hold NAME or wait for it
    #[arg(long, value_name = "ACTION", default_value = "wait", conflicts_with = "nonblock")]
    pub(crate) on_conflict: OnConflict,
    /// Stop CMD after that long and exit with 124
    #[arg(long, value_name = "DUR", value_parser = values::above_zero)]
    pub(crate) max_hold: Option<Duration>,
    /// Take SEINPAAL_STORE, which may have a password in it, out of CMD's environment
    #[arg(long)]
    pub(crate) hide_store: bool,
    /// Write JSON lines of what happens to this open file descriptor
    #[arg(long, value_name = "FD", value_parser = clap::value_parser!(i32).range(0..))]
    pub(crate) events: Option<i32>,
    /// What to run, with its arguments: everything from here on is CMD's own
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum OnLost {
    /// TERM to CMD's process group, then KILL, both before the lease ends
    Term,
    /// KILL to CMD's process group before the lease ends
    Kill,
    /// Say so, and go on
    Warn,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum OnUnreachable {
    /// Do not run CMD
    Fail,
    /// Run CMD without a permit, and say so: it counts nowhere, and nobody ends it
    Run,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum OnConflict {
    /// Wait behind them
    Wait,
    /// Do not run CMD, and end with 0
    Skip,
    /// Send away those who wait, and wait for those who hold: of many only the newest runs next
    ReplaceWaiting,
    /// Send away those who wait, and end those who hold: their runs stop with 122
    CancelRunning,
}

#[derive(Args, Debug)]
pub(crate) struct Acquire {
    #[command(flatten)]
    pub(crate) entry: Entry,
}

/// How to get in: the same for everything that takes permits.
#[derive(Args, Debug)]
pub(crate) struct Entry {
    /// What the permits are counted under
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    /// At most N permits exist (default: the stored limit, else 1)
    #[arg(short = 'j', long, value_name = "N", value_parser = values::count(MAX_LIMIT))]
    pub(crate) limit: Option<u32>,
    /// If another limit is stored, use that one
    #[arg(long, conflicts_with = "set_limit")]
    pub(crate) adopt_limit: bool,
    /// If another limit is stored, change it to N
    #[arg(long, requires = "limit")]
    pub(crate) set_limit: bool,
    /// Take W permits at once
    #[arg(short, long, value_name = "W", default_value = "1", value_parser = values::count(MAX_LIMIT))]
    pub(crate) permits: u32,
    /// Take NAME as a readers-writer lock, for reading: with others who do, and with no writer
    #[arg(long, conflicts_with_all = ["exclusive", "limit", "permits", "adopt_limit", "set_limit"])]
    pub(crate) shared: bool,
    /// Take NAME as a readers-writer lock, for writing: alone
    #[arg(long, conflicts_with_all = ["limit", "permits", "adopt_limit", "set_limit"])]
    pub(crate) exclusive: bool,
    /// Do not wait
    #[arg(short, long, conflicts_with = "wait")]
    pub(crate) nonblock: bool,
    /// Wait at most that long (default: as long as it takes)
    #[arg(short, long, value_name = "DUR", value_parser = values::duration)]
    pub(crate) wait: Option<Duration>,
    /// The exit status when no permit was had
    #[arg(short = 'E', long, value_name = "C", default_value_t = NOT_ACQUIRED)]
    pub(crate) conflict_exit_code: u8,
    /// If M wait already, do not queue
    #[arg(long, value_name = "M")]
    pub(crate) max_waiting: Option<u32>,
    /// Rank among those who wait, -100 to 100; higher first, and waiting raises it
    #[arg(long, value_name = "P", default_value = "0", allow_negative_numbers = true,
          value_parser = clap::value_parser!(i32).range(-100..=100))]
    pub(crate) priority: i32,
    /// How long the lease lasts without renewal, 100ms to 24h (default: 30s, or as long as the store's restart guard
    /// allows)
    ///
    /// It is renewed at a third of that. A store on the network may be silent for 16 % of it at any moment without harm
    /// (30s: 4.7s, 1m: 9.4s, 10m: 94s), and for 49 % right after a renewal. Choose it about six times as long as the
    /// longest outage that CMD is to outlast. What holds is free that much later after a crash.
    #[arg(long, value_name = "DUR", value_parser = values::ttl)]
    pub(crate) ttl: Option<Duration>,
    /// Shown by `show`; repeatable
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = values::label)]
    pub(crate) labels: Vec<(String, String)>,
}

#[derive(Args, Debug)]
pub(crate) struct Renew {
    #[command(flatten)]
    pub(crate) which: NameAndTicket,
    /// How long the lease lasts from now, 100ms to 24h (default: 30s, or as long as the store's restart guard allows)
    #[arg(long, value_name = "DUR", value_parser = values::ttl)]
    pub(crate) ttl: Option<Duration>,
}

#[derive(Args, Debug)]
pub(crate) struct NameAndTicket {
    /// What the permits are counted under
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    /// The ticket that `acquire` printed or `show` lists, or as much of its beginning as no other has
    #[arg(value_parser = values::ticket)]
    pub(crate) ticket: TicketStart,
}

#[derive(Args, Debug)]
pub(crate) struct OneName {
    /// What the permits are counted under
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
}

#[derive(Args, Debug)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) which: OneName,
    /// Say why this waiter waits, and about how long it may still be
    #[arg(long, value_name = "TICKET", value_parser = values::ticket)]
    pub(crate) why: Option<TicketStart>,
}

#[derive(Args, Debug)]
pub(crate) struct List {
    /// Only names that start with this
    #[arg(default_value = "", hide_default_value = true)]
    pub(crate) prefix: String,
}

#[derive(Args, Debug)]
pub(crate) struct Top {
    /// Only names that start with this
    #[arg(default_value = "", hide_default_value = true)]
    pub(crate) prefix: String,
    /// How often the store is asked, 100ms to 1h
    #[arg(long, value_name = "DUR", default_value = "1s", value_parser = values::interval)]
    pub(crate) interval: Duration,
    /// What comes first
    #[arg(long, value_name = "COLUMN", default_value = "waiting")]
    pub(crate) sort: SortBy,
    /// Print one table and end, as also where stdout is no terminal, or with --json
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
    /// The next one, and after the last the first.
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

#[derive(Args, Debug)]
pub(crate) struct Limit {
    /// What the permits are counted under
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    /// How many permits may exist; 0 admits nobody. Below what is held, nobody is thrown out
    #[arg(value_name = "N", value_parser = values::count_or_zero(MAX_LIMIT))]
    pub(crate) limit: Option<u32>,
    /// Let go of the limit that was set: what those say counts again who hold or wait
    #[arg(long, conflicts_with = "limit")]
    pub(crate) unset: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Pause {
    /// What the permits are counted under
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    /// Why, for people to read
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true,
          value_parser = values::text)]
    pub(crate) reason: String,
}

#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// For leases of this length, 100ms to 24h (default: 30s, or as long as the store's restart guard allows)
    #[arg(long, value_name = "DUR", value_parser = values::ttl)]
    pub(crate) ttl: Option<Duration>,
}

#[derive(Args, Debug)]
pub(crate) struct Bench {
    /// How long it measures in all, 1 to 3600 seconds
    #[arg(long, value_name = "N", default_value = "10", value_parser = values::count(3600))]
    pub(crate) seconds: u32,
}

#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// For which shell
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct Man {
    /// The page of this command, like `run` or `queue push` (default: of seinpaal itself)
    pub(crate) command: Vec<String>,
}
