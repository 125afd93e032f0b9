//! The command line of `run` and `acquire`.

use std::{ffi::OsString, time::Duration};

use clap::{Args, ValueEnum};
use seinpaal::{MAX_LIMIT, Name};

use super::{once, once::OncePer, values};
use crate::exit::NOT_ACQUIRED;

/// The default time between TERM and KILL.
pub(super) const KILL_AFTER: &str = "5s";

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) entry: EntryArgs,
    /// Also take W permits (default 1) of this name, all or none; repeatable. Write a name that
    /// ends in a colon and digits as NAME:1
    #[arg(long, value_name = "NAME[:W]", value_parser = values::also)]
    pub(crate) also: Vec<(Name, u32)>,
    /// Also take W permits (default 1) of this wider name, after those of NAME and --also. Until
    /// then the request waits without a permit that others could use. Repeatable, from narrow to
    /// wide
    #[arg(long, value_name = "NAME[:W]", value_parser = values::also)]
    pub(crate) within: Vec<(Name, u32)>,
    /// Run CMD once for KEY, and exit with 0 if a `run` of NAME has already done so: when many
    /// machines start a job at the same time, one of them runs it
    ///
    /// KEY is any text, such as "$(date +%F-%H)". A length such as 10m, 1h or 1d stands for the
    /// current period of that length on this machine's clock, in UTC: give 1h for a job that starts
    /// every hour. KEY is done when CMD has ended with 0. If CMD fails or is stopped, the next
    /// waiter runs it. With -n nobody waits: a `run` that starts while CMD runs exits with 75 (-E).
    #[arg(long, value_name = "KEY", conflicts_with = "shared", value_parser = once::key)]
    pub(crate) once_per: Option<OncePer>,
    /// How long the store remembers that KEY was done, 1s to 24h (default: 24h). It must be longer
    /// than any machine can be late
    #[arg(long, value_name = "DUR", requires = "once_per", value_parser = once::remember)]
    pub(crate) remember: Option<Duration>,
    /// Inside CMD of a `run` of the same name, wait in line instead of sharing the permit that it
    /// holds
    #[arg(long)]
    pub(crate) no_reenter: bool,
    /// The reaction to a lease that is lost or about to be
    #[arg(long, value_name = "ACTION", default_value = "term")]
    pub(crate) on_lost: OnLost,
    /// Time between TERM and KILL, shortened so that KILL comes before the lease ends
    #[arg(short, long, value_name = "DUR", default_value = KILL_AFTER, value_parser = values::duration)]
    pub(crate) kill_after: Duration,
    /// Keep the permits at least this long, even if CMD ends sooner: a job that many machines start
    /// is then not run twice when one clock is late
    #[arg(long, value_name = "DUR", value_parser = values::above_zero)]
    pub(crate) min_hold: Option<Duration>,
    /// The reaction to a store that cannot be reached, has no room (status 69), or refuses to be
    /// written (77)
    #[arg(long, value_name = "ACTION", default_value = "fail")]
    pub(crate) on_unreachable: OnUnreachable,
    /// The reaction to others that hold NAME or wait for it
    #[arg(long, value_name = "ACTION", default_value = "wait", conflicts_with = "nonblock")]
    pub(crate) on_conflict: OnConflict,
    /// Stop CMD after this long and exit with 124
    #[arg(long, value_name = "DUR", value_parser = values::above_zero)]
    pub(crate) max_hold: Option<Duration>,
    /// Take SEINPAAL_STORE, which may have a password in it, out of CMD's environment
    #[arg(long)]
    pub(crate) hide_store: bool,
    /// Write events as JSON lines to this open file descriptor
    #[arg(long, value_name = "FD", value_parser = clap::value_parser!(i32).range(0..))]
    pub(crate) events: Option<i32>,
    /// The process for which the keeper of `acquire --while-pid` holds the permits. No flag sets
    /// this.
    #[arg(skip)]
    pub(crate) kept_for: Option<i32>,
    /// The command and its arguments; everything from here on belongs to CMD
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

