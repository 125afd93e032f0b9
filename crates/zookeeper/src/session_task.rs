//! The task that keeps a store going. It looks at a name when this client's inbox was written to,
//! settles after another client has died, opens a new session when the old one is over, and forgets
//! memories that have run out.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use seinpaal_proto::{Inbox, Name, time::Micros};
use tokio::{
    sync::mpsc,
    time::{MissedTickBehavior, interval, sleep, timeout},
};
use zookeeper_client::{SessionState, StateWatcher, WatchedEvent};

use super::{SESSIONS_LOST, core::Core, link::SessionLink};
use seinpaal_store::{News, StoreError, StoreErrorKind};

/// The pause between two tries to read the inbox, or to open a session.
const PAUSE: Duration = Duration::from_millis(100);
/// How often some names are looked at, to find those that no client uses any more.
const SWEEP_EVERY: Duration = Duration::from_secs(20);

pub(super) struct SessionTask {
    core: Arc<Core>,
    link: Arc<SessionLink>,
    states: StateWatcher,
    gone: mpsc::UnboundedReceiver<Inbox>,
    /// The last version seen of this client's inbox.
    seen: i32,
}

type NudgeFuture = futures_util::future::BoxFuture<'static, WatchedEvent>;

enum SessionNews {
    /// The inbox was written to.
    Nudge,
    State(SessionState),
    /// A client that this one watches is gone.
    Gone(Inbox),
    /// It is time to sweep.
    Time,
}

impl SessionTask {
    /// Makes this client's inbox in this session, and lets calls use the session. Returns the
    /// leader's clock, as the creation of the inbox has shown it.
    pub(super) async fn new(
        core: Arc<Core>,
        link: SessionLink,
        gone: mpsc::UnboundedReceiver<Inbox>,
    ) -> Result<(Self, Micros), StoreError> {
        link.appear().await?;
        let shows = core.now(&link, 0).await?;
        let link = Arc::new(link);
        core.set_link(Some(Arc::clone(&link)));
        let states = link.client.state_watcher();
        Ok((Self { core, link, states, gone, seen: 0 }, shows))
    }

    /// Serves until the store is dropped.
    pub(super) async fn serve(mut self) {
        let mut sweep = interval(SWEEP_EVERY);
        // After a pause of the process one sweep is enough.
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut nudge: Option<NudgeFuture> = None;
        loop {
            if nudge.is_none() {
                nudge = self.open_inbox().await;
            }
            let heard = tokio::select! {
                Some(_) = poll(&mut nudge) => { nudge = None; SessionNews::Nudge }
                state = self.states.changed() => SessionNews::State(state),
                Some(inbox) = self.gone.recv() => SessionNews::Gone(inbox),
                _ = sweep.tick() => SessionNews::Time,
            };
            if self.take(heard).await {
                nudge = None;
            }
        }
    }

    /// Handles a piece of news. Returns whether there is another session now.
    async fn take(&mut self, heard: SessionNews) -> bool {
        match heard {
            // The inbox is read when it is opened again.
            SessionNews::Nudge => {}
            SessionNews::Gone(inbox) => self.settle_for(inbox).await,
            SessionNews::Time => self.sweep().await,
            // The connection is back. Wakeups that came while it was away were not heard.
            SessionNews::State(SessionState::SyncConnected) => {
                self.link.time.forget();
                // The receiver is gone once the store is closed.
                let _ = self.core.news.send(News::LookAgain);
            }
            SessionNews::State(state) if state.is_terminated() => {
                self.begin_again().await;
                return true;
            }
            // The connection is lost, and there may be another leader, with another clock.
            SessionNews::State(_) => self.link.time.forget(),
        }
        false
    }

