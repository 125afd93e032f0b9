//! Reads the names that are counted, so that waits and holds are seen to end even if nobody looks.

use std::{
    collections::HashSet,
    sync::{Arc, Weak},
};

use futures_util::future::join_all;

use crate::{source::StoreSource, watch::INTERVAL};

/// Has those names read once a second, from the first call on, for as long as there are pages.
pub(crate) fn begin(source: &Arc<StoreSource>) {
    if let Some(names) = source.tally.begin() {
        tokio::spawn(read_on(Arc::downgrade(source), names.clone()));
    }
}

async fn read_on(pages: Weak<StoreSource>, names: HashSet<String>) {
    while let Some(source) = pages.upgrade() {
        join_all(names.iter().map(|name| read(&source, name))).await;
        // Not kept over the pause, so that pages that were dropped end at once.
        drop(source);
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Reads one name. A reading that the store does not answer is missing. If readings are missing for
/// more than 5 s, what ended in between is not counted.
async fn read(source: &StoreSource, name: &str) {
    if let Ok(mut seen) = source.seinpaal.semaphore(name).snapshot().await {
        source.history.learn(&mut seen);
    }
}
