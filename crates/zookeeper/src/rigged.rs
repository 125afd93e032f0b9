//! Stores with a clock that a test chooses, and counts for measurements. They exist only with the
//! feature `rigged`, which no released build has.

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
    /// Opens a session as [`open`](Self::open) does. `now`, if it is given, takes the place of the
    /// leader's clock, in microseconds.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub async fn open_rigged(
        url: ZookeeperUrl,
        inbox: Inbox,
        news: NewsSender,
        now: Option<Arc<AtomicU64>>,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_with(url, inbox, news, now).await
    }
}

/// Returns the number of tries to write by calls of this process, the number of those in which
/// another client had written first, and the number of sessions that have expired.
pub fn counted() -> [u64; 3] {
    [&ATTEMPTS, &REPEATS, &SESSIONS_LOST].map(|count| count.load(Ordering::Relaxed))
}
