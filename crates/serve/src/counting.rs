//! Reads the names that are counted, so that waits and holds are seen to end though nobody looks.

use std::{
    collections::HashSet,
    sync::{Arc, Weak},
};

use futures_util::future::join_all;

use crate::{source::StoreSource, watch::INTERVAL};

/// Has those names read once a second for as long as there are pages: from the first call on.
pub(crate) fn begin(source: &Arc<StoreSource>) {
    if let Some(names) = source.tally.begin() {
        tokio::spawn(read_on(Arc::downgrade(source), names.clone()));
    }
}

async fn read_on(pages: Weak<StoreSource>, names: HashSet<String>) {
    while let Some(source) = pages.upgrade() {
        join_all(names.iter().map(|name| read(&source, name))).await;
        drop(source);
        tokio::time::sleep(INTERVAL).await;
    }
}

/// A reading that the store does not answer is missing, and the next one is too far away to count.
async fn read(source: &StoreSource, name: &str) {
    if let Ok(mut seen) = source.seinpaal.semaphore(name).snapshot().await {
        source.history.learn(&mut seen);
    }
}
