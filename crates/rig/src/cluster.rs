//! Redis clusters: real nodes on free ports. They end when their handle is dropped.

mod hash_slots;
mod node;

use std::{
    mem,
    sync::{Arc, OnceLock},
};

pub use node::Node;

use crate::{
    process::{end_with_this_program, until},
    program,
};

/// The node time-out, in milliseconds, of clusters in which nothing is killed. On a busy machine a
/// living node can be silent for longer than the usual time, and the replica that takes its place
/// lacks the last writes.
const PATIENT: &str = "15000";
const HASH_SLOTS: usize = 16384;

/// A cluster. Its nodes are killed, by their process ids, when it is dropped.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<Node>,
}

impl RedisCluster {
    /// Starts three masters with a replica each.
    ///
    /// # Panics
    /// If `redis-server` is missing or the nodes do not come to agree.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(3, 1, &[])
    }

    /// Starts this many masters with this many replicas each, and these arguments.
    ///
    /// # Panics
    /// If `redis-server` is missing or the nodes do not come to agree.
    #[must_use]
    pub fn start_with(masters: usize, replicas: usize, args: &[&str]) -> Self {
        assert!(
            program::can_be_a_cluster(),
            "{:?} is too old for a cluster: 7.0 is the oldest",
            program::version()
        );
        let nodes = (0..masters * (1 + replicas)).map(|_| Node::start(args));
        let cluster = Self { nodes: nodes.collect() };
        cluster.share_out(masters);
        cluster.meet();
        for i in masters..cluster.nodes.len() {
            cluster.follow(i, i % masters);
        }
        cluster.await_health();
        cluster
    }

    /// One cluster for the whole test program, for tests that only use it. The cluster ends with
    /// the program.
    ///
    /// # Panics
    /// As [`RedisCluster::start`].
    #[must_use]
    pub fn shared() -> Arc<Self> {
        static SHARED: OnceLock<Arc<RedisCluster>> = OnceLock::new();
        let start = || {
            let cluster = Self::start_with(3, 1, &["--cluster-node-timeout", PATIENT]);
            // Nobody waits for the process that ends the nodes, because it ends after this program.
            mem::forget(end_with_this_program(cluster.nodes.iter().map(Node::place)));
            Arc::new(cluster)
        };
        SHARED.get_or_init(start).clone()
    }

    /// All nodes. At the start the masters come first.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The cluster's URL, which names the first three nodes.
    #[must_use]
    pub fn url(&self) -> String {
        let nodes = self.nodes.iter().take(3).map(|node| format!("127.0.0.1:{}", node.port()));
        format!("redis+cluster://{}", nodes.collect::<Vec<_>>().join(","))
    }

    /// Adds a master without hash slots, and waits until all nodes know it.
    ///
    /// # Panics
    /// If they do not come to agree.
    pub fn add_master(&mut self) -> usize {
        let added = self.nodes.len();
        self.nodes.push(Node::start(&[]));
        self.meet();
        self.await_health();
        added
    }

    /// The masters that are up.
    #[must_use]
    pub fn masters(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|i| self.nodes[*i].is_master()).collect()
    }

    /// Kills a node (`kill -9`).
    pub fn kill(&mut self, node: usize) {
        self.nodes[node].kill();
    }

    /// Starts a killed node again at its place, and waits until the node follows a master or is
    /// one.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn start_again(&mut self, node: usize) {
        self.nodes[node].start_again();
    }

    /// Stops a node without ending it (`SIGSTOP`).
    pub fn pause(&self, node: usize) {
        self.nodes[node].pause();
    }

    /// Lets a stopped node go on.
    pub fn resume(&self, node: usize) {
        self.nodes[node].resume();
    }

    /// Waits until every node that is up reports a healthy cluster and every replica is in step.
    ///
    /// # Panics
    /// If that does not come about.
    pub fn await_health(&self) {
        until("the cluster is not well", || {
            let mut up = self.nodes.iter().filter(|node| node.is_up());
            up.all(|node| node.is_well(self.nodes.len()))
        });
    }

    /// Waits until every replica of a master has all that the master has been told so far. `WAIT`
    /// would not do, since it waits only for writes of its own connection.
    ///
    /// # Panics
    /// If that does not come about.
    pub fn await_replicas_of(&self, node: usize) {
        let (master, written) = (&self.nodes[node], self.nodes[node].replication_offset());
        until("a replica is behind its master", || {
            master.offsets_of_replicas().iter().all(|offset| *offset >= written)
        });
    }

    fn share_out(&self, masters: usize) {
        for (i, node) in self.nodes.iter().take(masters).enumerate() {
            let (first, last) = (HASH_SLOTS * i / masters, HASH_SLOTS * (i + 1) / masters - 1);
            node.say(&["CLUSTER", "SET-CONFIG-EPOCH", &(i + 1).to_string()]);
            node.say(&["CLUSTER", "ADDSLOTSRANGE", &first.to_string(), &last.to_string()]);
        }
    }

    fn meet(&self) {
        let first = &self.nodes[0];
        for node in &self.nodes[1..] {
            let [port, bus] = node.ports().map(|port| port.to_string());
            first.say(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus]);
        }
        let all = self.nodes.len();
        until("the nodes do not meet", || self.nodes.iter().all(|node| node.knows(all)));
    }

    fn follow(&self, replica: usize, master: usize) {
        self.nodes[replica].say(&["CLUSTER", "REPLICATE", &self.nodes[master].id()]);
    }
}
