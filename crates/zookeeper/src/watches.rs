//! The clients whose death this client would notice, and the names at which it matters.
//!
//! The first waiter of a name watches its holders, and the next waiter watches the first. So one
//! client notices a death, and not all of them. All other clients watch nobody.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard},
};

use seinpaal_proto::{Inbox, Name};
use tokio::{sync::mpsc, task::AbortHandle};
use zookeeper_client::{EventType, OneshotWatcher};

use super::replica::{Replica, holders};

#[derive(Debug)]
pub(super) struct NodeWatches {
    gone: mpsc::UnboundedSender<Inbox>,
    inner: Mutex<WatchTable>,
}

#[derive(Debug, Default)]
struct WatchTable {
    wanted: BTreeMap<Name, BTreeSet<Inbox>>,
    set: BTreeMap<Inbox, AbortHandle>,
}

impl NodeWatches {
    /// Makes a table without watches. Deaths are sent to `gone`.
    pub(super) fn new(gone: mpsc::UnboundedSender<Inbox>) -> Self {
        Self { gone, inner: Mutex::default() }
    }

    /// Returns whether the death of this client would be noticed.
    pub(super) fn sees(&self, inbox: Inbox) -> bool {
        self.lock().set.contains_key(&inbox)
    }

    /// Returns the names at which this client's death matters.
    pub(super) fn names_of(&self, inbox: Inbox) -> Vec<Name> {
        let inner = self.lock();
        let matters = inner.wanted.iter().filter(|(_, wanted)| wanted.contains(&inbox));
        matters.map(|(name, _)| name.clone()).collect()
    }

    /// Notes the clients to be watched at this name, and gives up watches that nobody needs any
    /// more. Returns the clients that are not watched yet.
    pub(super) fn want(&self, name: &Name, wanted: BTreeSet<Inbox>) -> BTreeSet<Inbox> {
        let mut inner = self.lock();
        let missing = wanted.iter().filter(|i| !inner.set.contains_key(i)).copied().collect();
        if wanted.is_empty() {
            inner.wanted.remove(name);
        } else {
            inner.wanted.insert(name.clone(), wanted);
        }
        inner.give_up_needless();
        missing
    }

    /// Keeps a watch, and reports the death when it goes off.
    pub(super) fn set(&self, inbox: Inbox, watcher: OneshotWatcher) {
        let gone = self.gone.clone();
        let watching = tokio::spawn(async move {
            let event = watcher.changed().await;
            if event.event_type == EventType::NodeDeleted {
                // The receiver is gone once the store is closed.
                let _ = gone.send(inbox);
            }
        });
        self.lock().put(inbox, Some(watching.abort_handle()));
    }

    /// Removes a watch that has gone off.
    pub(super) fn clear(&self, inbox: Inbox) {
        self.lock().put(inbox, None);
    }

    /// Removes all watches, since the session to which they belonged is over.
    pub(super) fn clear_all(&self) {
        let inner = std::mem::take(&mut *self.lock());
        inner.set.values().for_each(AbortHandle::abort);
    }

    fn lock(&self) -> MutexGuard<'_, WatchTable> {
        // A panic leaves no entry half written, so the table is sound even if the lock is poisoned.
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl WatchTable {
    fn put(&mut self, inbox: Inbox, watch: Option<AbortHandle>) {
        let before = match watch {
            Some(watch) => self.set.insert(inbox, watch),
            None => self.set.remove(&inbox),
        };
        if let Some(before) = before {
            before.abort();
        }
    }

    fn give_up_needless(&mut self) {
        let wanted = &self.wanted;
        self.set.retain(|inbox, watch| {
            let is_needed = wanted.values().any(|wanted| wanted.contains(inbox));
            if !is_needed {
                watch.abort();
            }
            is_needed
        });
    }
}

/// Returns the clients that a client must watch at a name.
pub(super) fn wanted(replica: &Replica, me: Inbox) -> BTreeSet<Inbox> {
    let mut line = replica.state.line().filter_map(|entry| entry.inbox);
    let Some(first) = line.next() else { return BTreeSet::new() };
    let mut wanted = if first == me {
        holders(replica)
    } else if line.find(|next| *next != first) == Some(me) {
        BTreeSet::from([first])
    } else {
        BTreeSet::new()
    };
    wanted.remove(&me);
    wanted
}
