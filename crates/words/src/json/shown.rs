//! What `show` says: a name with its holders and waiters.

use std::time::Duration;

use seinpaal::{HandOverAsk, Holder, SlotNames, Slots, Snapshot, Waiter, why::Estimate};
use serde::Serialize;

use super::{Guess, Labels, kind, labels, slots, state};

/// `show`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Shown<'a> {
    /// The name.
    name: &'a str,
    /// `mutex` or `rwlock`; left out for a semaphore.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// How many may hold at once.
    limit: u32,
    /// What the slots are called, from slot 0 up; left out where they have no names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slot_names: Vec<&'a str>,
    /// How many permits are held.
    permits_held: u32,
    /// How many permits are free.
    available: u32,
    /// `open`, `paused` or `guarded`.
    state: &'static str,
    /// Left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    guarded_for_ms: Option<u128>,
    /// The holders, in the order of their grants.
    holders: Vec<HolderJson<'a>>,
    /// The waiters, in the order in which they will be served.
    waiters: Vec<WaiterJson<'a>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
struct HolderJson<'a> {
    /// The id of the request, 32 hexadecimal digits.
    ticket: String,
    /// Which of the permits, from 0; empty if there are more than 65 536.
    slots: Vec<u32>,
    /// What these slots are called; left out where they have no names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slot_names: Vec<String>,
    /// How many permits.
    permits: u32,
    /// Grows with each grant of a name: what the resource compares.
    fence: u64,
    /// The host of the process.
    host: &'a str,
    /// The id of the process.
    pid: u32,
    /// What the process says of itself.
    labels: Labels<'a>,
    /// For how long it has held, in milliseconds.
    held_ms: u128,
    /// `null`: for as long as the holder's process lives.
    valid_for_ms: Option<u128>,
    /// How long ago its lease was renewed, in milliseconds, if a holder that lives would have
    /// renewed it since.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_renewed_ms: Option<u128>,
    /// The asks to hand over, the oldest first. Left out if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    asked: Vec<AskedRow<'a>>,
}

/// Somebody asked a holder to hand over.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
struct AskedRow<'a> {
    /// Who.
    by: &'a str,
    /// Why.
    reason: &'a str,
    /// How long ago, in milliseconds.
    ago_ms: u128,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
struct WaiterJson<'a> {
    /// The id of the request, 32 hexadecimal digits.
    ticket: String,
    /// The place in line, from 1.
    position: usize,
    /// How many permits.
    permits: u32,
    /// The names of the slots that it waits for; left out where any will do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slot_names: Vec<String>,
    /// The larger, the sooner; 0 unless stated.
    priority: i8,
    /// The host of the process.
    host: &'a str,
    /// The id of the process.
    pid: u32,
    /// What the process says of itself.
    labels: Labels<'a>,
    /// For how long it has waited, in milliseconds.
    waiting_ms: u128,
    /// When it is served, as far as can be told.
    estimate: Guess,
}

impl<'a> Shown<'a> {
    /// What is said of this name, and of all who hold and wait.
    #[must_use]
    pub fn new(snapshot: &'a Snapshot) -> Self {
        let (guesses, names) = (snapshot.estimates(), &snapshot.slot_names);
        let waiters = snapshot.waiters.iter().zip(1..).zip(&guesses);
        Self {
            name: &snapshot.name,
            kind: kind(snapshot),
            limit: snapshot.limit,
            permits_held: snapshot.permits_held,
            available: snapshot.available(),
            state: state(snapshot),
            guarded_for_ms: snapshot.guarded_for.map(|left| left.as_millis()),
            slot_names: names.iter().collect(),
            holders: snapshot.holders.iter().map(|row| HolderJson::new(row, names)).collect(),
            waiters: waiters.map(|(row, guess)| WaiterJson::new(row, names, guess)).collect(),
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
            host: &holder.about.host,
            pid: holder.about.pid,
            labels: labels(&holder.about.labels),
            held_ms: holder.held_for.as_millis(),
            valid_for_ms: holder.valid_for.map(|left: Duration| left.as_millis()),
            not_renewed_ms: holder.not_renewed_for().map(|since| since.as_millis()),
            asked: holder.asks.iter().map(AskedRow::new).collect(),
        }
    }
}

impl<'a> AskedRow<'a> {
    fn new((ask, ago): &'a (HandOverAsk, Duration)) -> Self {
        Self { by: ask.by(), reason: ask.reason(), ago_ms: ago.as_millis() }
    }
}

impl<'a> WaiterJson<'a> {
    fn new((waiter, position): (&'a Waiter, usize), names: &SlotNames, guess: &Estimate) -> Self {
        Self {
            ticket: waiter.ticket.to_string(),
            position,
            permits: waiter.permits,
            slot_names: named(names, &waiter.wishes),
            priority: waiter.priority,
            host: &waiter.about.host,
            pid: waiter.about.pid,
            labels: labels(&waiter.about.labels),
            waiting_ms: waiter.waiting_for.as_millis(),
            estimate: Guess::new(guess),
        }
    }
}

fn named(names: &SlotNames, slots: &Slots) -> Vec<String> {
    names.of(slots).iter().map(str::to_owned).collect()
}
