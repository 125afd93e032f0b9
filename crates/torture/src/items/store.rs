//! The stores that can keep the items, and how the rig breaks each of them.

use std::{fmt, io, str::FromStr, thread, time::Duration};

use seinpaal_rig::{RedisServer, SentinelServers};
use tempfile::TempDir;

/// How long no write reaches a replica before the master is killed, for a fault in which writes
/// must be lost.
const CUT: Duration = Duration::from_millis(300);
const REPLICAS: usize = 2;

/// A kind of store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ItemStore {
    /// A directory.
    Embedded,
    /// One server that keeps nothing on disk.
    Redis,
    /// A server that appends to a file, and syncs the file every second.
    RedisEverysec,
    /// A server that appends to a file, and syncs the file before it answers.
    RedisAlways,
    /// A master, two replicas and three sentinels. A change counts once this many replicas have it.
    Sentinel(u32),
}

/// A fault of the store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StoreFault {
    /// The server is killed (`SIGKILL`) and started again.
    Restart,
    /// The master is killed and comes back, empty, as a replica.
    FailOver,
    /// As [`FailOver`](Self::FailOver), after a time in which no write of the master reached a
    /// replica.
    FailOverCut,
}

/// A running store.
#[derive(Debug)]
pub enum RunningStore {
    /// A directory.
    Embedded(TempDir),
    /// A server.
    Redis(RedisServer),
    /// Servers behind sentinels, and the number of replicas that must have a change.
    Sentinel(SentinelServers, u32),
}

impl ItemStore {
    const NAMES: [(&'static str, Self); 7] = [
        ("embedded", Self::Embedded),
        ("redis", Self::Redis),
        ("redis-everysec", Self::RedisEverysec),
        ("redis-always", Self::RedisAlways),
        ("sentinel", Self::Sentinel(0)),
        ("sentinel-1", Self::Sentinel(1)),
        ("sentinel-2", Self::Sentinel(2)),
    ];

    /// Returns whether a fault may cost answered changes. Faults here kill processes, and never the
    /// machine. docs/guide/promises.md covers the loss of a machine.
    #[must_use]
    pub fn may_forget(self) -> bool {
        match self {
            // With `everysec` a server writes before it answers, as long as the disk is not slow.
            // Writes that are not synced yet are in the machine's memory, and outlive the process.
            Self::Embedded | Self::RedisEverysec | Self::RedisAlways => false,
            Self::Redis => true,
            Self::Sentinel(replicated) => replicated < REPLICAS as u32,
        }
    }

    /// Starts the store.
    ///
    /// # Errors
    /// If there is no directory for it.
    ///
    /// # Panics
    /// If a server does not start.
    pub fn start(self) -> io::Result<RunningStore> {
        let appending =
            |sync| RedisServer::with(&["--save", "", "--appendonly", "yes", "--appendfsync", sync]);
        Ok(match self {
            Self::Embedded => RunningStore::Embedded(tempfile::tempdir()?),
            Self::Redis => RunningStore::Redis(RedisServer::start()),
            Self::RedisEverysec => RunningStore::Redis(appending("everysec")),
            Self::RedisAlways => RunningStore::Redis(appending("always")),
            Self::Sentinel(replicated) => {
                RunningStore::Sentinel(SentinelServers::start(REPLICAS), replicated)
            }
        })
    }

    /// Returns whether the rig can do this fault to the store.
    #[must_use]
    pub fn can_have(self, fault: StoreFault) -> bool {
        match self {
            Self::Embedded => false,
            Self::Sentinel(_) => fault != StoreFault::Restart,
            _ => fault == StoreFault::Restart,
        }
    }
}

impl RunningStore {
    /// Returns the store's URL.
    #[must_use]
    pub fn url(&self) -> String {
        match self {
            Self::Embedded(dir) => format!("file://{}", dir.path().display()),
            Self::Redis(server) => server.url(""),
            Self::Sentinel(servers, 0) => servers.url(""),
            Self::Sentinel(servers, replicated) => {
                servers.url(&format!("?replicated={replicated}"))
            }
        }
    }

    /// Does a fault, and returns when the store works again.
    ///
    /// # Panics
    /// If the store does not work again.
    pub fn suffer(&mut self, fault: StoreFault) {
        match self {
            Self::Embedded(_) => {}
            Self::Redis(server) => server.start_again(),
            Self::Sentinel(servers, _) => fail_over(servers, fault == StoreFault::FailOverCut),
        }
    }
}

fn fail_over(servers: &mut SentinelServers, is_cut: bool) {
    let old = servers.master();
    if is_cut {
        servers.cut_replication();
        thread::sleep(CUT);
    }
    servers.kill(old);
    servers.resume_all();
    servers.until_promoted(old);
    servers.start_again(old);
    servers.until_whole();
}

impl FromStr for ItemStore {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, kind)| *kind).ok_or_else(|| {
            let known = Self::NAMES.map(|(name, _)| name).join(", ");
            format!("there is no store {text}: there are {known}")
        })
    }
}

impl fmt::Display for ItemStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, kind)| kind == self);
        f.write_str(name.map_or("sentinel", |(name, _)| name))
    }
}

impl fmt::Display for StoreFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Restart => "restarted",
            Self::FailOver => "failed over",
            Self::FailOverCut => "failed over with its last writes lost",
        })
    }
}
