//! Stores under a clock or on a disk that a test chooses. Only with the feature `rigged`, which no
//! build that is used has.

use std::{io, path::Path, sync::Arc};

use seinpaal_proto::Inbox;
use seinpaal_store::{NewsSender, StoreError, clock::Clock};

use crate::{EmbeddedStore, keeper::WatchedDisk};

impl EmbeddedStore {
    /// As [`open`](Self::open), with a clock that a test moves.
    ///
    /// # Errors
    /// As there.
    pub fn open_with_clock(
        dir: &Path,
        clock: Clock,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_with(dir, clock, inbox, news, None)
    }

    /// As [`open`](Self::open), with a disk that a test watches: `sync` is called where all that
    /// was written is to be kept, and where the log would be written back.
    ///
    /// # Errors
    /// As there.
    pub fn open_with_disk(
        dir: &Path,
        sync: impl FnMut() -> io::Result<()> + Send + 'static,
        inbox: Inbox,
        news: NewsSender,
    ) -> Result<Arc<Self>, StoreError> {
        Self::open_with(dir, Clock::System, inbox, news, Some(Box::new(WatchedDisk(sync))))
    }
}
