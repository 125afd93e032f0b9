//! What `show --why --json` prints.

use seinpaal::{
    Snapshot, Ticket,
    why::{LeasesEnd, Reason, Waits, Why},
};
use serde::Serialize;

use super::EstimateJson;
use crate::why::reason_words;

/// Why a ticket waits, as `show --why` tells it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Explained<'a> {
    /// The name of the semaphore, lock or queue.
    name: &'a str,
    /// The ticket: the id of the request, in 32 hexadecimal digits.
    ticket: String,
    /// Whether the ticket `holds` or `waits`.
    standing: &'static str,
    /// How many permits the ticket holds or wants.
    permits: u32,
    // The rest is left out for one that holds.
    /// The place in line, from 1 for the request that is served next.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u32>,
    /// For how long the request has waited, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_ms: Option<u128>,
    /// All reasons for which the ticket waits. `null`: it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons: Option<Vec<ReasonJson>>,
    /// When the request is served, as far as can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<EstimateJson>,
    /// When enough leases end for the ticket, if none is renewed. `null`: nobody can know.
    #[serde(skip_serializing_if = "Option::is_none")]
    leases_end: Option<Option<HoldEndJson>>,
}

/// A reason why a ticket waits.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReasonJson {
    /// The reason in a word for programs.
    pub reason: &'static str,
    /// The same in words for people.
    pub text: String,
}

impl ReasonJson {
    /// The reasons for which this one waits.
    #[must_use]
    pub fn all(seen: &Snapshot, waits: &Waits) -> Vec<Self> {
        let told = |reason| Self { reason: reason_kind(reason), text: reason_words(seen, reason) };
        waits.reasons.iter().map(told).collect()
    }
}

/// When leases end that hold what a ticket waits for.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
struct HoldEndJson {
    /// In how many milliseconds these leases end unless they are renewed.
    within_ms: u128,
    /// How many leases end by then.
    leases: u32,
}

impl<'a> Explained<'a> {
    /// What is said of this ticket.
    #[must_use]
    pub fn new(seen: &'a Snapshot, ticket: Ticket, why: &Why) -> Self {
        match why {
            Why::Holds(held) => Self::bare(seen, ticket, "holds", held.permits),
            Why::Waits(waits) => Self::waits(seen, ticket, waits),
            _ => Self::bare(seen, ticket, "other", 0),
        }
    }

    fn bare(seen: &'a Snapshot, ticket: Ticket, standing: &'static str, permits: u32) -> Self {
        Self {
            name: &seen.name,
            ticket: ticket.to_string(),
            standing,
            permits,
            position: None,
            waiting_ms: None,
            reasons: None,
            estimate: None,
            leases_end: None,
        }
    }

    fn waits(seen: &'a Snapshot, ticket: Ticket, waits: &Waits) -> Self {
        Self {
            position: Some(waits.position),
            waiting_ms: Some(waits.waiting_for.as_millis()),
            reasons: Some(ReasonJson::all(seen, waits)),
            estimate: Some(EstimateJson::new(&waits.estimate)),
            leases_end: Some(waits.leases_end.as_ref().map(HoldEndJson::new)),
            ..Self::bare(seen, ticket, "waits", waits.permits)
        }
    }
}

impl HoldEndJson {
    fn new(end: &LeasesEnd) -> Self {
        Self { within_ms: end.within.as_millis(), leases: end.leases }
    }
}

fn reason_kind(reason: &Reason) -> &'static str {
    match reason {
        Reason::Paused { .. } => "paused",
        Reason::Guarded { .. } => "guarded",
        Reason::LimitIsZero { .. } => "limit-is-zero",
        Reason::Unreachable => "unreachable",
        Reason::AboveLimit { .. } => "above-limit",
        Reason::LimitLowered { .. } => "limit-lowered",
        Reason::Ahead { .. } => "ahead",
        Reason::Overtaken { .. } => "overtaken",
        Reason::KeptFree { .. } => "kept-free",
        Reason::WriterAhead { .. } => "writer-ahead",
        Reason::Held { .. } => "held",
        Reason::SlotHeld { .. } => "slot-held",
        Reason::SlotAwaited { .. } => "slot-awaited",
        Reason::ReadersHold { .. } => "readers-hold",
        Reason::WriterHolds { .. } => "writer-holds",
        Reason::NotRenewed { .. } => "not-renewed",
        Reason::AboutToBeServed => "about-to-be-served",
        _ => "other",
    }
}
