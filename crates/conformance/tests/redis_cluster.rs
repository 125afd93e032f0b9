//! The Redis store on a cluster keeps what every store promises.

use seinpaal_conformance::{ClusterHarness, conformance, queue_conformance};

conformance!(redis_cluster, ClusterHarness::new());
queue_conformance!(redis_cluster_queues, ClusterHarness::new());
