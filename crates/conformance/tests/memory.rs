//! The memory store keeps what every store promises.

use seinpaal_conformance::{MemoryHarness, conformance};

conformance!(memory, MemoryHarness::new());
