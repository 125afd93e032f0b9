//! The JSON that programs read: the rows of `--json` and of the HTTP API. Scripts depend on every
//! name here.

mod estimate;
pub mod queue;
mod shown;
mod why;

use std::collections::BTreeMap;

use seinpaal::{Kind, Slots, Snapshot};
use serde::Serialize;

pub use estimate::EstimateJson;
pub use shown::Shown;
pub use why::{Explained, ReasonJson};

const MOST_SLOTS: u32 = 65_536;

/// Returns the state of a name: `open`, `closed` by a limit of 0, `paused` or `guarded`.
#[must_use]
pub fn state(snapshot: &Snapshot) -> &'static str {
    match (&snapshot.paused, snapshot.guarded_for) {
        (Some(_), _) => "paused",
        (None, Some(_)) => "guarded",
        (None, None) if snapshot.limit == 0 => "closed",
        (None, None) => "open",
    }
}

/// Returns the kind of a lock, `mutex` or `rwlock`, and `None` for a semaphore.
fn kind(snapshot: &Snapshot) -> Option<&'static str> {
    match snapshot.kind? {
        Kind::Semaphore => None,
        Kind::Mutex => Some("mutex"),
        Kind::RwLock => Some("rwlock"),
    }
}

/// Lists slots, or nothing if there are more than anybody reads: a writer has a million.
#[must_use]
pub fn slots(slots: &Slots) -> Vec<u32> {
    if slots.count() > MOST_SLOTS { Vec::new() } else { slots.iter().collect() }
}

/// The permits that were granted, as `acquire` prints them.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Acquired<'a> {
    /// The name of the semaphore, lock or queue.
    pub name: &'a str,
    /// The ticket: the id of the request, in 32 hexadecimal digits.
    pub ticket: String,
    /// The fence: a number that grows with each grant of the name. Give it to the resource, which
    /// refuses a lower one than it has seen.
    pub fence: u64,
    /// The slots of these permits, which are numbers from 0 up. The list is empty if they are more
    /// than 65 536.
    pub slots: Vec<u32>,
    /// The names of these slots, in their order. The field is left out where slots have no names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slot_names: Vec<String>,
    /// How many permits the ticket holds or wants.
    pub permits: u32,
    /// The limit: how many permits there are.
    pub limit: u32,
    /// How long the lease still lasts without a renewal, in milliseconds. `null`: it lasts for as
    /// long as the holder's process lives.
    pub valid_for_ms: Option<u128>,
}

/// A lease that was renewed, as `renew` prints it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Renewed<'a> {
    /// The name of the semaphore, lock or queue.
    pub name: &'a str,
    /// The ticket: the id of the request, in 32 hexadecimal digits.
    pub ticket: String,
    /// How long the lease still lasts without a renewal, in milliseconds. `null`: it lasts for as
    /// long as the holder's process lives.
    pub valid_for_ms: Option<u128>,
}

/// The limit of a name, as `limit` prints it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LimitJson<'a> {
    /// The name of the semaphore, lock or queue.
    pub name: &'a str,
    /// The limit: how many permits there are.
    pub limit: u32,
    /// The names of the slots, from slot 0 up. The field is left out where slots have no names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slot_names: Vec<&'a str>,
}

/// The figures of a name in a list. `list` prints one name a line.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NameRow))]
pub struct NameJson<'a> {
    /// The name of the semaphore, lock or queue.
    name: &'a str,
    /// The kind of the name: `mutex` or `rwlock`. The field is left out for a semaphore.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// The limit: how many permits there are.
    limit: u32,
    /// How many permits are held now.
    permits_held: u32,
    /// How many permits are free now.
    available: u32,
    /// Whether the name admits anybody: `open`, `closed` by a limit of 0, `paused` by an operator,
    /// or `guarded`, while the store may have forgotten leases.
    state: &'static str,
    /// The reason of the pause, which may be empty. `null`: the name is not paused.
    pause_reason: Option<&'a str>,
    /// Whether an operator has set the limit.
    limit_is_set: bool,
    /// How many requests wait in line.
    waiting: u32,
    /// The wait so far of the request that has waited longest, in milliseconds. `null`: none waits.
    oldest_wait_ms: Option<u128>,
}

impl<'a> NameJson<'a> {
    /// Makes the row of a name.
    #[must_use]
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self {
            name: &snapshot.name,
            kind: kind(snapshot),
            limit: snapshot.limit,
            permits_held: snapshot.permits_held,
            available: snapshot.available(),
            state: state(snapshot),
            pause_reason: snapshot.paused.as_deref(),
            limit_is_set: snapshot.is_pinned,
            waiting: snapshot.waiting_total,
            oldest_wait_ms: snapshot.oldest_wait().map(|wait| wait.as_millis()),
        }
    }
}

/// The labels as an object. If a label was given twice, the last value counts.
type Labels<'a> = BTreeMap<&'a str, &'a str>;

pub(crate) fn labels(pairs: &[(String, String)]) -> Labels<'_> {
    pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
}
