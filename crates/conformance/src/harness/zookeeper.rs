//! The ZooKeeper store under test.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use seinpaal::store::{
    BoxFuture, NewsSender, Store,
    url::{StoreUrl, ZookeeperUrl},
    zookeeper::ZookeeperStore,
};
use seinpaal_proto::{Contact, Inbox};

use super::{Ability, Harness, memory::BEGINNING, until_noticed};
use seinpaal_rig::ZookeeperEnsemble;

/// A chroot of its own on a server that the process shares, under a clock that the case sets.
#[derive(Debug)]
pub struct ZookeeperHarness {
    server: &'static ZookeeperEnsemble,
    url: ZookeeperUrl,
    clock: Arc<AtomicU64>,
}

impl ZookeeperHarness {
    /// Starts the server, unless this process has one.
    ///
    /// # Panics
    /// If the server is missing or does not start.
    #[must_use]
    pub fn new() -> Self {
        static CASES: AtomicU64 = AtomicU64::new(0);
        let server = ZookeeperEnsemble::shared();
        let case = CASES.fetch_add(1, Ordering::SeqCst);
        let text = format!("{}/cases/{case}?session=60s", server.url());
        let Ok(StoreUrl::Zookeeper(url)) = StoreUrl::parse(&text) else {
            panic!("not the URL of a server: {text}")
        };
        Self { server, url, clock: Arc::new(AtomicU64::new(BEGINNING)) }
    }

    fn is_present(&self, inbox: Inbox) -> bool {
        self.server.sessions().contains(&inbox.to_string())
    }
}

impl Default for ZookeeperHarness {
    fn default() -> Self {
        Self::new()
    }
}

impl Harness for ZookeeperHarness {
    fn open(&self, inbox: Inbox, news: NewsSender) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async move {
            let clock = Some(Arc::clone(&self.clock));
            let store = ZookeeperStore::open_with(self.url.clone(), inbox, news, clock).await;
            store.unwrap_or_else(|error| panic!("{error}")) as Arc<dyn Store>
        })
    }

    fn vanish(&self, inbox: Inbox, store: Arc<dyn Store>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            drop(store);
            until_noticed("its session ends with it", || !self.is_present(inbox)).await;
        })
    }

    fn clock(&self) -> &AtomicU64 {
        &self.clock
    }

    fn contact(&self) -> Contact {
        Contact::Listening
    }

    fn lacks(&self, ability: Ability) -> Option<&'static str> {
        match ability {
            Ability::NoticesDeath
            | Ability::EndsLivingLeases
            | Ability::KeepsOrder
            | Ability::NamesSlots => None,
            Ability::KeepsQueues => Some("items do not belong into a store for coordination"),
            Ability::VouchesForLife => Some(
                "a session vouches for a client no longer than its time-out: leases are renewed",
            ),
            Ability::LosesSubscriptions => {
                Some("a client with a session can be told: it is there with its inbox, or gone")
            }
        }
    }
}
