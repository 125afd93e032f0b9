//! How long a waiter may still wait, for programs.

use seinpaal::why::{Estimate, Unsaid};
use serde::Serialize;

use crate::why::estimate;

/// An estimate of how long a wait lasts.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EstimateJson {
    /// What the estimate is: `now`, `about`, `after-guard`, or a word for why nothing can be said.
    kind: &'static str,
    /// How long the wait is likely to be, in milliseconds. `null`: nothing can be said.
    wait_ms: Option<u128>,
    /// How many of the last holds the estimate goes by. The field is left out if it goes by none.
    #[serde(skip_serializing_if = "Option::is_none")]
    holds_seen: Option<u32>,
    /// Half of these holds took no longer than this, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    typical_hold_ms: Option<u128>,
    /// The estimate in words for people.
    text: String,
}

impl EstimateJson {
    /// What is said of this estimate.
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
