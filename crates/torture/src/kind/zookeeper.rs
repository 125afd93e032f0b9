//! An ensemble of three.

use std::{io, time::Duration};

use seinpaal_rig::ZookeeperEnsemble;

use super::StartedStore;
use crate::{fault::TortureFault, scene::FaultScene};

const MS: Duration = Duration::from_millis(1);
/// The session timeout that clients ask for. ZooKeeper notices a holder's death when its session is
/// over.
pub(super) const SESSION: Duration = Duration::from_secs(4);

pub(super) struct Zookeeper(ZookeeperEnsemble);

impl Zookeeper {
    pub(super) fn start() -> Self {
        Self(ZookeeperEnsemble::start(3))
    }

    /// Kills a server, and starts it again after the others have gone on without it for a while.
    fn lose(&mut self, server: usize, scene: &mut FaultScene<'_>) -> io::Result<()> {
        self.0.kill(server);
        scene.wait(500 * MS, scene.ttl);
        self.0.revive(server);
        let is_whole = self.0.is_ready_in_time();
        is_whole.then_some(()).ok_or_else(|| io::Error::other("the ensemble does not get well"))
    }

    fn leader(&self) -> usize {
        self.0.leader().unwrap_or(0)
    }
}

impl StartedStore for Zookeeper {
    fn upstreams(&self) -> Vec<u16> {
        self.0.ports()
    }

    fn url(&self, ports: &[u16]) -> String {
        let servers: Vec<_> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        format!("zookeeper://{}/torture?session={}s", servers.join(","), SESSION.as_secs())
    }

    fn inject(&mut self, fault: TortureFault, scene: &mut FaultScene<'_>) -> io::Result<()> {
        let leader = self.leader();
        match fault {
            TortureFault::FailOver => self.lose(leader, scene),
            TortureFault::KillReplica => {
                let count = self.0.ports().len();
                let step = scene.rng.usize(1..count);
                self.lose((leader + step) % count, scene)
            }
            other => Err(io::Error::other(format!("{other} is not for this store"))),
        }
    }

    fn kept(&self) -> io::Result<Vec<String>> {
        Ok(Vec::new()) // the API lists every name that ZooKeeper keeps
    }
}
