//! Hears wakeups at the owner of each name where this client holds or waits, and follows names
//! whose hash slots move.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use futures_util::{StreamExt, future::join_all, stream};
use seinpaal_proto::{Batch, Name, What};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::{
    ClusterLinks,
    call::NodeTask,
    ears::{self, ListeningLink},
    hash_slots::NodeAddress,
    node::{NodeNews, OnHeard},
};
use crate::{keys::hash_slot_of, link::RESPONSE_TIMEOUT, wakeup};
use seinpaal_store::{News, StoreError};

/// How often links are tried while a ticket waits, and how often idle subscriptions are given up.
const ROUND: Duration = Duration::from_secs(5);
/// How many subscriptions are made at each node at the same time, and how many are given up.
const EARS_AT_ONCE: usize = 32;

/// Keeps the subscriptions of a client, until the task is aborted.
pub(super) async fn keep(shared: Arc<ClusterLinks>) {
    let mut looked = Instant::now();
    loop {
        // Where nothing hurries, the end of the round wakes this task.
        let _ = timeout_at(looked + ROUND, shared.hurry.notified()).await;
        // A channel that stays deaf rings again and again, and must not put this off.
        if looked.elapsed() >= ROUND {
            shared.try_links().await;
            shared.give_up_idle().await;
            looked = Instant::now();
        }
        let began = Instant::now();
        if !shared.mend().await {
            // A try that timed out has used up this time already. A try that was refused at once
            // would otherwise be repeated without a pause.
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
        let at = self.ears.want(&channel, hash_slot, ears::gained(batch), ears::longest_ttl(batch));
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
            NodeNews::Late | NodeNews::Closed => self.ears.lose(link),
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
            // A caller that opens a link holds the lock meanwhile, and a callback cannot wait for
            // it.
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
        // When the session is gone, sending fails, and no receiver is left to tell.
        let _ = self.news.send(News::Wakeup(wakeup));
    }

    /// Subscribes again at every channel that should be heard and is not, and tells the session if
    /// wakeups may have been missed. Returns whether all channels are heard now. A failure at one
    /// node neither stops nor delays the subscriptions at the others.
    async fn mend(&self) -> bool {
        let deaf = self.ears.deaf(|hash_slot| self.map().owner(hash_slot).cloned());
        let (wanted, mut at_nodes) = (deaf.len(), HashMap::<_, Vec<_>>::new());
        for (channel, hash_slot) in deaf {
            let owner = self.map().owner(hash_slot).cloned();
            at_nodes.entry(owner).or_default().push((channel, hash_slot));
        }
        // A silent node uses up the time of each try. So no try begins after this instant, and the
        // next round finds out who owns the hash slots by then.
        let until = Instant::now() + RESPONSE_TIMEOUT;
        let mending = at_nodes.into_values().map(|deaf| self.mend_node(deaf, until));
        let mended: usize = join_all(mending).await.into_iter().sum();
        self.close_late_links();
        self.tell_of_gaps();
        mended == wanted
    }

    /// Subscribes at channels of one node, and begins no try after `until`. Returns how many are
    /// heard now.
    async fn mend_node(&self, deaf: Vec<(String, u16)>, until: Instant) -> usize {
        let tries = stream::iter(deaf).take_until(sleep_until(until));
        let mended = tries
            .map(|(channel, hash_slot)| async move {
                let listening = self.route(hash_slot, &NodeTask::Listen(&channel)).await;
                listening
                    .inspect_err(|error| {
                        tracing::debug!(target: crate::TARGET, %error, channel, "not heard");
                    })
                    .is_ok()
            })
            .buffer_unordered(EARS_AT_ONCE);
        let mended = mended.fold(0, async |mended, is_mended| {
            if !is_mended {
                // Other subscriptions may take a while, and the session need not wait for them.
                self.tell_of_gaps();
            }
            mended + usize::from(is_mended)
        });
        mended.await
    }

    fn tell_of_gaps(&self) {
        if self.has_missed.swap(false, Ordering::Relaxed) {
            let _ = self.news.send(News::LookAgain);
        }
    }

    /// Closes the late links of each node at which no wanted channel is unheard.
    fn close_late_links(&self) {
        // A link is late only once no channel is recorded as heard over it. So each channel that
        // these links heard is either deaf after this, or heard over another link by now.
        let nodes = self.all_nodes();
        let late: Vec<_> = nodes.iter().map(|node| (node, node.late_wakeups())).collect();
        let deaf = self.ears.deaf(|hash_slot| self.map().owner(hash_slot).cloned());
        let deaf_at: HashSet<_> = deaf
            .iter()
            .filter_map(|(_, hash_slot)| self.map().owner(*hash_slot).cloned())
            .collect();
        for (node, mut late) in late {
            if !deaf_at.contains(node.address()) {
                // A late link may have said since then that it listens after all.
                late.retain(|link| !self.ears.uses(*link));
                node.close_former_wakeups(&late);
            }
        }
    }

    async fn give_up_idle(&self) {
        let idle = stream::iter(self.ears.give_up_idle(Instant::now()));
        let given_up = idle.map(|(channel, at)| async move {
            // At a node that has left the cluster, the subscription has ended with the link.
            let node = at.and_then(|at| self.nodes().get(&at.node).cloned());
            if let Some(node) = node {
                node.leave(&channel).await;
            }
        });
        given_up.buffer_unordered(EARS_AT_ONCE).collect::<()>().await;
    }

    async fn try_links(&self) {
        if self.is_awaited.swap(false, Ordering::Relaxed) {
            let nodes = self.all_nodes();
            join_all(nodes.iter().map(|node| node.try_wakeups())).await;
        }
    }
}

#[cfg(test)]
mod tests;
