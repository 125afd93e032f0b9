//! Three masters with a replica each, with `replicated=1`.

use std::{io, time::Duration};

use seinpaal_rig::{Node, RedisCluster, until};

use super::StartedStore;
use crate::{fault::TortureFault, lookout::ServersToWatch, scene::FaultScene};

const MS: Duration = Duration::from_millis(1);
const MASTERS: usize = 3;

pub(super) struct ClusterSite(RedisCluster);

impl ClusterSite {
    pub(super) fn start() -> Self {
        Self(RedisCluster::start_with(MASTERS, 1, &[]))
    }

    fn a_key(scene: &mut FaultScene<'_>) -> &'static str {
        if scene.rng.bool() { "seinpaal:{one}" } else { "seinpaal:{few}" }
    }

    /// Kills the master that owns a name. Its replica takes over, and the killed server comes back
    /// as a replica.
    fn fail_over(&mut self, scene: &mut FaultScene<'_>) {
        let old = self.0.owner_of(Self::a_key(scene));
        self.0.kill(old);
        self.await_promotion();
        self.0.start_again(old);
        self.0.await_health();
    }

    fn await_promotion(&self) {
        let is_master = |node: &&Node| node.is_up() && node.is_master();
        let masters = || self.0.nodes().iter().filter(is_master).count();
        until("no replica takes over", || masters() == MASTERS);
    }

    fn lose_a_replica(&mut self, scene: &mut FaultScene<'_>) {
        let masters = self.0.masters();
        let replicas: Vec<_> =
            (0..self.0.nodes().len()).filter(|node| !masters.contains(node)).collect();
        let replica = *scene.rng.choice(&replicas).unwrap();
        self.0.kill(replica);
        scene.wait(100 * MS, scene.ttl);
        self.0.start_again(replica);
        self.0.await_health();
    }

    /// Moves a name's hash slot to another master, key by key.
    fn move_a_slot(&self, scene: &mut FaultScene<'_>) {
        let key = Self::a_key(scene);
        let (hash_slot, from) = (self.0.hash_slot_of(key), self.0.owner_of(key));
        let others: Vec<_> = self.0.masters().into_iter().filter(|node| *node != from).collect();
        self.0.move_hash_slot(hash_slot, from, *scene.rng.choice(&others).unwrap());
        // The move ends when the replicas have the moved keys. The death of a master before that
        // would be a different fault.
        self.0.await_health();
    }
}

impl StartedStore for ClusterSite {
    /// A cluster has no proxy, because clients connect to the servers that its nodes name.
    fn upstreams(&self) -> Vec<u16> {
        Vec::new()
    }

    fn url(&self, _: &[u16]) -> String {
        format!("{}?replicated=1", self.0.url())
    }

    fn inject(&mut self, fault: TortureFault, scene: &mut FaultScene<'_>) -> io::Result<()> {
        match fault {
            TortureFault::FailOver => self.fail_over(scene),
            TortureFault::KillReplica => self.lose_a_replica(scene),
            TortureFault::MoveSlot => self.move_a_slot(scene),
            other => return Err(io::Error::other(format!("{other} is not for this store"))),
        }
        Ok(())
    }

    fn watched(&self) -> Option<ServersToWatch> {
        let ports = self.0.nodes().iter().map(Node::port).collect();
        Some(ServersToWatch { ports, masters: MASTERS })
    }

    fn kept(&self) -> io::Result<Vec<String>> {
        let masters = self.0.masters();
        let said = masters.iter().map(|node| self.0.nodes()[*node].say(&["KEYS", "seinpaal:*"]));
        Ok(said.flat_map(|keys| keys.lines().map(str::to_owned).collect::<Vec<_>>()).collect())
    }
}
