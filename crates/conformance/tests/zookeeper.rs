//! The ZooKeeper store keeps what every store promises.

use seinpaal_conformance::{ZookeeperHarness, conformance};

conformance!(zookeeper, ZookeeperHarness::new());
