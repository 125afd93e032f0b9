//! The memory store keeps what every store promises.

use seinpaal_conformance::{MemoryHarness, conformance, queue_conformance};

conformance!(memory, MemoryHarness::new());
queue_conformance!(memory_queues, MemoryHarness::new());
