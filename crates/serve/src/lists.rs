//! The list of all names and the list of all queues. Each is read at most once a second,
//! independent of the number of visitors.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use seinpaal::{QueueSnapshot, Seinpaal, Snapshot, store::StoreError};
use tokio::sync::Mutex;

/// A list is read again when it is older than this, or than [`SHARE`] times the time of the last
/// reading.
const FRESH: Duration = Duration::from_secs(1);
/// With this factor, reading a long list takes at most a tenth of the time.
const SHARE: u32 = 10;

/// Both lists, as they were last read.
pub(crate) struct Lists {
    seinpaal: Seinpaal,
    names: Mutex<Option<ReadList<Snapshot>>>,
    queues: Mutex<Option<ReadList<QueueSnapshot>>>,
}

struct ReadList<T> {
    rows: Arc<Vec<T>>,
    read_at: Instant,
    took: Duration,
}

impl<T> ReadList<T> {
    fn fresh(&self) -> Option<Arc<Vec<T>>> {
        let is_fresh = self.read_at.elapsed() < FRESH.max(self.took * SHARE);
        is_fresh.then(|| Arc::clone(&self.rows))
    }
}

impl Lists {
    pub(crate) fn new(seinpaal: Seinpaal) -> Self {
        Self { seinpaal, names: Mutex::default(), queues: Mutex::default() }
    }

    /// Returns all names in use or configured. Requests that come while the list is being read wait
    /// for the same answer.
    pub(crate) async fn names(&self) -> Result<Arc<Vec<Snapshot>>, StoreError> {
        read(&self.names, self.seinpaal.list("")).await
    }

    /// Returns all queues.
    pub(crate) async fn queues(&self) -> Result<Arc<Vec<QueueSnapshot>>, StoreError> {
        read(&self.queues, self.seinpaal.queues("")).await
    }
}

async fn read<T>(
    last: &Mutex<Option<ReadList<T>>>,
    reading: impl Future<Output = Result<Vec<T>, StoreError>>,
) -> Result<Arc<Vec<T>>, StoreError> {
    // The lock is held while the list is read, so that all requests in the meantime share one
    // reading.
    let mut last = last.lock().await;
    if let Some(rows) = last.as_ref().and_then(ReadList::fresh) {
        return Ok(rows);
    }
    let started = Instant::now();
    let rows = Arc::new(reading.await?);
    let took = started.elapsed();
    *last = Some(ReadList { rows: Arc::clone(&rows), read_at: Instant::now(), took });
    Ok(rows)
}
