//! The seam between the session and a store, and the stores that are built in.

#[cfg(feature = "embedded")]
pub use seinpaal_embedded as embedded;
#[cfg(feature = "redis")]
pub use seinpaal_quorum as quorum;
#[cfg(feature = "redis")]
pub use seinpaal_redis as redis;
pub use seinpaal_store::{
    Abilities, BoxFuture, Bundles, Certainty, ChildRecord, GuardedWrite, News, NewsSender, OneStep,
    Presence, Reading, Store, StoreError, StoreErrorKind, Together, Written, clock,
    memory, url,
};
#[cfg(feature = "zookeeper")]
pub use seinpaal_zookeeper as zookeeper;

use std::sync::Arc;

use seinpaal_proto::Inbox;

/// Opens the store at `url` as [`open`] does, in a process that ends with it. Only the embedded
/// store uses this: it leaves to the kernel everything that has to be closed at the end.
pub(crate) fn open_until_exit(
    url: url::StoreUrl,
    inbox: Inbox,
    news: NewsSender,
) -> BoxFuture<'static, Result<Arc<dyn Store>, StoreError>> {
    match url {
        #[cfg(feature = "embedded")]
        url::StoreUrl::Embedded(dir) => Box::pin(async move {
            let dir = dir.map_or_else(embedded::default_dir, Ok)?;
            let opening = embedded::EmbeddedStore::open_until_exit(&dir, inbox, news);
            Ok(opening.await? as Arc<dyn Store>)
        }),
        url => open(url, inbox, news),
    }
}

/// Opens the store at `url` for the client with this inbox.
pub fn open(
    url: url::StoreUrl,
    inbox: Inbox,
    news: NewsSender,
) -> BoxFuture<'static, Result<Arc<dyn Store>, StoreError>> {
    Box::pin(async move {
        match url {
            url::StoreUrl::Memory(label) => {
                let hub = memory::MemoryHub::process(&label);
                Ok(memory::MemoryStore::open(&hub, inbox, news) as Arc<dyn Store>)
            }
            #[cfg(feature = "embedded")]
            url::StoreUrl::Embedded(dir) => {
                let dir = dir.map_or_else(embedded::default_dir, Ok)?;
                Ok(embedded::EmbeddedStore::open_soon(&dir, inbox, news).await? as Arc<dyn Store>)
            }
            #[cfg(feature = "redis")]
            url @ (url::StoreUrl::Redis(_)
            | url::StoreUrl::Sentinel(_)
            | url::StoreUrl::Cluster(_)) => {
                Ok(redis::RedisStore::open(url, inbox, news).await? as Arc<dyn Store>)
            }
            #[cfg(feature = "redis")]
            url::StoreUrl::Quorum(url) => {
                Ok(quorum::QuorumStore::open(url, inbox, news).await? as Arc<dyn Store>)
            }
            #[cfg(feature = "zookeeper")]
            url::StoreUrl::Zookeeper(url) => {
                Ok(zookeeper::ZookeeperStore::open(url, inbox, news).await? as Arc<dyn Store>)
            }
            other => Err(not_built_in(&other)),
        }
    })
}

/// The error for a URL whose store is a feature of the crate that is not enabled.
fn not_built_in(url: &url::StoreUrl) -> StoreError {
    let feature = url.missing_feature().unwrap_or_default();
    let message = format!(
        "this program was built without the store of {url}: build it with the feature {feature:?}"
    );
    StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
}
