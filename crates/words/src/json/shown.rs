//! The JSON of `show`: a name with its holders and waiters.

use std::time::Duration;

use seinpaal::{Holder, SlotNames, Slots, Snapshot, Waiter, why::Estimate};
use serde::Serialize;

use super::{EstimateJson, Labels, kind, labels, slots, state};

/// A name with its holders and waiters, as `show` prints it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Shown<'a> {
    /// The name of the semaphore, lock or queue.
    name: &'a str,
    /// The kind of the name: `mutex` or `rwlock`. The field is left out for a semaphore.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// The limit: how many permits there are.
    limit: u32,
    /// The names of the slots, from slot 0 up. The field is left out where slots have no names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slot_names: Vec<&'a str>,
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
    /// The remaining time of the restart guard, in milliseconds. Until it ends the store admits
    /// nobody, because it may have forgotten leases. The field is left out where no guard is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    guarded_for_ms: Option<u128>,
    /// The holders, in the order of their grants.
    holders: Vec<HolderJson<'a>>,
    /// The waiters, in the order in which they will be served.
    waiters: Vec<WaiterJson<'a>>,
}

/// A holder.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
struct HolderJson<'a> {
    /// The ticket: the id of the request, in 32 hexadecimal digits.
    ticket: String,
    /// The slots of these permits, which are numbers from 0 up. The list is empty if they are more
    /// than 65 536.
    slots: Vec<u32>,
    /// The names of these slots, in their order. The field is left out where slots have no names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slot_names: Vec<String>,
    /// How many permits the ticket holds or wants.
    permits: u32,
    /// The fence: a number that grows with each grant of the name. Give it to the resource, which
    /// refuses a lower one than it has seen.
    fence: u64,
    /// What the process says that it is, such as `seinpaal run`.
    client: &'a str,
    /// The name of the machine on which the process runs.
    host: &'a str,
    /// The number of the process on that machine.
    pid: u32,
    /// The labels that the process gave, as an object of texts.
    labels: Labels<'a>,
    /// How long the ticket has held, in milliseconds.
    held_ms: u128,
    /// How long the lease still lasts without a renewal, in milliseconds. `null`: it lasts for as
    /// long as the holder's process lives.
    valid_for_ms: Option<u128>,
    /// The time since the last renewal of the lease, in milliseconds, if a living holder would have
    /// renewed it since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_renewed_ms: Option<u128>,
}

/// A waiter.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
struct WaiterJson<'a> {
    /// The ticket: the id of the request, in 32 hexadecimal digits.
    ticket: String,
    /// The place in line, from 1 for the request that is served next.
    position: usize,
    /// How many permits the ticket holds or wants.
    permits: u32,
    /// The names of the slots that the request waits for. The field is left out if any slot will
    /// do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slot_names: Vec<String>,
    /// The priority, -100 to 100. A higher one is served sooner. It is 0 unless it was stated.
    priority: i8,
    /// What the process says that it is, such as `seinpaal run`.
    client: &'a str,
    /// The name of the machine on which the process runs.
    host: &'a str,
    /// The number of the process on that machine.
    pid: u32,
    /// The labels that the process gave, as an object of texts.
    labels: Labels<'a>,
    /// How long the request has waited, in milliseconds.
    waiting_ms: u128,
    /// When the request is served, as far as can be told.
    estimate: EstimateJson,
}

impl<'a> Shown<'a> {
    /// Makes the JSON of a name with all its holders and waiters.
    #[must_use]
    pub fn new(snapshot: &'a Snapshot) -> Self {
        let (estimates, names) = (snapshot.estimates(), &snapshot.slot_names);
        let waiters = snapshot.waiters.iter().zip(1..).zip(&estimates);
        Self {
            name: &snapshot.name,
            kind: kind(snapshot),
            limit: snapshot.limit,
            permits_held: snapshot.permits_held,
            available: snapshot.available(),
            state: state(snapshot),
            pause_reason: snapshot.paused.as_deref(),
            limit_is_set: snapshot.is_pinned,
            guarded_for_ms: snapshot.guarded_for.map(|left| left.as_millis()),
            slot_names: names.iter().collect(),
            holders: snapshot.holders.iter().map(|row| HolderJson::new(row, names)).collect(),
            waiters: waiters.map(|(row, estimate)| WaiterJson::new(row, names, estimate)).collect(),
        }
    }
}

impl<'a> HolderJson<'a> {
    fn new(holder: &'a Holder, names: &SlotNames) -> Self {
        Self {
            ticket: holder.ticket.to_string(),
            slots: slots(&holder.slots),
            slot_names: named(names, &holder.slots),
            permits: holder.slots.count(),
            fence: holder.fence.0,
            client: &holder.about.client,
            host: &holder.about.host,
            pid: holder.about.pid,
            labels: labels(&holder.about.labels),
            held_ms: holder.held_for.as_millis(),
            valid_for_ms: holder.valid_for.map(|left: Duration| left.as_millis()),
            not_renewed_ms: holder.not_renewed_for().map(|since| since.as_millis()),
        }
    }
}

impl<'a> WaiterJson<'a> {
    fn new(
        (waiter, position): (&'a Waiter, usize),
        names: &SlotNames,
        estimate: &Estimate,
    ) -> Self {
        Self {
            ticket: waiter.ticket.to_string(),
            position,
            permits: waiter.permits,
            slot_names: named(names, &waiter.wishes),
            priority: waiter.priority,
            client: &waiter.about.client,
            host: &waiter.about.host,
            pid: waiter.about.pid,
            labels: labels(&waiter.about.labels),
            waiting_ms: waiter.waiting_for.as_millis(),
            estimate: EstimateJson::new(estimate),
        }
    }
}

fn named(names: &SlotNames, slots: &Slots) -> Vec<String> {
    names.of(slots).iter().map(str::to_owned).collect()
}
