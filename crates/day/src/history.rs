//! The history: one line for each event, in one file for all processes. A process writes the line
//! before it acts on the event.
//!
//! `who` of an event is a job, such as `redis/mix.17`, or the rig about a store, such as
//! `redis/rig`.

use serde::{Deserialize, Serialize};
use torture::history;

use crate::{end::PossibleEnd, store::StoreSetting};

/// Something that happened.
pub type DayEvent = history::HistoryEvent<DayWhat>;

/// What can happen.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum DayWhat {
    /// A job is about to be started.
    Started(JobStart),
    /// The job is known to stand in line at this name.
    Queued {
        /// Which name.
        name: String,
    },
    /// The job printed another event.
    Told {
        /// The event's name, such as `lost`.
        event: String,
    },
    /// The job's CMD is inside.
    Entered(CmdVisit),
    /// The job's CMD is about to end with this status, 128+n for signal n.
    Left {
        /// The status.
        status: i32,
    },
    /// A CMD of a worker is about to end the delivery of an item.
    Delivered(DeliveryToCmd),
    /// The job has ended.
    Ended {
        /// The exit status; 128+n for signal n.
        status: i32,
        /// All of stdout.
        out: String,
        /// All of stderr.
        err: String,
    },
    /// The job was killed because it did not end in time.
    Hung,
    /// The job is about to be killed (`SIGKILL`).
    Killing,
    /// The job is about to be stopped for a while, or is told to go on.
    Stopped {
        /// Whether it is stopped.
        stopped: bool,
    },
    /// The store stops answering.
    OutageBegins,
    /// The store answers again.
    OutageEnds,
    /// The machine was very busy: a look at the store, which takes no time otherwise, took more
    /// than a second.
    Slow {
        /// When the look began.
        from: u64,
    },
    /// Items were pushed, in this order.
    Pushed {
        /// The queue.
        queue: String,
        /// The payloads.
        payloads: Vec<String>,
    },
    /// A program that uses the crate was granted a permit, with this share of the longest lease
    /// left.
    Remaining {
        /// The share, in thousandths.
        permille: u64,
    },
    /// A program that uses the crate, or an observer, found something that must not be.
    Wrong {
        /// The finding.
        story: String,
    },
    /// Something remains at the store after all jobs have ended.
    Remains {
        /// What remains.
        story: String,
    },
}

/// A job, and how it may end.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct JobStart {
    /// The whole command.
    pub argv: Vec<String>,
    /// The permits that it asks for, if it asks for any.
    pub want: Option<JobWant>,
    /// The ways in which it may end.
    pub ends: Vec<PossibleEnd>,
    /// Whether the job gives up soon. Such a job can meet an outage that a patient job sits out.
    pub is_hurried: bool,
}

/// What a job asks for.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct JobWant {
    /// The name.
    pub name: String,
    /// How many permits exist.
    pub limit: u32,
    /// The priority.
    pub priority: i64,
}

/// A CMD inside.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct CmdVisit {
    /// The name that it holds.
    pub name: String,
    /// How many permits it holds.
    pub permits: u32,
    /// The lowest slot. A script that acquired cannot tell.
    pub slot: Option<u32>,
    /// The fence. A script that acquired cannot tell.
    pub fence: Option<u64>,
    /// The process.
    pub pid: u32,
}

/// An item in the hands of a CMD.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct DeliveryToCmd {
    /// The queue.
    pub queue: String,
    /// The item's payload.
    pub payload: String,
    /// The fence.
    pub fence: u64,
    /// The status that CMD ends with.
    pub status: i32,
}

/// The store of an event. `None` if the line is not one of a day.
#[must_use]
pub fn store_of(who: &str) -> Option<StoreSetting> {
    who.split_once('/')?.0.parse().ok()
}
