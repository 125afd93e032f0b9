//! The Redis store keeps what every store promises.

use seinpaal_conformance::{RedisHarness, conformance, queue_conformance};

conformance!(redis, RedisHarness::new());
queue_conformance!(redis_queues, RedisHarness::new());