impl RunArgs {
    /// Makes the arguments that clap reads from a line with these parts and no others.
    pub(crate) fn plain(entry: EntryArgs, command: Vec<OsString>) -> Self {
        let kill_after = values::duration(KILL_AFTER);
        Self {
            entry,
            also: Vec::new(),
            within: Vec::new(),
            once_per: None,
            remember: None,
            no_reenter: false,
            on_lost: OnLost::Term,
            kill_after: kill_after.unwrap_or_else(|_| unreachable!("clap reads it, too")),
            min_hold: None,
            on_unreachable: OnUnreachable::Fail,
            on_conflict: OnConflict::Wait,
            max_hold: None,
            hide_store: false,
            events: None,
            kept_for: None,
            command,
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum OnLost {
    /// TERM to CMD's process group, then KILL, both before the lease ends
    Term,
    /// KILL to CMD's process group before the lease ends
    Kill,
    /// Print a warning, and let CMD run on
    Warn,
}

impl OnLost {
    /// Reads a reaction that ends a process.
    fn signal(text: &str) -> Result<Self, String> {
        match text {
            "term" => Ok(Self::Term),
            "kill" => Ok(Self::Kill),
            _ => Err("it is term or kill".to_owned()),
        }
    }

    /// Returns the value as the user writes it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Term => "term",
            Self::Kill => "kill",
            Self::Warn => "warn",
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum OnUnreachable {
    /// Do not run CMD
    Fail,
    /// Run CMD without a permit, and say so: it counts towards no limit, and nothing stops it
    Run,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum OnConflict {
    /// Wait in line
    Wait,
    /// Do not run CMD, and exit with 0
    Skip,
    /// Send away the waiters, and wait for the holders: of many runs only the newest goes next
    ReplaceWaiting,
    /// Send away the waiters, and evict the holders: their runs stop with 122, and until then (-k)
    /// may run beside this one
    CancelRunning,
}

#[derive(Args, Debug)]
pub(crate) struct AcquireArgs {
    #[command(flatten)]
    pub(crate) entry: EntryArgs,
    /// Keep the permits until process PID ends, in whatever way, and then release them.
    /// `--while-pid $$` names the script itself
    ///
    /// A background process in a session of its own renews the permits. `release` releases them
    /// sooner. `renew` exits with 122 if they were lost.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) while_pid: Option<i32>,
    /// With --while-pid: the signal, term or kill, to send to process PID when the lease is lost or
    /// about to be (default: none)
    #[arg(long, value_name = "ACTION", requires = "while_pid", hide_possible_values = true,
          value_parser = OnLost::signal)]
    pub(crate) on_lost: Option<OnLost>,
}

/// The options of every command that takes permits.
#[derive(Args, Clone, Debug)]
pub(crate) struct EntryArgs {
    /// The name that the permits belong to
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
    /// Wait for the slot with this name, which `limit --slots` has given it; repeatable, up to W
    #[arg(long = "slot", value_name = "SLOT")]
    pub(crate) slots: Vec<String>,
    /// Take NAME as a readers-writer lock, for reading: together with other readers, never with a
    /// writer
    #[arg(long, conflicts_with_all = ["exclusive", "limit", "permits", "slots", "adopt_limit", "set_limit"])]
    pub(crate) shared: bool,
    /// Take NAME as a readers-writer lock, for writing: alone
    #[arg(long, conflicts_with_all = ["limit", "permits", "slots", "adopt_limit", "set_limit"])]
    pub(crate) exclusive: bool,
    /// Do not wait
    #[arg(short, long, conflicts_with = "wait")]
    pub(crate) nonblock: bool,
    /// Wait at most this long (default: as long as it takes)
    #[arg(short, long, value_name = "DUR", value_parser = values::duration)]
    pub(crate) wait: Option<Duration>,
    /// The exit status when no permit was acquired
    #[arg(short = 'E', long, value_name = "C", default_value_t = NOT_ACQUIRED)]
    pub(crate) conflict_exit_code: u8,
    /// Do not queue if M requests wait already
    #[arg(long, value_name = "M")]
    pub(crate) max_waiting: Option<u32>,
    /// Priority among the waiters, -100 to 100; higher goes first, and waiting raises it
    #[arg(long, value_name = "P", default_value = "0", allow_negative_numbers = true,
          value_parser = clap::value_parser!(i32).range(-100..=100))]
    pub(crate) priority: i32,
    /// How long the lease lasts without renewal, 100ms to 24h (default: 30s, or as long as the
    /// store's restart guard allows)
    ///
    /// The lease is renewed after an eighth of the ttl. A store on the network may be silent for half
    /// of the ttl at any moment without harm (30s: 15s, 2m: 66s, 1h: 33m); on ZooKeeper for 10s, or
    /// what its session allows. Choose a ttl of twice the longest outage that CMD is to survive.
    /// After a crash of the holder its permits stay taken for up to a ttl.
    #[arg(long, value_name = "DUR", value_parser = values::ttl)]
    pub(crate) ttl: Option<Duration>,
    /// A label, shown by `show`; repeatable
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = values::label)]
    pub(crate) labels: Vec<(String, String)>,
}
