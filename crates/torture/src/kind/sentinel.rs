//! A master with one replica behind three sentinels, with `replicated=1`. So every replica has
//! every change, and the store survives a fail-over.

use std::{io, time::Duration};

use seinpaal_rig::SentinelServers;

use super::StartedStore;
use crate::{fault::TortureFault, lookout::ServersToWatch, scene::FaultScene};

const MS: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct SentinelSite(SentinelServers);

impl SentinelSite {
    pub(super) fn start() -> Self {
        Self(SentinelServers::start(1))
    }

    /// Kills the master. It comes back, empty, as a replica of the next master.
    fn fail_over(&mut self) {
        let old = self.0.master();
        self.0.kill(old);
        self.0.until_promoted(old);
        self.0.start_again(old);
        self.0.until_whole();
    }

    /// Stops the master until the replica is promoted, and then lets it go on.
    fn raise_a_zombie(&self, scene: &mut FaultScene<'_>) {
        let old = self.0.master();
        self.0.pause(old);
        self.0.until_promoted(old);
        scene.wait(Duration::ZERO, 1000 * MS);
        self.0.resume(old);
        self.0.until_whole();
    }

    fn lose_the_replica(&mut self, scene: &mut FaultScene<'_>) {
        for replica in self.0.replicas() {
            self.0.kill(replica);
            scene.wait(100 * MS, scene.ttl);
            self.0.start_again(replica);
        }
        self.0.until_whole();
    }
}

impl StartedStore for SentinelSite {
    /// Sentinels have no proxy, because clients connect to the server that they name.
    fn upstreams(&self) -> Vec<u16> {
        Vec::new()
    }

    fn url(&self, _: &[u16]) -> String {
        self.0.url("?replicated=1")
    }

    fn inject(&mut self, fault: TortureFault, scene: &mut FaultScene<'_>) -> io::Result<()> {
        match fault {
            TortureFault::FailOver => self.fail_over(),
            TortureFault::Zombie => self.raise_a_zombie(scene),
            TortureFault::KillReplica => self.lose_the_replica(scene),
            TortureFault::StopServer => {
                let master = self.0.master();
                self.0.pause(master);
                scene.wait(100 * MS, 900 * MS); // too short for the sentinels to react
                self.0.resume(master);
                self.0.until_whole();
            }
            other => return Err(io::Error::other(format!("{other} is not for this store"))),
        }
        Ok(())
    }

    fn watched(&self) -> Option<ServersToWatch> {
        let ports = (0..self.0.count()).map(|node| self.0.port(node)).collect();
        Some(ServersToWatch { ports, masters: 1 })
    }

    fn kept(&self) -> io::Result<Vec<String>> {
        self.0.ask(self.0.master(), "KEYS seinpaal:*")
    }
}
