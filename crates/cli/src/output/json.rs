//! What `--json` prints. Scripts depend on every name here.

pub(crate) mod queue;
pub(crate) mod why;

use std::{collections::BTreeMap, time::Duration};

use seinpaal::{Holder, Kind, Slots, Snapshot, Waiter};
use serde::Serialize;

const MOST_SLOTS: u32 = 65_536;

/// One object on one line.
pub(crate) fn line(object: &impl Serialize) -> String {
    // Maps with other keys than text, which alone cannot be written, stand nowhere here.
    let text = serde_json::to_string(object).unwrap_or_default();
    format!("{text}\n")
}

/// `open`, `paused` or `guarded`.
pub(crate) fn state(snapshot: &Snapshot) -> &'static str {
    match (&snapshot.paused, snapshot.guarded_for) {
        (Some(_), _) => "paused",
        (None, Some(_)) => "guarded",
        (None, None) => "open",
    }
}

/// What a lock is called that is no semaphore.
fn kind(snapshot: &Snapshot) -> Option<&'static str> {
    match snapshot.kind? {
        Kind::Semaphore => None,
        Kind::Mutex => Some("mutex"),
        Kind::RwLock => Some("rwlock"),
    }
}

/// Slots, unless they are more than anybody reads: a writer has a million.
pub(crate) fn slots(slots: &Slots) -> Vec<u32> {
    if slots.count() > MOST_SLOTS { Vec::new() } else { slots.iter().collect() }
}

/// `acquire`.
#[derive(Debug, Serialize)]
pub(crate) struct Acquired<'a> {
    pub(crate) name: &'a str,
    pub(crate) ticket: String,
    pub(crate) fence: u64,
    pub(crate) slots: Vec<u32>,
    pub(crate) permits: u32,
    pub(crate) limit: u32,
    pub(crate) valid_for_ms: Option<u128>,
}

/// `doctor`. An outage is `null` where a permit lasts as long as its process.
#[derive(Debug, Serialize)]
pub(crate) struct Doctor<'a> {
    pub(crate) store: String,
    pub(crate) facts: BTreeMap<&'static str, &'a str>,
    pub(crate) connected_in_ms: f64,
    pub(crate) round_trip_ms: f64,
    pub(crate) longest_round_trip_ms: f64,
    pub(crate) ttl_ms: f64,
    pub(crate) survives_any_outage_ms: Option<f64>,
    pub(crate) survives_some_outages_ms: Option<f64>,
    pub(crate) advice: Vec<Advised<'a>>,
}

/// One thing to change.
#[derive(Debug, Serialize)]
pub(crate) struct Advised<'a> {
    pub(crate) is_risk: bool,
    pub(crate) text: &'a str,
}

/// A row of `bench`.
#[derive(Debug, Serialize)]
pub(crate) struct Measured<'a> {
    pub(crate) what: &'a str,
    pub(crate) tasks: usize,
    pub(crate) names: usize,
    pub(crate) pairs: usize,
    pub(crate) seconds: f64,
    pub(crate) pairs_per_second: f64,
    pub(crate) p50_us: Option<u128>,
    pub(crate) p99_us: Option<u128>,
    pub(crate) max_us: Option<u128>,
}

/// `renew`.
#[derive(Debug, Serialize)]
pub(crate) struct Renewed<'a> {
    pub(crate) name: &'a str,
    pub(crate) ticket: String,
    pub(crate) valid_for_ms: Option<u128>,
}

/// `limit`.
#[derive(Debug, Serialize)]
pub(crate) struct Limit<'a> {
    pub(crate) name: &'a str,
    pub(crate) limit: u32,
}

/// `list`: one a line.
#[derive(Debug, Serialize)]
pub(crate) struct Row<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    limit: u32,
    permits_held: u32,
    available: u32,
    state: &'static str,
    waiting: u32,
    oldest_wait_ms: Option<u128>,
}

impl<'a> Row<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        Self {
            name: &snapshot.name,
            kind: kind(snapshot),
            limit: snapshot.limit,
            permits_held: snapshot.permits_held,
            available: snapshot.available(),
            state: state(snapshot),
            waiting: snapshot.waiting_total,
            oldest_wait_ms: snapshot.oldest_wait().map(|wait| wait.as_millis()),
        }
    }
}

/// `show`.
#[derive(Debug, Serialize)]
pub(crate) struct Shown<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    limit: u32,
    permits_held: u32,
    available: u32,
    state: &'static str,
    /// Left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    guarded_for_ms: Option<u128>,
    holders: Vec<HolderRow<'a>>,
    waiters: Vec<WaiterRow<'a>>,
}

#[derive(Debug, Serialize)]
struct HolderRow<'a> {
    ticket: String,
    slots: Vec<u32>,
    permits: u32,
    fence: u64,
    host: &'a str,
    pid: u32,
    labels: Labels<'a>,
    held_ms: u128,
    /// `null`: for as long as the holder's process lives.
    valid_for_ms: Option<u128>,
}

#[derive(Debug, Serialize)]
struct WaiterRow<'a> {
    ticket: String,
    position: usize,
    permits: u32,
    priority: i8,
    host: &'a str,
    pid: u32,
    labels: Labels<'a>,
    waiting_ms: u128,
}

/// An object; of a label given twice the last.
type Labels<'a> = std::collections::BTreeMap<&'a str, &'a str>;

impl<'a> Shown<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        let waiters = snapshot.waiters.iter().enumerate();
        Self {
            name: &snapshot.name,
            kind: kind(snapshot),
            limit: snapshot.limit,
            permits_held: snapshot.permits_held,
            available: snapshot.available(),
            state: state(snapshot),
            guarded_for_ms: snapshot.guarded_for.map(|left| left.as_millis()),
            holders: snapshot.holders.iter().map(HolderRow::new).collect(),
            waiters: waiters.map(|(at, waiter)| WaiterRow::new(waiter, at + 1)).collect(),
        }
    }
}

impl<'a> HolderRow<'a> {
    fn new(holder: &'a Holder) -> Self {
        Self {
            ticket: holder.ticket.to_string(),
            slots: slots(&holder.slots),
            permits: holder.slots.count(),
            fence: holder.fence.0,
            host: &holder.about.host,
            pid: holder.about.pid,
            labels: labels(&holder.about.labels),
            held_ms: holder.held_for.as_millis(),
            valid_for_ms: holder.valid_for.map(|left: Duration| left.as_millis()),
        }
    }
}

impl<'a> WaiterRow<'a> {
    fn new(waiter: &'a Waiter, position: usize) -> Self {
        Self {
            ticket: waiter.ticket.to_string(),
            position,
            permits: waiter.permits,
            priority: waiter.priority,
            host: &waiter.about.host,
            pid: waiter.about.pid,
            labels: labels(&waiter.about.labels),
            waiting_ms: waiter.waiting_for.as_millis(),
        }
    }
}

fn labels(pairs: &[(String, String)]) -> Labels<'_> {
    pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
}
