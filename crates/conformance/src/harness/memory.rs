//! The memory store under test.

use std::sync::{Arc, atomic::AtomicU64};

use seinpaal::store::{
    BoxFuture, NewsSender, Store,
    clock::Clock,
    memory::{MemoryHub, MemoryStore},
};
use seinpaal_proto::{Contact, Inbox, time::Micros};

use super::{Ability, Harness};

/// A hub of its own, with a clock that the case sets.
#[derive(Debug)]
pub struct MemoryHarness {
    hub: Arc<MemoryHub>,
    clock: Arc<AtomicU64>,
}

/// When the clocks of the cases begin: on 9 September 2001, so that no case can rely on the
/// clients' clocks.
pub(crate) const BEGINNING: Micros = 1_000_000_000_000_000;

impl MemoryHarness {
    /// A new hub.
    #[must_use]
    pub fn new() -> Self {
        let clock = Arc::new(AtomicU64::new(BEGINNING));
        Self { hub: MemoryHub::new(Clock::Manual(Arc::clone(&clock))), clock }
    }
}

impl Default for MemoryHarness {
    fn default() -> Self {
        Self::new()
    }
}

impl Harness for MemoryHarness {
    fn open(&self, inbox: Inbox, news: NewsSender) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async move { MemoryStore::open(&self.hub, inbox, news) as Arc<dyn Store> })
    }

    fn set_hears(&self, inbox: Inbox, hears: bool) {
        self.hub.set_hears(inbox, hears);
    }

    fn clock(&self) -> &AtomicU64 {
        &self.clock
    }

    fn queues(&self) -> Option<usize> {
        Some(self.hub.queues())
    }

    fn contact(&self) -> Contact {
        Contact::Listening
    }

    fn lacks(&self, ability: Ability) -> Option<&'static str> {
        match ability {
            Ability::VouchesForLife => Some("nobody can vouch for a task"),
            _ => None,
        }
    }
}
