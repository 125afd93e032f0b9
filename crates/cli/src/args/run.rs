//! The command line of `run` and `acquire`.

use std::{ffi::OsString, time::Duration};

use clap::{Args, ValueEnum};
use seinpaal::{MAX_LIMIT, Name};

use super::{once, once::OncePer, values};
use crate::exit::NOT_ACQUIRED;

#[derive(Args, Debug)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) entry: Entry,
    /// Take permits of this name as well, W of them (default 1): all or none; repeatable. A name
    /// that ends in a colon and digits is written NAME:1
    #[arg(long, value_name = "NAME[:W]", value_parser = values::also)]
    pub(crate) also: Vec<(Name, u32)>,
    /// Take permits of this wider name as well, W of them (default 1), after those of NAME and --also are had: a permit
    /// that all want is then never held by somebody who waits for a turn of their own. Repeatable, from narrow to wide
    #[arg(long, value_name = "NAME[:W]", value_parser = values::also)]
    pub(crate) within: Vec<(Name, u32)>,
    /// Run CMD once for KEY, and end with 0 where a `run` of NAME has done that: of many machines that start a job at the
    /// same tick, one runs it
    ///
    /// KEY is any text, like "$(date +%F-%H)". A length like 10m, 1h or 1d stands for the tick of that length that this
    /// machine's clock is in, counted in UTC: of a job that is started every hour give 1h. Done is what has ended with 0. If
    /// CMD fails or is stopped, the next that waits runs it. With -n nobody waits, and who comes while it runs ends with 75
    /// (-E).
    #[arg(long, value_name = "KEY", conflicts_with = "shared", value_parser = once::key)]
    pub(crate) once_per: Option<OncePer>,
    /// How long the store remembers that KEY was done, 1s to 24h (default: 24h). Make it longer than the last of
    /// the machines can be late
    #[arg(long, value_name = "DUR", requires = "once_per", value_parser = once::remember)]
    pub(crate) remember: Option<Duration>,
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
    /// Of the keeper of `acquire --while-pid`: the process.
    #[arg(skip)]
    pub(crate) kept_for: Option<i32>,
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

impl OnLost {
    /// One that ends a process.
    fn signal(text: &str) -> Result<Self, String> {
        match text {
            "term" => Ok(Self::Term),
            "kill" => Ok(Self::Kill),
            _ => Err("it is term or kill".to_owned()),
        }
    }

    /// As it is written.
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
    /// Keep and renew the permits until process PID ends, however it ends, and give them back then. `--while-pid $$` is
    /// the script itself
    ///
    /// A process in the background does that, in a session of its own. `release` gives them back sooner. `renew` says with
    /// 122 that they were lost.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) while_pid: Option<i32>,
    /// With --while-pid: term or kill, to be sent to process PID when the lease is lost or about to be (default: nothing)
    #[arg(long, value_name = "ACTION", requires = "while_pid", hide_possible_values = true,
          value_parser = OnLost::signal)]
    pub(crate) on_lost: Option<OnLost>,
}

/// How to get in: the same for everything that takes permits.
#[derive(Args, Clone, Debug)]
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
    /// Wait for the slot with this name, which `limit --slots` has given it; repeatable, up to W
    #[arg(long = "slot", value_name = "SLOT")]
    pub(crate) slots: Vec<String>,
    /// Take NAME as a readers-writer lock, for reading: with others who do, and with no writer
    #[arg(long, conflicts_with_all = ["exclusive", "limit", "permits", "slots", "adopt_limit", "set_limit"])]
    pub(crate) shared: bool,
    /// Take NAME as a readers-writer lock, for writing: alone
    #[arg(long, conflicts_with_all = ["limit", "permits", "slots", "adopt_limit", "set_limit"])]
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
