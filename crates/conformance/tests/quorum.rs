//! The quorum store keeps what every store promises, but for order.

use seinpaal_conformance::{QuorumHarness, conformance};

conformance!(quorum, QuorumHarness::new());
