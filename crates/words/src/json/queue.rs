//! What `queue … --json` prints.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use seinpaal::{DeadLetter, QueueSnapshot};
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
    /// How long the next item has been ready, in milliseconds.
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

/// `queue dead`: one a line. Instants are in milliseconds since 1970, by the store's clock.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = DeadLetter))]
pub struct DeadLetterJson<'a> {
    /// The id of the item in its queue.
    id: u64,
    /// How often it was given to a worker.
    deliveries: u32,
    /// Why, in a word or the worker's words.
    reason: &'a str,
    /// The larger, the sooner; 0 unless stated.
    priority: i8,
    /// The group.
    group: Option<&'a str>,
    /// What the process says of itself.
    labels: Labels<'a>,
    /// The host of the process.
    host: &'a str,
    /// The id of the process.
    pid: u32,
    /// When it was pushed, in milliseconds since 1970.
    pushed_at_ms: u128,
    /// When it died, in milliseconds since 1970.
    died_at_ms: u128,
    /// How its deliveries ended.
    history: Vec<DeliveryEndJson<'a>>,
    /// The size of the payload in bytes.
    bytes: u32,
    /// The first 256 bytes, as text.
    payload: String,
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

impl<'a> DeadLetterJson<'a> {
    /// What is said of this dead letter.
    #[must_use]
    pub fn new(letter: &'a DeadLetter) -> Self {
        let history = letter.history.ends().iter().map(|past| DeliveryEndJson {
            attempt: past.attempt,
            at_ms: Duration::from_micros(past.at).as_millis(),
            reason: delivery_end(&past.ending),
        });
        Self {
            id: letter.id.0,
            deliveries: letter.attempt,
            reason: letter.history.ends().last().map_or("", |past| delivery_end(&past.ending)),
            priority: letter.priority,
            group: letter.group.as_deref(),
            labels: labels(&letter.pushed_by.labels),
            host: &letter.pushed_by.host,
            pid: letter.pushed_by.pid,
            pushed_at_ms: since_1970(letter.pushed_at),
            died_at_ms: since_1970(letter.died_at),
            history: history.collect(),
            bytes: letter.bytes,
            payload: String::from_utf8_lossy(&letter.payload).into_owned(),
        }
    }
}

fn since_1970(at: SystemTime) -> u128 {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()
}
