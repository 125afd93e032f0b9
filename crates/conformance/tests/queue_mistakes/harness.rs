//! The memory store's harness, with a spoiler between its stores and the cases.

use std::sync::{Arc, atomic::AtomicU64};

use seinpaal::store::{BoxFuture, NewsSender, Store};
use seinpaal_conformance::{Ability, Harness, MemoryHarness};
use seinpaal_proto::{Contact, Inbox};
use seinpaal_rig::{Between, Interposed, news_through};

use super::{mistake::Mistake, spoil::Spoiler};

/// Makes stores that all have the same mistake.
#[derive(Debug)]
pub(crate) struct SpoilingHarness {
    memory: MemoryHarness,
    spoiler: Arc<Spoiler>,
}

impl SpoilingHarness {
    pub(crate) fn new(mistake: Mistake) -> Self {
        Self { memory: MemoryHarness::new(), spoiler: Arc::new(Spoiler::new(mistake)) }
    }
}

impl Harness for SpoilingHarness {
    fn open(&self, inbox: Inbox, news: NewsSender) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async move {
            self.spoiler.listen(inbox, news.clone());
            let spoiler: Arc<dyn Between> = self.spoiler.clone();
            let sender = news_through(Arc::clone(&spoiler), inbox, news);
            Interposed::new(self.memory.open(inbox, sender).await, spoiler) as Arc<dyn Store>
        })
    }

    fn vanish(&self, _inbox: Inbox, store: Arc<dyn Store>) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.spoiler.bury(store) })
    }

    fn clock(&self) -> &AtomicU64 {
        self.memory.clock()
    }

    fn contact(&self) -> Contact {
        self.memory.contact()
    }

    fn lacks(&self, ability: Ability) -> Option<&'static str> {
        self.memory.lacks(ability)
    }
}
