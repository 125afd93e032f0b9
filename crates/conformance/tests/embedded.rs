//! The embedded store keeps what every store promises.

use seinpaal_conformance::{EmbeddedHarness, conformance, queue_conformance};

conformance!(embedded, EmbeddedHarness::new());
queue_conformance!(embedded_queues, EmbeddedHarness::new());
