//! The Redis store keeps what every store promises.

use seinpaal_conformance::{RedisHarness, conformance};

conformance!(redis, RedisHarness::new());
