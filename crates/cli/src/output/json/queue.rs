//! What `queue … --json` prints.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use seinpaal::{DeadLetter, QueueSnapshot};
use seinpaal_words::text::delivery_end;
use serde::Serialize;

use super::{Labels, labels};

/// `open`, `paused` or `unattended`.
pub(crate) fn state(snapshot: &QueueSnapshot) -> &'static str {
    match snapshot.paused {
        Some(_) => "paused",
        None if snapshot.is_unattended() => "unattended",
        None => "open",
    }
}

/// `queue push`: one an item.
#[derive(Debug, Serialize)]
pub(crate) struct Pushed<'a> {
    pub(crate) name: &'a str,
    pub(crate) id: u64,
    pub(crate) duplicate: bool,
}

/// `queue limit`. `null`: any number.
#[derive(Debug, Serialize)]
pub(crate) struct Limits<'a> {
    pub(crate) name: &'a str,
    pub(crate) limit: Option<u32>,
    pub(crate) group_limit: Option<u32>,
}

/// `queue show`, and `queue list`: one a line.
#[derive(Debug, Serialize)]
pub(crate) struct Row<'a> {
    name: &'a str,
    ready: u32,
    delayed: u32,
    in_work: u32,
    dead: u32,
    limit: Option<u32>,
    group_limit: Option<u32>,
    oldest_ms: Option<u128>,
    state: &'static str,
}

impl<'a> Row<'a> {
    pub(crate) fn new(snapshot: &'a QueueSnapshot) -> Self {
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
pub(crate) struct Dead<'a> {
    id: u64,
    deliveries: u32,
    reason: &'a str,
    priority: i8,
    group: Option<&'a str>,
    labels: Labels<'a>,
    host: &'a str,
    pid: u32,
    pushed_at_ms: u128,
    died_at_ms: u128,
    history: Vec<End<'a>>,
    bytes: u32,
    /// The first 256 bytes, as text.
    payload: String,
}

#[derive(Debug, Serialize)]
struct End<'a> {
    attempt: u32,
    at_ms: u128,
    reason: &'a str,
}

impl<'a> Dead<'a> {
    pub(crate) fn new(letter: &'a DeadLetter) -> Self {
        let history = letter.history.ends().iter().map(|past| End {
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
