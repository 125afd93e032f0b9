//! The JSON that `queue … --json` prints.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use seinpaal::{ListedItem, ListedState, QueueSnapshot};
use serde::Serialize;

use super::{Labels, labels};
use crate::text::delivery_end;

/// Returns the state of a queue: `open`, `paused` or `unattended`.
#[must_use]
pub fn state(snapshot: &QueueSnapshot) -> &'static str {
    match snapshot.paused {
        Some(_) => "paused",
        None if snapshot.is_unattended() => "unattended",
        None => "open",
    }
}

/// One pushed item, as `queue push` prints it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PushedJson<'a> {
    /// The name of the queue.
    pub name: &'a str,
    /// The number of the item, by which its queue knows it.
    pub id: u64,
    /// Whether an item with the same key was there already. Then nothing was pushed.
    pub duplicate: bool,
}

/// The limits of a queue, as `queue limit` prints them.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = QueueLimits))]
pub struct Limits<'a> {
    /// The name of the queue.
    pub name: &'a str,
    /// How many items may be in work at once. `null`: any number.
    pub limit: Option<u32>,
    /// How many items of one group may be in work at once. `null`: any number.
    pub group_limit: Option<u32>,
}

/// The figures of a queue. `queue list` prints one queue a line.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = QueueRow))]
pub struct QueueJson<'a> {
    /// The name of the queue.
    name: &'a str,
    /// How many items can be worked on now.
    ready: u32,
    /// How many items are delayed until a later time.
    delayed: u32,
    /// How many items are in work.
    in_work: u32,
    /// How many items are dead letters, which no worker is given any more.
    dead: u32,
    /// How many items may be in work at once. `null`: any number.
    limit: Option<u32>,
    /// How many items of one group may be in work at once. `null`: any number.
    group_limit: Option<u32>,
    /// The age of the item that is delivered next, since its push, in milliseconds. `null`: no item
    /// can be delivered.
    oldest_ms: Option<u128>,
    /// Whether the queue gives out items: `open`, `paused` by an operator, or `unattended` if items
    /// are ready and nobody works on any.
    state: &'static str,
    /// The reason of the pause, which may be empty. `null`: the queue is not paused.
    pause_reason: Option<&'a str>,
}

impl<'a> QueueJson<'a> {
    /// Makes the row of a queue.
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
            pause_reason: snapshot.paused.as_deref(),
        }
    }
}

/// An item in a list. Listing an item does not deliver it. `queue items` and `queue dead` print one
/// item a line. Instants are in milliseconds since 1970, by the store's clock.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ListedItem))]
pub struct ItemJson<'a> {
    /// The number of the item, by which its queue knows it.
    id: u64,
    /// The state of the item: `ready`, `delayed`, `in-work` or `dead`.
    state: &'static str,
    /// How often the item was given to a worker.
    deliveries: u32,
    /// How often the item is given to a worker at most, before it is dead.
    most_deliveries: u32,
    /// Why the last delivery that ended failed, in a word or in the worker's words. It is empty if
    /// no delivery has ended.
    reason: &'a str,
    /// The priority, -100 to 100. A higher one is served sooner. It is 0 unless it was stated.
    priority: i8,
    /// The group of the item. `null`: it is in none.
    group: Option<&'a str>,
    /// The labels of the process that pushed the item, as an object of texts.
    labels: Labels<'a>,
    /// The machine on which the pushing process ran.
    host: &'a str,
    /// The number of that process on its machine.
    pid: u32,
    /// When the item was pushed, in milliseconds since 1970.
    pushed_at_ms: u128,
    /// When the item can be delivered, in milliseconds since 1970. `null`: it is not delayed.
    due_at_ms: Option<u128>,
    /// When the item died, in milliseconds since 1970. `null`: it is not dead.
    died_at_ms: Option<u128>,
    /// The worker that has the item. `null`: it is not in work.
    worker: Option<WorkerJson<'a>>,
    /// How the last deliveries of the item ended, the oldest first; at most eight.
    history: Vec<DeliveryEndJson<'a>>,
    /// The size of the payload in bytes.
    bytes: u32,
    /// The first 256 bytes of the payload, as text.
    payload: String,
}

/// The worker that has an item.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = ItemWorker))]
struct WorkerJson<'a> {
    /// The fence: the number of this delivery, which grows with each delivery of the queue.
    fence: u64,
    /// The name of the machine on which the process runs.
    host: &'a str,
    /// The number of the process on that machine.
    pid: u32,
    /// How long the worker has had the item, in milliseconds.
    worked_ms: u128,
    /// How long the lease still lasts without a renewal, in milliseconds. `null`: it lasts for as
    /// long as the process lives.
    valid_for_ms: Option<u128>,
}

/// How a delivery ended.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = DeliveryEnd))]
struct DeliveryEndJson<'a> {
    /// Which delivery of the item ended, from 1.
    attempt: u32,
    /// When the delivery ended, in milliseconds since 1970.
    at_ms: u128,
    /// Why the delivery ended, in a word or in the worker's words.
    reason: &'a str,
}

impl<'a> ItemJson<'a> {
    /// Makes the row of an item.
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
