//! The command line of `queue`.

mod help;

use std::{ffi::OsString, time::Duration, time::SystemTime};

use clap::{Args, Subcommand};
use seinpaal::{ItemState, Name};

use help::{
    CANCEL_EXAMPLES, DEAD_EXAMPLES, ITEMS_EXAMPLES, PUSH_EXAMPLES, WORK_EXAMPLES, WORK_HELP,
};

pub(crate) use super::values::{Most, Which};
use super::{ENVIRONMENT, Width, after, run::KILL_AFTER, values};
use crate::exit::TABLE;

/// The largest `--concurrency`. Run more commands at once on several machines.
const MOST_AT_ONCE: u32 = 1024;

#[derive(Debug, Subcommand)]
pub(crate) enum QueueSubcommand {
    /// Push items, and print their numbers
    #[command(after_long_help = after(&[PUSH_EXAMPLES, ENVIRONMENT, TABLE]))]
    Push(PushArgs),
    /// Run a command for each item
    #[command(
        override_usage = "seinpaal queue work <NAME> [OPTIONS] [--] <CMD> [ARG]...",
        after_long_help = after(&[WORK_HELP, WORK_EXAMPLES, ENVIRONMENT, TABLE])
    )]
    Work(WorkArgs),
    /// Show how many items are in each state, and which worker has which item
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Show(QueueShowArgs),
    /// List the queues in use
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    List(QueueListArgs),
    /// List items by their state: ready, delayed, in work or dead
    #[command(after_long_help = after(&[ITEMS_EXAMPLES, ENVIRONMENT, TABLE]))]
    Items(QueueItemsArgs),
    /// List dead letters, replay them or drop them
    #[command(after_long_help = after(&[DEAD_EXAMPLES, ENVIRONMENT, TABLE]))]
    Dead(DeadArgs),
    /// Print or change how many items may be in work at once
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Limit(QueueLimitArgs),
    /// Deliver nothing; items in work go on
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Pause(QueuePauseArgs),
    /// Deliver items again
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Resume(OneQueue),
    /// Remove all items that are ready or delayed, and print how many
    #[command(after_long_help = after(&[ENVIRONMENT, TABLE]))]
    Purge(OneQueue),
    /// Remove one item, or all that match; workers that have one learn of it at once
    #[command(after_long_help = after(&[CANCEL_EXAMPLES, ENVIRONMENT, TABLE]))]
    Cancel(QueueCancelArgs),
}

#[derive(Args, Debug)]
pub(crate) struct PushArgs {
    /// The queue
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    /// The payload of the item; - reads it from stdin
    #[arg(required_unless_present = "lines")]
    pub(crate) payload: Option<OsString>,
    /// Push every line of stdin as an item, as the lines come
    #[arg(long, conflicts_with_all = ["payload", "dedup"])]
    pub(crate) lines: bool,
    /// Priority among the items, -100 to 100; higher goes first, and waiting raises it
    #[arg(long, value_name = "P", default_value = "0", allow_negative_numbers = true,
          value_parser = clap::value_parser!(i32).range(-100..=100))]
    pub(crate) priority: i32,
    /// Deliver the item after this long at the earliest
    #[arg(long, value_name = "DUR", value_parser = values::duration, conflicts_with = "due")]
    pub(crate) delay: Option<Duration>,
    /// Deliver the item at this time at the earliest: 2030-01-31T09:00:00Z, or @SECONDS since 1970
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    pub(crate) due: Option<SystemTime>,
    /// The group that the item counts for; see `queue limit --group`
    #[arg(long, value_name = "G", value_parser = values::name)]
    pub(crate) group: Option<Name>,
    /// Push nothing if an item with this key was pushed and the key is still remembered
    #[arg(long, value_name = "KEY", value_parser = values::name)]
    pub(crate) dedup: Option<Name>,
    /// How long the key is remembered, at most a week
    #[arg(long, value_name = "DUR", default_value = "1h", value_parser = values::duration,
          requires = "dedup")]
    pub(crate) dedup_window: Duration,
    /// The largest number of deliveries of the item
    #[arg(long, value_name = "N", default_value = "5", value_parser = values::count(1_000_000))]
    pub(crate) deliveries: u32,
    /// A label for the worker; repeatable
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = values::label)]
    pub(crate) labels: Vec<(String, String)>,
}

