//! How long a waiter may still wait, for programs.

use seinpaal::why::{Estimate, Unsaid};
use serde::Serialize;

use crate::why::estimate;

/// An estimate of how long a wait lasts.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Guess {
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

impl Guess {
    /// What is said of this estimate.
    #[must_use]
    pub fn new(guess: &Estimate) -> Self {
        let (holds_seen, typical_hold_ms) = match guess {
            Estimate::ByHolds { seen, typical, .. } => (Some(*seen), Some(typical.as_millis())),
            _ => (None, None),
        };
        let wait_ms = guess.wait().map(|wait| wait.as_millis());
        Self { kind: kind(guess), wait_ms, holds_seen, typical_hold_ms, text: estimate(guess) }
    }
}

fn kind(guess: &Estimate) -> &'static str {
    match guess {
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
