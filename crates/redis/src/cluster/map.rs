//! The map of a cluster: which node owns a hash slot. The map is read again when the answer to a
//! request shows that the map is wrong.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::time::timeout;

use super::{
    ClusterLinks,
    hash_slots::{HashSlotMap, NodeAddress},
    node::ClusterNode,
};
use crate::link::RESPONSE_TIMEOUT;
use seinpaal_store::StoreError;

/// How long one node may take to show its map, since other nodes know the map as well.
const MAP_TIMEOUT: Duration = Duration::from_millis(500);
/// How many bytes a map may have: each hash slot may be a range of its own, with three nodes that
/// have long names.
const MAP_ROOM: usize = 32 << 20;

impl ClusterLinks {
    /// Reads the map anew, unless another caller has done so since the `seen`th look. A look that
    /// fails while the caller waits for its turn is also the caller's answer.
    pub(super) async fn look(&self, seen: u64) -> Result<(), StoreError> {
        let failed = self.failed_looks.count();
        let _turn = self.looking.lock().await;
        if self.looks.load(Ordering::Relaxed) != seen {
            return Ok(());
        }
        if let Some(error) = self.failed_looks.since(failed) {
            return Err(error);
        }
        self.ask_all(seen).await.inspect_err(|error| self.failed_looks.note(error))
    }

    /// Asks one node after the other for its map, until one has shown it.
    async fn ask_all(&self, turn: u64) -> Result<(), StoreError> {
        // The doubt ends before the first node is asked, so that a doubt that comes up meanwhile
        // stays.
        self.is_doubtful.store(false, Ordering::Relaxed);
        let mut worst = self.trouble("has no node that answers");
        for address in self.who_knows(turn) {
            match self.ask_for_map(&address).await {
                Ok(map) => {
                    self.take_map(map);
                    return Ok(());
                }
                Err(error) => worst = graver(worst, error),
            }
        }
        self.is_doubtful.store(true, Ordering::Relaxed);
        Err(worst)
    }

    /// All nodes, beginning with a different node each time. So a node whose map is wrong is not
    /// believed for long.
    fn who_knows(&self, turn: u64) -> Vec<NodeAddress> {
        let (mut nodes, all) = {
            let map = self.map();
            (map.masters(), map.nodes().to_vec())
        };
        if !nodes.is_empty() {
            let first = turn as usize % nodes.len();
            nodes.rotate_left(first);
        }
        let seeds = self.url.nodes.iter();
        let seeds = seeds.map(|(host, port)| NodeAddress { host: host.clone(), port: *port });
        for other in all.into_iter().chain(seeds) {
            if !nodes.contains(&other) {
                nodes.push(other);
            }
        }
        nodes
    }

    async fn ask_for_map(&self, address: &NodeAddress) -> Result<HashSlotMap, StoreError> {
        let node = self.node(address);
        let slow = || self.trouble("has a node that does not answer");
        let is_first = self.looks.load(Ordering::Relaxed) == 0;
        if is_first {
            let reading = node.command_link().await?.reading;
            self.first_reading.get_or_init(|| reading);
        }
        let mut hash_slots = redis::cmd("CLUSTER");
        hash_slots.arg("SLOTS");
        // On the first look no other node is known that could be asked instead.
        let longest_wait = if is_first { RESPONSE_TIMEOUT } else { MAP_TIMEOUT };
        let answer = timeout(longest_wait, node.command(&hash_slots, MAP_ROOM))
            .await
            .map_err(|_| slow())??;
        let map = HashSlotMap::parse(&answer, address);
        map.ok_or_else(|| self.trouble("has a node that does not answer with its hash slots"))
    }

    fn take_map(&self, map: HashSlotMap) {
        // A node that has left the cluster needs no links. It is dropped after the nodes are
        // unlocked, because the end of a link may need the lock.
        let is_gone = |address: &NodeAddress, _: &mut Arc<ClusterNode>| !map.knows(address);
        let gone: Vec<_> = self.nodes().extract_if(is_gone).collect();
        drop(gone);
        *self.map() = map;
        self.looks.fetch_add(1, Ordering::Relaxed);
        let has_deaf = !self.ears.deaf(|hash_slot| self.map().owner(hash_slot).cloned()).is_empty();
        // Hash slots have moved away from the nodes at which this client listens.
        if has_deaf {
            self.hurry.notify_one();
        }
    }
}

/// The graver of two errors: an error that will not pass says more than that a node is unreachable.
fn graver(one: StoreError, other: StoreError) -> StoreError {
    if one.is_passing() { other } else { one }
}
