//! The two links of a node: how each is opened when it is first needed, and how it is given up when
//! it is late or lost.

use std::{
    mem,
    sync::{Arc, MutexGuard, PoisonError, atomic::Ordering},
    time::Duration,
};

use redis::{AsyncConnectionConfig, Cmd, PushInfo, PushKind, Value};
use tokio::time::sleep;

use super::{ClusterNode, LINKS, LinkPlace, NodeLink, NodeNews, OnHeard};
use crate::{
    connection::pause_of_callers,
    error::LinkFailure,
    greeting::{Greeting, ServerKind},
    link::RESPONSE_TIMEOUT,
    replicas::{REPLICATION_TIMEOUT, Replicas},
    transport::{CallError, CommandAnswer, TransportFault},
};
use seinpaal_store::StoreError;

impl NodeLink {
    /// Sends a command. `ASKING` holds for the next command of the connection only, so the two go
    /// out as one.
    pub(super) async fn send(
        &mut self,
        command: Cmd,
        room: usize,
        asking: bool,
    ) -> CommandAnswer<Value> {
        if !asking {
            return self.connection.send_for(&command, room).await;
        }
        let mut both = redis::pipe();
        both.cmd("ASKING").add_command(command);
        let answers = self.connection.send_all(&both, 0, 2, room).await?;
        Ok(answers.into_iter().last().unwrap_or_default())
    }
}

impl LinkPlace {
    /// The link, or a new one. If another caller opens one meanwhile and fails, this call fails
    /// with the same error.
    async fn get(
        &self,
        open: impl AsyncFnOnce() -> Result<NodeLink, StoreError>,
    ) -> Result<NodeLink, StoreError> {
        let seen = self.failures.count();
        let mut current = self.link.lock().await;
        if let Some(link) = &*current {
            return Ok(link.clone());
        }
        if let Some(error) = self.failures.since(seen) {
            return Err(error);
        }
        let opened = open().await.inspect_err(|error| self.failures.note(error));
        Ok(current.insert(opened?).clone())
    }
}

impl ClusterNode {
    pub(in crate::cluster) async fn command_link(&self) -> Result<NodeLink, StoreError> {
        let open = async || {
            sleep(pause_of_callers(self.tries.fetch_add(1, Ordering::Relaxed))).await;
            let id = LINKS.fetch_add(1, Ordering::Relaxed);
            self.open(self.config(), id).await
        };
        self.commands.get(open).await
    }

    pub(super) async fn wakeup_link(&self) -> Result<NodeLink, StoreError> {
        let open = async || {
            let id = LINKS.fetch_add(1, Ordering::Relaxed);
            let on_heard = self.on_heard.clone();
            let config = self.config().set_push_sender(move |push| {
                hear(&on_heard, id, &push);
                Ok::<(), ()>(())
            });
            self.open(config, id).await
        };
        self.wakeups.get(open).await
    }

    async fn open(&self, config: AsyncConnectionConfig, id: u64) -> Result<NodeLink, StoreError> {
        let (kind, longest_wait) = (ServerKind::Cluster, self.connect_timeout());
        let greeting = Greeting { url: &self.url, kind, longest_wait };
        let opened = greeting.over_resp3(config, None).await;
        let (greeted, _) = opened.map_err(|failed| match failed {
            LinkFailure::Call(CallError::Fault(TransportFault::Slow)) => {
                self.later("does not answer")
            }
            failed => failed.at(&self.url.to_string()),
        })?;
        let replicas = Arc::new(Replicas::new(REPLICATION_TIMEOUT));
        let (connection, reading) = (greeted.commands, greeted.reading);
        Ok(NodeLink { id, connection, reading, heard: Arc::default(), replicas })
    }

    fn config(&self) -> AsyncConnectionConfig {
        AsyncConnectionConfig::new().set_response_timeout(Some(RESPONSE_TIMEOUT))
    }

