//! The kinds of stores that the rig can torture, one in each file.

mod cluster;
mod embedded;
mod redis;
mod sentinel;
mod zookeeper;

use std::{fmt, io, str::FromStr, time::Duration};

use seinpaal_rig::Clocks;

use crate::{check::CheckTerms, fault::TortureFault, lookout::ServersToWatch, scene::FaultScene};

/// How long clients may take to find the next master or leader once there is one.
const RECOVERY: Duration = Duration::from_secs(5);

/// A kind of store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StoreKind {
    /// A directory of this machine.
    Embedded,
    /// One Redis, which keeps its data on disk.
    Redis,
    /// One Redis that keeps nothing, with the restart guard.
    Guarded,
    /// A master and its replica behind sentinels, with `replicated`.
    Sentinel,
    /// A cluster of three masters with a replica each, with `replicated`.
    Cluster,
    /// Three servers that know nothing of each other.
    Quorum,
    /// An ensemble of three.
    Zookeeper,
}

/// A store and its servers, started for a run.
pub trait StartedStore: Send {
    /// Returns the ports that clients connect to. Each worker gets a proxy in front of each port.
    fn upstreams(&self) -> Vec<u16>;

    /// Returns the store's URL through these ports.
    fn url(&self, ports: &[u16]) -> String;

    /// Does a fault of this kind of store, from beginning to end.
    ///
    /// # Errors
    /// If the fault cannot be done or undone.
    fn inject(&mut self, fault: TortureFault, scene: &mut FaultScene<'_>) -> io::Result<()>;

    /// Returns the servers that must have masters and replicas, so that a lookout can see when they
    /// can grant nothing.
    fn watched(&self) -> Option<ServersToWatch> {
        None
    }

    /// Returns the files or keys that the store keeps of unused names. The rig has already asked
    /// the API about these names.
    ///
    /// # Errors
    /// If the store cannot be asked.
    fn kept(&self) -> io::Result<Vec<String>>;

    /// Moves the clocks that the rig has set past all fences. Until then the store keeps unused
    /// names, so that their fences still grow.
    fn outlast_fences(&self, _clocks: &Clocks) {}
}

impl StoreKind {
    /// All kinds.
    pub const ALL: &[Self] = &[
        Self::Embedded,
        Self::Redis,
        Self::Guarded,
        Self::Sentinel,
        Self::Cluster,
        Self::Quorum,
        Self::Zookeeper,
    ];

    /// Starts the store.
    ///
    /// # Errors
    /// If its servers do not start.
    pub fn start(self, scene: &FaultScene<'_>) -> io::Result<Box<dyn StartedStore>> {
        Ok(match self {
            Self::Embedded => Box::new(embedded::Embedded::start()?),
            Self::Redis => Box::new(redis::Redis::start(scene.clocks, redis::Persistence::Disk)?),
            Self::Guarded => {
                Box::new(redis::Redis::start(scene.clocks, redis::Persistence::Guarded)?)
            }
            Self::Sentinel => Box::new(sentinel::SentinelSite::start()),
            Self::Cluster => Box::new(cluster::ClusterSite::start()),
            Self::Quorum => {
                Box::new(redis::Redis::start(scene.clocks, redis::Persistence::Quorum)?)
            }
            Self::Zookeeper => Box::new(zookeeper::Zookeeper::start()),
        })
    }

    /// Returns the rules that the checker holds against the store.
    #[must_use]
    pub fn terms(self, ttl: Duration) -> CheckTerms {
        match self {
            Self::Embedded => CheckTerms::of_machine(ttl),
            Self::Redis => CheckTerms::of_server(ttl),
            Self::Guarded => CheckTerms::of_server(ttl).after_faults(redis::GUARD * 5 / 4),
            Self::Sentinel => CheckTerms::of_server(ttl).after_faults(RECOVERY),
            // For this long after a name has moved to another node, the store counts no client as
            // gone.
            Self::Cluster => CheckTerms::of_server(ttl).after_faults(Duration::from_secs(15)),
            Self::Quorum => CheckTerms { ordered: false, ..CheckTerms::of_server(ttl) }
                .after_faults(redis::GUARD * 5 / 4),
            Self::Zookeeper => CheckTerms::of_server(ttl)
                .after_faults(RECOVERY + zookeeper::SESSION)
                .cut_to(zookeeper::SESSION / 2),
        }
    }

    /// Returns the store's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Redis => "redis",
            Self::Guarded => "guarded",
            Self::Sentinel => "sentinel",
            Self::Cluster => "cluster",
            Self::Quorum => "quorum",
            Self::Zookeeper => "zookeeper",
        }
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for StoreKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|kind| kind.name() == text);
        found.copied().ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|kind| kind.name()).collect();
            format!("no kind of store is called {text}: known are {}", known.join(", "))
        })
    }
}
