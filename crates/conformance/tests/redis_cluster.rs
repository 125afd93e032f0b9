//! The Redis store on a cluster keeps what every store promises.

use seinpaal_conformance::{ClusterHarness, conformance};

conformance!(redis_cluster, ClusterHarness::new());