    /// Reads this client's inbox and watches it. If the client was told to look once, it looks at
    /// the name in the inbox. If it was told more than once, it looks everywhere, since an inbox
    /// holds one name.
    async fn open_inbox(&mut self) -> Option<NudgeFuture> {
        let path = self.core.options.paths.inbox(self.core.inbox());
        let read = self.link.client.get_and_watch_data(&path);
        let Ok(Ok((data, stat, watcher))) = timeout(self.link.answer_timeout(), read).await else {
            sleep(PAUSE).await;
            return None;
        };
        // Each write to an inbox tells of one name, and its version counts the writes.
        let told = stat.version - self.seen;
        self.seen = stat.version;
        let name = String::from_utf8(data).ok().and_then(|name| Name::new(&name).ok());
        match name {
            _ if told == 0 => {}
            Some(name) if told == 1 => self.look(&name).await,
            _ => {
                for name in self.core.names() {
                    self.look(&name).await;
                }
            }
        }
        Some(Box::pin(watcher.changed()))
    }

    async fn look(&self, name: &Name) {
        if let Err(error) = self.core.look(&self.link, name).await {
            tracing::debug!(target: crate::TARGET, %name, %error, "could not look");
            // The session asks about its tickets instead, and so learns of all missed wakeups.
            let _ = self.core.news.send(News::LookAgain);
        }
    }

    /// Settles the names of a client that is gone and that this one watched, which frees its
    /// permits.
    async fn settle_for(&self, inbox: Inbox) {
        // The watch is cleared before the names are settled, because settling watches the new
        // holders.
        self.core.watches.clear(inbox);
        for name in self.core.watches.names_of(inbox) {
            let settled = self.core.settle(&self.link, &name, BTreeSet::from([inbox])).await;
            if let Err(error) = settled {
                // The session's own calls will find that the watch is missing.
                tracing::debug!(target: crate::TARGET, %name, %error, "could not settle");
            }
        }
    }

    /// Opens another session in place of one that has expired. With the old session all leases and
    /// places of this client are over. This loss is settled before the client appears again, so
    /// that no other client sees it alive while its lost leases are still there.
    async fn begin_again(&mut self) {
        let store = self.core.options.shown();
        tracing::warn!(target: crate::TARGET, %store, "the session has expired: everything is lost");
        SESSIONS_LOST.fetch_add(1, Ordering::Relaxed);
        self.core.set_link(None);
        self.core.watches.clear_all();
        loop {
            match self.try_again().await {
                Ok(link) => {
                    self.states = link.client.state_watcher();
                    (self.link, self.seen) = (Arc::new(link), 0);
                    self.core.set_link(Some(Arc::clone(&self.link)));
                    // From this news Seinpaal's session learns which permits are lost.
                    let _ = self.core.news.send(News::LookAgain);
                    return;
                }
                Err(error) => {
                    tracing::debug!(target: crate::TARGET, %error, "no session");
                }
            }
            sleep(PAUSE).await;
        }
    }

    /// Opens a session, settles the loss of the old one at every name, and makes the inbox.
    async fn try_again(&self) -> Result<SessionLink, StoreError> {
        let link = SessionLink::open(&self.core.options).await?;
        // The inbox of the old session may outlive it for a moment, and would show this client as
        // alive.
        link.disappear().await?;
        for name in self.core.names() {
            match self.core.settle(&link, &name, BTreeSet::from([self.core.inbox()])).await {
                Err(error) if error.kind() == StoreErrorKind::Unreachable => return Err(error),
                // A name that is damaged, or that this user may not read, must not keep this client
                // out of all others.
                Err(error) => tracing::warn!(target: crate::TARGET, %name, %error, "passed over"),
                Ok(()) => {}
            }
        }
        link.appear().await?;
        Ok(link)
    }

    /// Removes names whose memories have run out, even if nobody asks for them again.
    async fn sweep(&self) {
        if let Err(error) = self.core.sweep(&self.link).await {
            tracing::debug!(target: crate::TARGET, %error, "could not sweep");
        }
    }
}

async fn poll(nudge: &mut Option<NudgeFuture>) -> Option<WatchedEvent> {
    match nudge {
        Some(nudge) => Some(nudge.await),
        None => std::future::pending().await,
    }
}
