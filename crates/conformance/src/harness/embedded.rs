//! The embedded store under test, in a directory of its own.

use std::sync::{Arc, atomic::AtomicU64};

use seinpaal::store::{BoxFuture, NewsSender, Store, clock::Clock, embedded::EmbeddedStore};
use seinpaal_proto::{Contact, Inbox};
use tempfile::TempDir;

use super::{Ability, Harness, memory::BEGINNING};

/// A directory of its own, with a clock that the case sets.
#[derive(Debug)]
pub struct EmbeddedHarness {
    dir: TempDir,
    clock: Arc<AtomicU64>,
}

impl EmbeddedHarness {
    /// Makes a new directory.
    ///
    /// # Panics
    /// If no directory can be made.
    #[must_use]
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        Self { dir, clock: Arc::new(AtomicU64::new(BEGINNING)) }
    }
}

impl Default for EmbeddedHarness {
    fn default() -> Self {
        Self::new()
    }
}

impl Harness for EmbeddedHarness {
    fn open(&self, inbox: Inbox, news: NewsSender) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async move {
            let clock = Clock::Manual(Arc::clone(&self.clock));
            let store = EmbeddedStore::open_with_clock(self.dir.path(), clock, inbox, news);
            store.unwrap_or_else(|error| panic!("{error}")) as Arc<dyn Store>
        })
    }

    fn clock(&self) -> &AtomicU64 {
        &self.clock
    }

    fn contact(&self) -> Contact {
        Contact::Alive
    }

    fn lacks(&self, ability: Ability) -> Option<&'static str> {
        match ability {
            Ability::EndsLivingLeases => {
                Some("the kernel vouches for the holder: its lease lasts for as long as it lives")
            }
            Ability::LosesSubscriptions => {
                Some("there is no subscription: a client that is present in the directory is heard")
            }
            _ => None,
        }
    }
}
