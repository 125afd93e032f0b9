//! Hears wakeups at the owner of each name where this client holds or waits, wherever the name
//! moves.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use seinpaal_proto::{Batch, Name, What};
use tokio::time::{Instant, sleep_until, timeout};

use super::{
    ClusterLinks,
    call::NodeTask,
    ears::{self, ListeningLink},
    hash_slots::NodeAddress,
    node::{NodeNews, OnHeard},
};
use crate::{keys::hash_slot_of, link::RESPONSE_TIMEOUT, wakeup};
use seinpaal_store::{News, StoreError};

/// How often links are tried while somebody waits, and how often idle subscriptions are given up.
const ROUND: Duration = Duration::from_secs(5);
/// How many subscriptions are made at the same time.
const EARS_AT_ONCE: usize = 32;

/// Keeps the subscriptions of a client, until the task is aborted.
pub(super) async fn keep(shared: Arc<ClusterLinks>) {
    loop {
        let round = timeout(ROUND, shared.hurry.notified()).await;
        if round.is_err() {
            shared.try_links().await;
            shared.give_up_idle().await;
        }
        let began = Instant::now();
        if !shared.mend().await {
            // A subscription that waited in vain has waited for this long already. One that was
            // refused at once would otherwise be tried again and again.
            sleep_until(began + RESPONSE_TIMEOUT).await;
            shared.hurry.notify_one();
        }
    }
}

impl ClusterLinks {
    /// Makes sure that wakeups for a batch are heard before it goes out.
    pub(super) async fn listen(&self, batch: &Batch) -> Result<(), StoreError> {
        let [records, _] = self.keys.of(&batch.name);
        let hash_slot = hash_slot_of(records.as_bytes());
        let channel = self.keys.channel_at(&batch.name, self.inbox);
        let at = self.ears.want(&channel, hash_slot, ears::gained(batch));
        self.listen_there(hash_slot, &channel, at).await
    }

    /// Makes sure that wakeups about a queue are heard for so long from now on.
    pub(super) async fn listen_at_queue(
        &self,
        name: &Name,
        lasts: Duration,
    ) -> Result<(), StoreError> {
        let [records, _] = self.keys.of_queue(name);
        let hash_slot = hash_slot_of(records.as_bytes());
        let channel = self.keys.channel_at_queue(name, self.inbox);
        let at = self.ears.want_for(&channel, hash_slot, lasts);
        self.listen_there(hash_slot, &channel, at).await
    }

    async fn listen_there(
        &self,
        hash_slot: u16,
        channel: &str,
        at: Option<ListeningLink>,
    ) -> Result<(), StoreError> {
        let is_heard = at.is_some_and(|at| self.map().owner(hash_slot) == Some(&at.node));
        if is_heard {
            return Ok(());
        }
        self.route(hash_slot, &NodeTask::Listen(channel)).await.map(drop)
    }

    pub(super) fn on_heard(&self, node: NodeAddress) -> OnHeard {
        let me = self.me.clone();
        Arc::new(move |link, heard| {
            if let Some(shared) = me.upgrade() {
                shared.hear(&node, link, heard);
            }
        })
    }

    fn hear(&self, node: &NodeAddress, link: u64, heard: NodeNews<'_>) {
        let text = |channel: &[u8]| String::from_utf8_lossy(channel).into_owned();
        let is_deaf = match heard {
            NodeNews::Message(payload) => return self.deliver(payload),
            NodeNews::Listens(channel) => {
                return self
                    .has_come_back(&text(channel), ListeningLink { node: node.clone(), link });
            }
            NodeNews::ListensNoMore(channel) => self.ears.listens_no_more(&text(channel), link),
            NodeNews::Late => self.ears.lose(link),
            NodeNews::Lost => {
                self.lose_wakeups(node, link);
                self.ears.lose(link)
            }
        };
        if is_deaf {
            self.is_doubtful.store(true, Ordering::Relaxed);
            self.hurry.notify_one();
        }
    }

    fn has_come_back(&self, channel: &str, at: ListeningLink) {
        if self.ears.listens(channel, at) {
            self.has_missed.store(true, Ordering::Relaxed);
            self.hurry.notify_one();
        }
    }

    fn lose_wakeups(&self, node: &NodeAddress, link: u64) {
        if let Some(node) = self.nodes().get(node).cloned() {
            // Whoever opens a link holds the lock meanwhile, and a callback cannot wait for it.
            tokio::spawn(async move { node.forget_wakeups(link).await });
        }
    }

    fn deliver(&self, payload: &[u8]) {
        if let Some(wakeup) = wakeup::parse_queue(&self.keys, self.inbox, payload) {
            let _ = self.news.send(News::Queue(wakeup));
            return;
        }
        let Some(wakeup) = wakeup::parse(&self.keys, self.inbox, payload) else { return };
        if matches!(wakeup.what, What::Ended(_)) {
            let channel = self.keys.channel_at(&wakeup.name, self.inbox);
            self.ears.release(&channel, &[wakeup.ticket]);
        }
        // When the session is gone, nobody is left to be told, and sending fails.
        let _ = self.news.send(News::Wakeup(wakeup));
    }

    /// Listens again wherever it should and does not, and tells the session if it has missed
    /// something. Returns whether it listens everywhere now. What is not heard at one node keeps
    /// nothing from being heard at the others.
    async fn mend(&self) -> bool {
        let deaf = self.ears.deaf(|hash_slot| self.map().owner(hash_slot).cloned());
        let mended = stream::iter(deaf)
            .map(|(channel, hash_slot)| async move {
                let listening = self.route(hash_slot, &NodeTask::Listen(&channel)).await;
                listening
                    .inspect_err(|error| {
                        tracing::debug!(target: crate::TARGET, %error, channel, "not heard");
                    })
                    .is_ok()
            })
            .buffer_unordered(EARS_AT_ONCE);
        let is_whole = mended.fold(true, async |is_whole, is_mended| {
            if !is_mended {
                // The others may take a while. The session need not wait for them.
                self.tell_of_gaps();
            }
            is_whole && is_mended
        });
        let is_whole = is_whole.await;
        self.close_late_links();
        self.tell_of_gaps();
        is_whole
    }

    fn tell_of_gaps(&self) {
        if self.has_missed.swap(false, Ordering::Relaxed) {
            let _ = self.news.send(News::LookAgain);
        }
    }

    /// Closes the late links of each node at which all is heard that is to be heard there.
    fn close_late_links(&self) {
        // A link counts as late only once nothing is believed to be heard over it. So what these
        // links heard is deaf after this, or another link hears it by now.
        let nodes = self.all_nodes();
        let late: Vec<_> = nodes.iter().map(|node| (node, node.late_wakeups())).collect();
        let deaf = self.ears.deaf(|hash_slot| self.map().owner(hash_slot).cloned());
        let deaf_at: HashSet<_> = deaf
            .iter()
            .filter_map(|(_, hash_slot)| self.map().owner(*hash_slot).cloned())
            .collect();
        for (node, mut late) in late {
            if !deaf_at.contains(node.address()) {
                // A late link may have said after all that it listens.
                late.retain(|link| !self.ears.uses(*link));
                node.close_former_wakeups(&late);
            }
        }
    }

    async fn give_up_idle(&self) {
        for (channel, at) in self.ears.give_up_idle(Instant::now()) {
            if let Some(node) = at.map(|at| self.node(&at.node)) {
                node.leave(&channel).await;
            }
        }
    }

    async fn try_links(&self) {
        if self.is_awaited.swap(false, Ordering::Relaxed) {
            for node in self.all_nodes() {
                node.try_wakeups().await;
            }
        }
    }
}
