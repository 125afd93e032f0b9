//! Reads the names that `/metrics` counts, so that it sees their waits and holds end even if nobody
//! looks at a page.

use std::{
    collections::HashSet,
    sync::{Arc, Weak},
};

use futures_util::future::join_all;

use crate::{source::StoreSource, watch::INTERVAL};

/// Starts to read these names once a second, for as long as the pages exist. Later calls do
/// nothing.
pub(crate) fn begin(source: &Arc<StoreSource>) {
    if let Some(names) = source.tally.begin() {
        tokio::spawn(read_on(Arc::downgrade(source), names.clone()));
    }
}

async fn read_on(pages: Weak<StoreSource>, names: HashSet<String>) {
    while let Some(source) = pages.upgrade() {
        join_all(names.iter().map(|name| read(&source, name))).await;
        // The task does not keep the pages during the pause, so that dropped pages end at once.
        drop(source);
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Reads one name. If the store does not answer, the reading is missing. If readings are missing
/// for more than 5 s, waits and holds that ended in between are not counted.
async fn read(source: &StoreSource, name: &str) {
    match source.seinpaal.semaphore(name).snapshot().await {
        Ok(mut seen) => source.history.learn(&mut seen),
        Err(_) => source.note_silence(true),
    }
}
