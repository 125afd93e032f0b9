//! The embedded store keeps what every store promises.

use seinpaal_conformance::{EmbeddedHarness, conformance};

conformance!(embedded, EmbeddedHarness::new());
