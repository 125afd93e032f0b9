//! The quorum store keeps what every store promises, except for order.

use seinpaal_conformance::{QuorumHarness, conformance};

conformance!(quorum, QuorumHarness::new());
