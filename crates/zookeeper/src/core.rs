//! The state that the calls of a store and its keeper share.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
};

use seinpaal_proto::{Batch, Inbox, Name, Replies, time::Micros};
use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};

use super::{
    error,
    link::{SessionLink, SessionOptions},
    replica::Replica,
    watches::{NodeWatches, wanted},
};
use seinpaal_store::{Certainty, News, NewsSender, StoreError};

/// The number of copies from which on copies of names are dropped at which this client has nothing.
const IDLE_COPIES: usize = 64;

/// The copies of names, the session, and the clients that it watches.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) options: Arc<SessionOptions>,
    pub(super) news: NewsSender,
    pub(super) watches: NodeWatches,
    link: watch::Sender<Option<Arc<SessionLink>>>,
    names: Mutex<HashMap<Name, Arc<CopyCell>>>,
    now: Option<Arc<AtomicU64>>,
}

/// The copy of one name. A call takes it out and puts it back, so that a call that fails or is
/// dropped half-way leaves none behind.
#[derive(Debug, Default)]
struct CopyCell(tokio::sync::Mutex<CopyState>);

#[derive(Debug, Default)]
enum CopyState {
    /// No call has read the name yet.
    #[default]
    New,
    Copy(Box<Replica>),
    /// A call did not come to its end, so its news may not have been passed on.
    Lost,
}

impl Core {
    pub(super) fn new(
        options: Arc<SessionOptions>,
        news: NewsSender,
        gone: mpsc::UnboundedSender<Inbox>,
        now: Option<Arc<AtomicU64>>,
    ) -> Self {
        let (link, _) = watch::channel(None);
        let names = Mutex::default();
        Self { options, news, watches: NodeWatches::new(gone), link, names, now }
    }

    pub(super) fn inbox(&self) -> Inbox {
        self.options.inbox
    }

    pub(super) fn has_manual_clock(&self) -> bool {
        self.now.is_some()
    }

    pub(super) fn manual_now(&self) -> Option<Micros> {
        self.now.as_ref().map(|now| now.load(Ordering::SeqCst))
    }

    /// Sets the session for calls from now on. `None`: they wait for the next session.
    pub(super) fn set_link(&self, link: Option<Arc<SessionLink>>) {
        self.link.send_replace(link);
    }

    /// Returns the session, or the next one if it comes soon. If this fails, nothing was sent.
    pub(super) async fn link(&self) -> Result<Arc<SessionLink>, StoreError> {
        let mut link = self.link.subscribe();
        let opened = timeout(self.options.session() / 2, link.wait_for(Option::is_some)).await;
        match opened {
            Ok(Ok(link)) => link.clone().ok_or_else(|| self.unreachable()),
            _ => Err(self.unreachable()),
        }
    }

    fn unreachable(&self) -> StoreError {
        error::no_answer(&self.options.shown(), Certainty::NotExecuted)
    }

    pub(super) async fn call(&self, batch: &Batch) -> Result<Replies, StoreError> {
        let link = self.link().await?;
        self.call_over(&link, batch, BTreeSet::new()).await
    }

    /// Executes a batch, and makes sure that this client notices the deaths that matter here. If a
    /// client of `suspects` is gone, it loses all its leases and places first.
    pub(super) async fn call_over(
        &self,
        link: &SessionLink,
        batch: &Batch,
        suspects: BTreeSet<Inbox>,
    ) -> Result<Replies, StoreError> {
        let cell = self.cell(&batch.name);
        let mut place = cell.0.lock().await;
        let mut replica = self.take_copy(&mut place);
        let replies = self.execute(link, &mut replica, batch, suspects).await?;
        // The batch is executed, even if watching fails. The next call tries to watch again.
        if let Err(error) = self.attend(link, &mut replica, &batch.name).await {
            tracing::debug!(target: crate::TARGET, name = %batch.name, %error, "nobody is watched");
        }
        let is_needed = replica.has(self.inbox());
        *place = CopyState::Copy(replica);
        drop(place);
        // The cell is dropped before `tidy`, which counts the calls that use it.
        drop(cell);
        self.tidy(&batch.name, is_needed);
        Ok(replies)
    }

    /// Watches the clients that this one must watch. If some of them are gone already, it settles
    /// the leases and places that they have left behind.
    async fn attend(
        &self,
        link: &SessionLink,
        replica: &mut Replica,
        name: &Name,
    ) -> Result<(), StoreError> {
        loop {
            let missing = self.watches.want(name, wanted(replica, self.inbox()));
            let mut gone = BTreeSet::new();
            for inbox in missing {
                match link.watch(inbox).await? {
                    Some(watcher) => self.watches.set(inbox, watcher),
                    None => drop(gone.insert(inbox)),
                }
            }
            if gone.is_empty() {
                return Ok(());
            }
            // This happens in the loop, because the clients that get the permits now have to be
            // watched as well.
            self.execute(link, replica, &settling(name.clone()), gone).await?;
        }
    }

    /// Settles the leases and places that these clients have left behind at a name.
    pub(super) async fn settle(
        &self,
        link: &SessionLink,
        name: &Name,
        suspects: BTreeSet<Inbox>,
    ) -> Result<(), StoreError> {
        let batch = settling(name.clone());
        while self.call_over(link, &batch, suspects.clone()).await?.backlog {}
        Ok(())
    }

    /// Reads the writes of others at a name, and watches the clients that this one must watch now.
    pub(super) async fn look(&self, link: &SessionLink, name: &Name) -> Result<(), StoreError> {
        let cell = self.cell(name);
        let mut place = cell.0.lock().await;
        let mut replica = self.take_copy(&mut place);
        self.follow(link, &mut replica, name).await?;
        self.attend(link, &mut replica, name).await?;
        *place = CopyState::Copy(replica);
        Ok(())
    }

    /// Takes out the copy of a name. If a call has lost it, its news may be lost as well, so the
    /// session is told to look again.
    fn take_copy(&self, place: &mut CopyState) -> Box<Replica> {
        match std::mem::replace(place, CopyState::Lost) {
            CopyState::Copy(replica) => replica,
            CopyState::New => Box::default(),
            CopyState::Lost => {
                // The receiver is gone once the store is closed.
                let _ = self.news.send(News::LookAgain);
                Box::default()
            }
        }
    }

    /// Returns the names at which this client may have something.
    pub(super) fn names(&self) -> Vec<Name> {
        self.lock().keys().cloned().collect()
    }

    fn cell(&self, name: &Name) -> Arc<CopyCell> {
        Arc::clone(self.lock().entry(name.clone()).or_default())
    }

    /// Drops the copy of a name at which this client has nothing, if there are many copies. A copy
    /// that another call is about to use stays.
    fn tidy(&self, name: &Name, is_needed: bool) {
        let mut names = self.lock();
        let is_idle = names.get(name).is_some_and(|cell| Arc::strong_count(cell) == 1);
        if !is_needed && is_idle && names.len() > IDLE_COPIES {
            names.remove(name);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Name, Arc<CopyCell>>> {
        // A panic leaves no entry half written, so the table is sound even if the lock is poisoned.
        self.names.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Returns a batch without requests, which only settles what is due.
pub(super) fn settling(name: Name) -> Batch {
    Batch { name, inbox: None, fence_seen: 0, requests: Vec::new() }
}
