//! What `queue … --json` prints.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use seinpaal::{ListedItem, ListedState, QueueSnapshot};
use serde::Serialize;

use super::{Labels, labels};
use crate::text::delivery_end;

/// `open`, `paused` or `unattended`.
#[must_use]
pub fn state(snapshot: &QueueSnapshot) -> &'static str {
    match snapshot.paused {
        Some(_) => "paused",
        None if snapshot.is_unattended() => "unattended",
        None => "open",
    }
}

/// `queue push`: one an item.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PushedJson<'a> {
    /// The name.
    pub name: &'a str,
    /// The id of the item in its queue.
    pub id: u64,
    /// Whether an item with the same key was there already; nothing was pushed then.
    pub duplicate: bool,
}

/// `queue limit`. `null`: any number.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = QueueLimits))]
pub struct Limits<'a> {
    /// The name.
    pub name: &'a str,
    /// How many items may be in work at once; `null`: any number.
    pub limit: Option<u32>,
    /// How many items of one group may be in work at once; `null`: any number.
    pub group_limit: Option<u32>,
}

/// `queue show`, and `queue list`: one a line.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = QueueRow))]
pub struct QueueJson<'a> {
    /// The name.
    name: &'a str,
    /// Items that can be worked on now.
    ready: u32,
    /// Items whose time has not come.
    delayed: u32,
    /// Items that somebody works on.
    in_work: u32,
    /// Items that nobody is given any more.
    dead: u32,
    /// How many items may be in work at once; `null`: any number.
    limit: Option<u32>,
    /// How many items of one group may be in work at once; `null`: any number.
    group_limit: Option<u32>,
    /// How long ago the item was pushed that is next, in milliseconds; `null` if none can be
    /// delivered.
    oldest_ms: Option<u128>,
    /// `open`, `paused` or `unattended`: items are ready and nobody works on them.
    state: &'static str,
}

impl<'a> QueueJson<'a> {
    /// What is said of this queue.
    #[must_use]
    pub fn new(snapshot: &'a QueueSnapshot) -> Self {
        Self {
            name: &snapshot.name,
            ready: snapshot.ready,
            delayed: snapshot.delayed,
            in_work: snapshot.in_work,
            dead: snapshot.dead,
            limit: snapshot.limit,
            group_limit: snapshot.group_limit,
            oldest_ms: snapshot.oldest.map(|oldest| oldest.as_millis()),
            state: state(snapshot),
        }
    }
}

/// `queue items` and `queue dead`: one a line. Instants are in milliseconds since 1970, by the
/// store's clock.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ListedItem))]
pub struct ItemJson<'a> {
    /// The id of the item in its queue.
    id: u64,
    /// `ready`, `delayed`, `in-work` or `dead`.
    state: &'static str,
    /// How often it was given to a worker.
    deliveries: u32,
    /// How often it is given to a worker at most.
    most_deliveries: u32,
    /// Why the last delivery that ended was no success, in a word or the worker's words; empty if
    /// none has ended.
    reason: &'a str,
    /// The larger, the sooner; 0 unless stated.
    priority: i8,
    /// The group.
    group: Option<&'a str>,
    /// What the process that pushed it says of it.
    labels: Labels<'a>,
    /// The host of the process that pushed it.
    host: &'a str,
    /// The id of the process that pushed it.
    pid: u32,
    /// When it was pushed, in milliseconds since 1970.
    pushed_at_ms: u128,
    /// When it can be delivered, in milliseconds since 1970; `null` unless it is delayed.
    due_at_ms: Option<u128>,
    /// When it died, in milliseconds since 1970; `null` unless it is dead.
    died_at_ms: Option<u128>,
    /// Who works on it; `null` unless it is in work.
    worker: Option<WorkerJson<'a>>,
    /// How its deliveries ended.
    history: Vec<DeliveryEndJson<'a>>,
    /// The size of the payload in bytes.
    bytes: u32,
    /// The first 256 bytes, as text.
    payload: String,
}

/// Who works on an item.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = ItemWorker))]
struct WorkerJson<'a> {
    /// The number of the delivery.
    fence: u64,
    /// The host of the process.
    host: &'a str,
    /// The id of the process.
    pid: u32,
    /// For how long, in milliseconds.
    worked_ms: u128,
    /// How long the lease lasts without renewal, in milliseconds; `null`: as long as the process
    /// lives.
    valid_for_ms: Option<u128>,
}

/// How a delivery ended.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = DeliveryEnd))]
struct DeliveryEndJson<'a> {
    /// Which delivery, from 1.
    attempt: u32,
    /// When, in milliseconds since 1970.
    at_ms: u128,
    /// Why, in a word or the worker's words.
    reason: &'a str,
}

impl<'a> ItemJson<'a> {
    /// What is said of this item.
    #[must_use]
    pub fn new(item: &'a ListedItem) -> Self {
        let history = item.history.ends().iter().map(|past| DeliveryEndJson {
            attempt: past.attempt,
            at_ms: Duration::from_micros(past.at).as_millis(),
            reason: delivery_end(&past.ending),
        });
        Self {
            id: item.id.0,
            state: item.state.state().word(),
            deliveries: item.attempt,
            most_deliveries: item.deliveries,
            reason: item.history.ends().last().map_or("", |past| delivery_end(&past.ending)),
            priority: item.priority,
            group: item.group.as_deref(),
            labels: labels(&item.pushed_by.labels),
            host: &item.pushed_by.host,
            pid: item.pushed_by.pid,
            pushed_at_ms: since_1970(item.pushed_at),
            due_at_ms: match item.state {
                ListedState::Delayed { due_at } => Some(since_1970(due_at)),
                _ => None,
            },
            died_at_ms: match item.state {
                ListedState::Dead { died_at } => Some(since_1970(died_at)),
                _ => None,
            },
            worker: WorkerJson::of(&item.state),
            history: history.collect(),
            bytes: item.bytes,
            payload: String::from_utf8_lossy(&item.payload).into_owned(),
        }
    }
}

impl<'a> WorkerJson<'a> {
    fn of(state: &'a ListedState) -> Option<Self> {
        let ListedState::InWork { fence, worker, worked_for, valid_for } = state else {
            return None;
        };
        Some(Self {
            fence: fence.0,
            host: &worker.host,
            pid: worker.pid,
            worked_ms: worked_for.as_millis(),
            valid_for_ms: valid_for.map(|left| left.as_millis()),
        })
    }
}

fn since_1970(at: SystemTime) -> u128 {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()
}
