//! The estimate of a waiter's remaining wait, as JSON.

use seinpaal::why::{Estimate, Unsaid};
use serde::Serialize;

use crate::why::estimate;

/// An estimate of how long a wait lasts.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EstimateJson {
    /// The kind of the estimate: `now`, `about`, `after-guard`, or a word for why there is none.
    kind: &'static str,
    /// The likely length of the wait, in milliseconds. `null`: there is no estimate.
    wait_ms: Option<u128>,
    /// The number of past holds that the estimate is based on. The field is left out if there are
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    holds_seen: Option<u32>,
    /// The median length of these holds, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    typical_hold_ms: Option<u128>,
    /// The estimate in words for people.
    text: String,
}

impl EstimateJson {
    /// Makes the JSON of an estimate.
    #[must_use]
    pub fn new(given: &Estimate) -> Self {
        let (holds_seen, typical_hold_ms) = match given {
            Estimate::ByHolds { seen, typical, .. } => (Some(*seen), Some(typical.as_millis())),
            _ => (None, None),
        };
        let wait_ms = given.wait().map(|wait| wait.as_millis());
        Self { kind: kind(given), wait_ms, holds_seen, typical_hold_ms, text: estimate(given) }
    }
}

fn kind(given: &Estimate) -> &'static str {
    match given {
        Estimate::Now => "now",
        Estimate::ByHolds { .. } | Estimate::AtLeaseEnd { .. } => "about",
        Estimate::AfterGuard { .. } => "after-guard",
        Estimate::CannotSay(unsaid) => unsaid_kind(*unsaid),
        _ => "other",
    }
}

fn unsaid_kind(unsaid: Unsaid) -> &'static str {
    match unsaid {
        Unsaid::Paused => "paused",
        Unsaid::LimitIsZero => "limit-is-zero",
        Unsaid::AboveLimit => "above-limit",
        Unsaid::Unreachable => "unreachable",
        Unsaid::SlotWishedFor => "slot-wished-for",
        Unsaid::NotAllListed => "not-all-listed",
        Unsaid::NoHoldEnded => "no-hold-ended",
        _ => "other",
    }
}
