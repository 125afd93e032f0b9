//! The stores of the day.

use std::{fmt, str::FromStr, time::Duration};

/// A kind of store, with the settings that its documentation shows.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum StoreSetting {
    /// A directory of this machine.
    Embedded,
    /// One Redis.
    Redis,
    /// A master and a replica behind three sentinels.
    Sentinel,
    /// Three masters with a replica each.
    Cluster,
    /// Three servers that know nothing of each other.
    Quorum,
    /// An ensemble of three.
    Zookeeper,
}

impl StoreSetting {
    /// All stores.
    pub const ALL: &[Self] = &[
        Self::Embedded,
        Self::Redis,
        Self::Sentinel,
        Self::Cluster,
        Self::Quorum,
        Self::Zookeeper,
    ];

    /// Returns the store's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Redis => "redis",
            Self::Sentinel => "sentinel",
            Self::Cluster => "cluster",
            Self::Quorum => "quorum",
            Self::Zookeeper => "zookeeper",
        }
    }

    /// Returns whether the store promises first come, first served.
    #[must_use]
    pub fn is_ordered(self) -> bool {
        self != Self::Quorum
    }

    /// Returns whether the store keeps queues.
    #[must_use]
    pub fn has_queues(self) -> bool {
        !matches!(self, Self::Quorum | Self::Zookeeper)
    }

    /// Returns whether the store has servers, which can be stopped.
    #[must_use]
    pub fn has_servers(self) -> bool {
        self != Self::Embedded
    }

    /// Returns whether the lease of a dead holder ends only when its time is over, so that waiters
    /// wait that long.
    #[must_use]
    pub fn has_leases(self) -> bool {
        self != Self::Embedded
    }

    /// Returns how long the store, or a client, may be stopped without consequences. ZooKeeper's
    /// session cuts the default ttl of 30 s to a quarter, and with it this time.
    #[must_use]
    pub fn blink(self) -> Duration {
        match self {
            Self::Zookeeper => Duration::from_millis(700),
            _ => Duration::from_secs(3),
        }
    }

    /// Returns how long to wait until a fresh store admits clients. A quorum has a restart guard of
    /// 30 s and a quarter of that. The rest is for a busy machine.
    #[must_use]
    pub fn guard(self) -> Duration {
        match self {
            Self::Quorum => Duration::from_secs(45),
            _ => Duration::ZERO,
        }
    }
}

impl fmt::Display for StoreSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for StoreSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|store| store.name() == text);
        found.copied().ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|store| store.name()).collect();
            format!("no store is called {text}: known are {}", known.join(", "))
        })
    }
}
