//! An object store that refuses a late holder. The store knows no fences, only conditional puts
//! (`If-Match` and `If-None-Match`, which S3, Google Cloud Storage and Azure have). So the holder
//! puts its fence into the object's metadata and compares it before it writes. The condition
//! catches a writer that comes in between.
//!
//! The store here is a stand-in in memory with just these two calls. The example sends nothing to a
//! cloud.
//!
//! Ends with status 0 only if the late holder was refused.
//! `cargo run -p seinpaal --example fencing_object_store`

use std::{
    collections::HashMap,
    error::Error,
    sync::{Mutex, PoisonError},
};

use seinpaal::{
    Fence,
    blocking::{Seinpaal, wait},
};

#[derive(Clone, Debug)]
struct Object {
    etag: u64,
    /// The metadata field `x-amz-meta-fence` or a similar one.
    fence: u64,
    body: String,
}

/// The answer with status 412.
#[derive(Debug)]
struct PreconditionFailed;

#[derive(Default)]
struct ObjectStore {
    objects: Mutex<HashMap<String, Object>>,
}

impl ObjectStore {
    /// `GET`, or `HEAD` for a caller that does not want the body.
    fn get(&self, key: &str) -> Option<Object> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// `PUT` with `If-Match: ETAG`, or with `If-None-Match: *` if there was no object.
    fn put(
        &self,
        key: &str,
        body: &str,
        fence: u64,
        if_match: Option<u64>,
    ) -> Result<(), PreconditionFailed> {
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let there = objects.get(key).map(|object| object.etag);
        if there != if_match {
            return Err(PreconditionFailed);
        }
        let etag = there.unwrap_or(0) + 1;
        objects.insert(key.to_owned(), Object { etag, fence, body: body.to_owned() });
        Ok(())
    }
}

#[derive(Debug, Eq, PartialEq)]
enum Written {
    Yes,
    /// A later holder has written. This one has lost its permit, even if it does not know that yet.
    TooLate,
}

/// Writes as the holder with this fence. `seen` is the object that it read before.
fn write(
    store: &ObjectStore,
    key: &str,
    fence: Fence,
    body: &str,
    seen: Option<Object>,
) -> Written {
    let mut there = seen;
    loop {
        if there.as_ref().is_some_and(|object| object.fence > fence.0) {
            return Written::TooLate;
        }
        match store.put(key, body, fence.0, there.map(|object| object.etag)) {
            Ok(()) => return Written::Yes,
            // Another write came in between: by a later holder, or by this holder's own request
            // that arrived twice.
            Err(PreconditionFailed) => there = store.get(key),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (store, key) = (ObjectStore::default(), "reports/today");
    let seinpaal = Seinpaal::connect("memory:")?;
    let reports = seinpaal.semaphore("reports").limit(1);

    let old = reports.acquire()?;
    let first = write(&store, key, old.fence(), "a draft of the old holder", None);
    let seen = store.get(key);
    assert!(old.is_held(), "the old holder has compared, and is stopped before it writes");
    // Meanwhile its lease ends. Evicting it is quicker than waiting for that, and has the same
    // effect.
    wait(reports.asynchronous().evict(old.ticket()))?;

    let new = reports.acquire()?;
    let second = write(&store, key, new.fence(), "written by the new holder", store.get(key));
    println!("fence {}: {second:?}", new.fence());

    // The old holder goes on where it was stopped, with the object that it had read.
    let late = write(&store, key, old.fence(), "written by the old holder", seen);
    println!("fence {}: {late:?}", old.fence());

    let body = store.get(key).map(|object| object.body).unwrap_or_default();
    let is_refused = (first, second, late) == (Written::Yes, Written::Yes, Written::TooLate);
    if is_refused && body == "written by the new holder" {
        println!("the object is {body:?}: the late holder changed nothing");
        return Ok(());
    }
    Err(format!("the object is {body:?}: the late holder was not refused").into())
}