    /// How long to wait for a connection. This is no longer than the wait for an answer, since
    /// another node may have the hash slots by then.
    fn connect_timeout(&self) -> Duration {
        self.url.options.connect_timeout.unwrap_or(RESPONSE_TIMEOUT).min(RESPONSE_TIMEOUT)
    }

    /// Gives up a link for commands that was silent for so long. The next call opens a new one.
    /// Calls under way over the old link go on. While another caller opens a link, there is none to
    /// give up.
    pub(in crate::cluster) fn doubt(&self, silence: Duration) {
        if let Ok(mut current) = self.commands.link.try_lock() {
            current.take_if(|link| link.heard.was_silent_for(silence));
        }
    }

    pub(super) async fn lose_commands(&self, id: u64) {
        let mut current = self.commands.link.lock().await;
        current.take_if(|link| link.id == id);
    }

    /// Gives up a link for wakeups that was late. It stays open, but its channels count as unheard.
    pub(super) async fn lose_wakeups(&self, id: u64) {
        let mut current = self.wakeups.link.lock().await;
        let late = current.take_if(|link| link.id == id);
        // The callback runs before the link stands among the late ones: see `close_late_links`.
        (self.on_heard)(id, NodeNews::Late);
        self.former_wakeups().extend(late);
    }

    /// Gives a subscription up. If the link does not answer, the link is given up as well, so that
    /// the next caller does not wait for it.
    pub(in crate::cluster) async fn leave(&self, channel: &str) {
        let link = self.wakeups.link.lock().await.clone();
        if let Some(mut link) = link {
            let mut unsubscribe = redis::cmd("SUNSUBSCRIBE");
            unsubscribe.arg(channel);
            if link.connection.send(&unsubscribe).await.is_err() {
                self.lose_wakeups(link.id).await;
            }
        }
    }

    /// Takes note that a link for wakeups is lost.
    pub(in crate::cluster) async fn forget_wakeups(&self, id: u64) {
        self.wakeups.link.lock().await.take_if(|link| link.id == id);
        self.close_former_wakeups(&[id]);
    }

    /// The links that were late and are still open.
    pub(in crate::cluster) fn late_wakeups(&self) -> Vec<u64> {
        self.former_wakeups().iter().map(|link| link.id).collect()
    }

    /// Closes late links, because another link hears their channels now.
    pub(in crate::cluster) fn close_former_wakeups(&self, ids: &[u64]) {
        let closing: Vec<_> =
            self.former_wakeups().extract_if(.., |link| ids.contains(&link.id)).collect();
        // The links are dropped after the list is unlocked, because the end of a link may need the
        // list.
        self.close(closing);
    }

    /// Closes links for wakeups. No message of the server says that their channels are no longer
    /// heard, so this does.
    fn close(&self, links: Vec<NodeLink>) {
        let ids: Vec<u64> = links.iter().map(|link| link.id).collect();
        drop(links);
        ids.into_iter().for_each(|id| (self.on_heard)(id, NodeNews::Closed));
    }

    /// A poisoned lock does no harm, since no change under it is ever left half done.
    fn former_wakeups(&self) -> MutexGuard<'_, Vec<NodeLink>> {
        self.former_wakeups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ClusterNode {
    fn drop(&mut self) {
        let former = mem::take(&mut *self.former_wakeups());
        let links = self.wakeups.link.get_mut().take().into_iter().chain(former);
        self.close(links.collect());
    }
}

fn hear(on_heard: &OnHeard, link: u64, push: &PushInfo) {
    match (&push.kind, push.data.as_slice()) {
        (PushKind::SMessage, [_, Value::BulkString(payload)]) => {
            on_heard(link, NodeNews::Message(payload));
        }
        (PushKind::SSubscribe, [Value::BulkString(channel), ..]) => {
            on_heard(link, NodeNews::Listens(channel));
        }
        (PushKind::SUnsubscribe, [Value::BulkString(channel), ..]) => {
            on_heard(link, NodeNews::ListensNoMore(channel));
        }
        (PushKind::Disconnection, _) => on_heard(link, NodeNews::Lost),
        _ => {}
    }
}
