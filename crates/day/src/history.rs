//! What happened: one line an event, in one file for all processes, each written before it is acted on.
//!
//! `who` of an event is a job, such as `redis/mix.17`, or the rig about a store, such as `redis/rig`.

use serde::{Deserialize, Serialize};
use torture::history;

use crate::{end::End, store::Store};

/// Something that happened.
pub type Event = history::Event<What>;

/// What can happen.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum What {
    /// A job is about to be started.
    Started(Start),
    /// It is known to stand in line at this name.
    Queued {
        /// Which name.
        name: String,
    },
    /// One of its other events, as it printed them.
    Told {
        /// Such as `lost`.
        event: String,
    },
    /// Its CMD is inside.
    Entered(Visit),
    /// Its CMD is about to end with this status; 128+n for signal n.
    Left {
        /// What CMD ends with.
        status: i32,
    },
    /// A CMD of a worker is about to end the delivery of an item.
    Delivered(Delivery),
    /// The job has ended.
    Ended {
        /// The exit status; 128+n for signal n.
        status: i32,
        /// All of stdout.
        out: String,
        /// All of stderr.
        err: String,
    },
    /// The job did not end for so long that it was killed.
    Hung,
    /// It is about to be killed (`SIGKILL`).
    Killing,
    /// It is about to be stopped for a while, or is told to go on.
    Stopped {
        /// Which of both.
        stopped: bool,
    },
    /// The store stops answering.
    OutageBegins,
    /// It answers again.
    OutageEnds,
    /// The machine was so busy that a look at the store, which takes no time, took more than a second.
    Slow {
        /// When the look began.
        from: u64,
    },
    /// Items were pushed, in this order.
    Pushed {
        /// Into this queue.
        queue: String,
        /// What they carry.
        payloads: Vec<String>,
    },
    /// A crate program was granted a permit, with so much left of what its lease lasts at most.
    Remaining {
        /// In thousandths.
        permille: u64,
    },
    /// A crate program, or somebody who looks, found something that must not be.
    Wrong {
        /// What.
        story: String,
    },
    /// Something is still there when all have gone.
    Remains {
        /// What.
        story: String,
    },
}

/// A job, and how it may end.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Start {
    /// The whole command.
    pub argv: Vec<String>,
    /// What it asks for, if it asks for a permit.
    pub ask: Option<Ask>,
    /// How it may end.
    pub ends: Vec<End>,
    /// Whether it gives up soon, and so may meet an outage that a patient one sits out.
    pub is_hurried: bool,
}

/// What a job asks for.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Ask {
    /// The name.
    pub name: String,
    /// How many permits exist.
    pub limit: u32,
    /// The priority.
    pub priority: i64,
}

/// A CMD inside.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Visit {
    /// What it holds.
    pub name: String,
    /// How much of it.
    pub permits: u32,
    /// The lowest slot, unless a script acquired.
    pub slot: Option<u32>,
    /// The fence, unless a script acquired.
    pub fence: Option<u64>,
    /// Its process.
    pub pid: u32,
}

/// An item in the hands of a CMD.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Delivery {
    /// The queue.
    pub queue: String,
    /// What the item carries.
    pub payload: String,
    /// The fence.
    pub fence: u64,
    /// What CMD ends with.
    pub status: i32,
}

/// The store of an event, or none if its line is not of a day.
#[must_use]
pub fn store_of(who: &str) -> Option<Store> {
    who.split_once('/')?.0.parse().ok()
}
