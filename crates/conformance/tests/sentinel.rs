//! The Redis store behind sentinels keeps what every store promises, with and without waiting for
//! replicas.

use seinpaal_conformance::{SentinelHarness, conformance, queue_conformance};

conformance!(sentinel, SentinelHarness::new());
conformance!(sentinel_replicated, SentinelHarness::replicated());
queue_conformance!(sentinel_queues, SentinelHarness::new());
queue_conformance!(sentinel_replicated_queues, SentinelHarness::replicated());
