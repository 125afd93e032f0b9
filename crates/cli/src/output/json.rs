//! The rows of `--json`. `seinpaal_words` has the rows that the HTTP API has, too.

use std::collections::BTreeMap;

use serde::Serialize;

pub(crate) use seinpaal_words::json::{
    Acquired, EstimateJson, Explained, LimitJson, NameJson, ReasonJson, Renewed, Shown, queue,
    slots, state,
};

/// Writes one object on one line.
pub(crate) fn line(object: &impl Serialize) -> String {
    // Writing fails only for a map whose keys are not text, and no object here has such a map.
    let text = serde_json::to_string(object).unwrap_or_default();
    format!("{text}\n")
}

/// The row of `doctor`. An outage is `null` if a permit lasts as long as its process, and a round
/// trip if nobody gets in.
#[derive(Debug, Serialize)]
pub(crate) struct DoctorJson<'a> {
    pub(crate) store: String,
    pub(crate) facts: BTreeMap<&'static str, &'a str>,
    pub(crate) connected_in_ms: f64,
    pub(crate) round_trip_ms: Option<f64>,
    pub(crate) longest_round_trip_ms: Option<f64>,
    pub(crate) ttl_ms: f64,
    pub(crate) survives_any_outage_ms: Option<f64>,
    pub(crate) survives_some_outages_ms: Option<f64>,
    pub(crate) ledgers: Option<LedgersJson>,
    pub(crate) advice: Vec<Advised<'a>>,
}

/// The result of the look at the stored ledgers. `doctor` prints `null` if it was told to look at
/// none. Each contradiction is a risk in `advice`, and so is a look that failed.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum LedgersJson {
    Seen {
        names: usize,
        queues: usize,
        all: bool,
        contradictions: usize,
    },
    /// Why they were not seen.
    Unseen {
        unseen: String,
    },
}

/// How many items of a queue a command has changed.
#[derive(Debug, Serialize)]
pub(crate) struct ItemCountJson<'a> {
    pub(crate) name: &'a str,
    pub(crate) items: u64,
}

/// One piece of advice.
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
