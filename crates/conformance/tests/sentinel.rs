//! The Redis store behind sentinels, put through every case.

use seinpaal_conformance::{SentinelHarness, conformance};

conformance!(sentinel, SentinelHarness::new());