#[derive(Args, Debug)]
pub(crate) struct WorkArgs {
    /// The queue
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    /// Work on N items at a time
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = values::count(MOST_AT_ONCE))]
    pub(crate) concurrency: u32,
    /// Exit when no item is ready, delayed or in work anywhere
    #[arg(long)]
    pub(crate) until_empty: bool,
    /// How long an item's lease lasts without renewal, 100ms to 24h (default: 30s, or as long as
    /// the store's restart guard allows)
    #[arg(long, value_name = "DUR", value_parser = values::ttl)]
    pub(crate) ttl: Option<Duration>,
    /// How long an item waits after its first failure; each further failure doubles it
    #[arg(long, value_name = "DUR", default_value = "1s", value_parser = values::duration)]
    pub(crate) retry_base: Duration,
    /// The longest time that an item waits after a failure
    #[arg(long, value_name = "DUR", default_value = "5m", value_parser = values::duration)]
    pub(crate) retry_max: Duration,
    /// How long an item waits after CMD gave it back
    #[arg(long, value_name = "DUR", default_value = "1s", value_parser = values::duration)]
    pub(crate) give_back_after: Duration,
    /// Time between TERM and KILL when a lease is lost, shortened so that KILL comes before the
    /// lease ends
    #[arg(short, long, value_name = "DUR", default_value = KILL_AFTER, value_parser = values::duration)]
    pub(crate) kill_after: Duration,
    /// Take SEINPAAL_STORE, which may have a password in it, out of CMD's environment
    #[arg(long)]
    pub(crate) hide_store: bool,
    /// The command and its arguments; everything from here on belongs to CMD
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct OneQueue {
    /// The queue
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
}

#[derive(Args, Debug)]
pub(crate) struct QueueShowArgs {
    /// The queue
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    #[command(flatten)]
    pub(crate) width: Width,
}

#[derive(Args, Debug)]
pub(crate) struct QueueListArgs {
    /// Only queues whose names have this prefix
    #[arg(default_value = "", hide_default_value = true)]
    pub(crate) prefix: String,
    #[command(flatten)]
    pub(crate) width: Width,
}

#[derive(Args, Debug)]
pub(crate) struct QueueItemsArgs {
    /// The queue
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    /// Only items in this state: ready, delayed, in-work or dead (default: all)
    #[arg(long, value_name = "STATE", value_parser = values::state())]
    pub(crate) state: Option<ItemState>,
    /// Only items that contain this text: in the number, the group, a label (KEY=VALUE), the client
    /// that pushed it or works on it, the end of a delivery, or the beginning of the payload
    #[arg(long, value_name = "TEXT", value_parser = values::text)]
    pub(crate) matching: Option<String>,
    #[command(flatten)]
    pub(crate) width: Width,
}

#[derive(Args, Debug)]
pub(crate) struct DeadArgs {
    /// The queue
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    /// Turn a dead letter into an item again, with all its deliveries ahead; `all` replays every
    /// one, and prints how many
    #[arg(long, value_name = "ID", value_parser = values::which, conflicts_with = "drop")]
    pub(crate) replay: Option<Which>,
    /// Delete a dead letter; `all` deletes every one, and prints how many
    #[arg(long, value_name = "ID", value_parser = values::which)]
    pub(crate) drop: Option<Which>,
    /// Only dead letters that contain this text: in the number, the group, a label (KEY=VALUE), the
    /// client that pushed it, the end of a delivery, or the beginning of the payload
    #[arg(long, value_name = "TEXT", value_parser = values::text)]
    pub(crate) matching: Option<String>,
    #[command(flatten)]
    pub(crate) width: Width,
}

#[derive(Args, Debug)]
pub(crate) struct QueueLimitArgs {
    /// The queue
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    /// How many items may be in work at once; 0 delivers nothing, `none` removes the limit
    #[arg(value_name = "N", value_parser = values::limit)]
    pub(crate) limit: Option<Most>,
    /// How many items of each group may be in work at once
    #[arg(long, value_name = "M", value_parser = values::limit)]
    pub(crate) group: Option<Most>,
}

#[derive(Args, Debug)]
pub(crate) struct QueuePauseArgs {
    /// The queue
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    /// The reason, shown to people
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true,
          value_parser = values::text)]
    pub(crate) reason: String,
}

#[derive(Args, Debug)]
pub(crate) struct QueueCancelArgs {
    /// The queue
    #[arg(value_parser = values::name)]
    pub(crate) name: Name,
    /// The item, as `push` printed it; `all` removes all that match, prints how many, and needs
    /// --state or --matching
    #[arg(value_parser = values::which)]
    pub(crate) id: Which,
    /// Only items in this state: ready, delayed or in-work (default: all three); dead letters go by
    /// `queue dead NAME --drop`
    #[arg(long, value_name = "STATE", value_parser = values::state())]
    pub(crate) state: Option<ItemState>,
    /// Only items that contain this text, as with `queue items`
    #[arg(long, value_name = "TEXT", value_parser = values::text)]
    pub(crate) matching: Option<String>,
}
