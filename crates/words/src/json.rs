//! What is said to programs: the JSON of `--json` and of the HTTP API. Scripts depend on every name
//! here.

mod guess;
pub mod queue;
mod shown;
mod why;

use std::collections::BTreeMap;

use seinpaal::{Kind, Slots, Snapshot};
use serde::Serialize;

pub use guess::Guess;
pub use shown::Shown;
pub use why::{Explained, ReasonJson};

const MOST_SLOTS: u32 = 65_536;

/// `open`, `paused` or `guarded`.
#[must_use]
pub fn state(snapshot: &Snapshot) -> &'static str {
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
#[must_use]
pub fn slots(slots: &Slots) -> Vec<u32> {
    if slots.count() > MOST_SLOTS { Vec::new() } else { slots.iter().collect() }
}

/// `acquire`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Acquired<'a> {
    /// The name.
    pub name: &'a str,
    /// The id of the request, 32 hexadecimal digits.
    pub ticket: String,
    /// Grows with each grant of a name: what the resource compares.
    pub fence: u64,
    /// Which of the permits, from 0; empty if there are more than 65 536.
    pub slots: Vec<u32>,
    /// What these slots are called; left out where they have no names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slot_names: Vec<String>,
    /// How many permits.
    pub permits: u32,
    /// How many may hold at once.
    pub limit: u32,
    /// How long the lease still lasts, in milliseconds; `null`: for as long as the holder's process
    /// lives.
    pub valid_for_ms: Option<u128>,
}

/// `renew`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Renewed<'a> {
    /// The name.
    pub name: &'a str,
    /// The id of the request, 32 hexadecimal digits.
    pub ticket: String,
    /// How long the lease still lasts, in milliseconds; `null`: for as long as the holder's process
    /// lives.
    pub valid_for_ms: Option<u128>,
}

/// `limit`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LimitJson<'a> {
    /// The name.
    pub name: &'a str,
    /// How many may hold at once.
    pub limit: u32,
}

/// `list`: one a line.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NameRow))]
pub struct NameJson<'a> {
    /// The name.
    name: &'a str,
    /// `mutex` or `rwlock`; left out for a semaphore.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// How many may hold at once.
    limit: u32,
    /// How many permits are held.
    permits_held: u32,
    /// How many permits are free.
    available: u32,
    /// `open`, `paused` or `guarded`.
    state: &'static str,
    /// How many requests wait.
    waiting: u32,
    /// How long the one has waited that waits longest, in milliseconds.
    oldest_wait_ms: Option<u128>,
}

impl<'a> NameJson<'a> {
    /// What is said of this name.
    #[must_use]
    pub fn new(snapshot: &'a Snapshot) -> Self {
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

/// An object; of a label given twice the last.
type Labels<'a> = BTreeMap<&'a str, &'a str>;

pub(crate) fn labels(pairs: &[(String, String)]) -> Labels<'_> {
    pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
}
