//! The rows of `--json`. Those that the HTTP API has as well are in `seinpaal_words`.

use std::collections::BTreeMap;

use serde::Serialize;

pub(crate) use seinpaal_words::json::{
    Acquired, EstimateJson, Explained, LimitJson, NameJson, ReasonJson, Renewed, Shown, queue,
    slots, state,
};

/// One object on one line.
pub(crate) fn line(object: &impl Serialize) -> String {
    // Only a map whose keys are no text cannot be written, and no object here has such a map.
    let text = serde_json::to_string(object).unwrap_or_default();
    format!("{text}\n")
}

/// `doctor`. An outage is `null` where a permit lasts as long as its process.
#[derive(Debug, Serialize)]
pub(crate) struct DoctorJson<'a> {
    pub(crate) store: String,
    pub(crate) facts: BTreeMap<&'static str, &'a str>,
    pub(crate) connected_in_ms: f64,
    pub(crate) round_trip_ms: f64,
    pub(crate) longest_round_trip_ms: f64,
    pub(crate) ttl_ms: f64,
    pub(crate) survives_any_outage_ms: Option<f64>,
    pub(crate) survives_some_outages_ms: Option<f64>,
    pub(crate) ledgers: Option<LedgersJson>,
    pub(crate) advice: Vec<Advised<'a>>,
}

/// The stored ledgers that were looked at; `null` where none were. Each contradiction is a risk in
/// `advice`.
#[derive(Debug, Serialize)]
pub(crate) struct LedgersJson {
    pub(crate) names: usize,
    pub(crate) queues: usize,
    pub(crate) all: bool,
    pub(crate) contradictions: usize,
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
