//! Stores under a clock that a test chooses, and counts for measurements. Only with the feature
//! `rigged`, which no build that is used has.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use seinpaal_proto::Inbox;
use seinpaal_store::{NewsSender, StoreError, url::ZookeeperUrl};

use crate::{
    ZookeeperStore,
    core::{ATTEMPTS, REPEATS, SESSIONS_LOST},
};

impl ZookeeperStore {
    /// As [`open`](Self::open), with `now` in place of the leader's clock, in microseconds, if it
    /// is given.
    ///
    /// # Errors
    /// As there.
    pub async fn open_rigged(
        url: ZookeeperUrl,
        inbox: Inbox,
        news: NewsSender,
        now: Option<Arc<AtomicU64>>,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_with(url, inbox, news, now).await
    }
}

/// How often calls of this process tried to write, how often somebody else had written first, and
/// how many sessions have expired.
pub fn counted() -> [u64; 3] {
    [&ATTEMPTS, &REPEATS, &SESSIONS_LOST].map(|count| count.load(Ordering::Relaxed))
}
