//! The leader's clock, as its writes show it.
//!
//! The answer to every write has the leader's time. Between two writes a client adds the time that
//! has passed on its own monotonic clock, for a second at most, and never over a change of leader.
//! So a client's clock decides nothing but how long that second is.

use std::sync::Mutex;

use seinpaal_proto::time::{MILLISECOND, Micros, SECOND};
use zookeeper_client::Stat;

use seinpaal_store::boottime;

/// How long a sample can be used.
const GOOD: Micros = SECOND;

#[derive(Debug, Default)]
pub(super) struct LeaderTime(Mutex<Option<Sample>>);

#[derive(Clone, Copy, Debug)]
struct Sample {
    /// The leader's clock at the write.
    time: Micros,
    /// The number of the leader.
    epoch: i64,
    /// When the answer came, by this machine's monotonic clock. The write was earlier, so the
    /// leader's time is never overestimated.
    at: Micros,
}

/// Returns the number of the leader that did the last write of a znode.
pub(super) fn epoch(stat: &Stat) -> i64 {
    stat.mzxid >> 32
}

impl LeaderTime {
    /// Learns the leader's time from a write of this client that was answered now.
    pub(super) fn learn(&self, stat: &Stat) {
        // Some servers answer a creation within a transaction without a stat.
        if stat.mtime <= 0 {
            return;
        }
        let time = stat.mtime.unsigned_abs() * MILLISECOND;
        self.set(Some(Sample { time, epoch: epoch(stat), at: boottime::now() }));
    }

    /// Forgets the leader's time, since the connection was lost and there may be another leader.
    pub(super) fn forget(&self) {
        self.set(None);
    }

    /// Returns the leader's time. `None`: it must be asked for, because the last sample is too old,
    /// or is of an earlier leader than `epoch`, which is known to have led.
    pub(super) fn now(&self, epoch: i64) -> Option<Micros> {
        let sample = (*self.lock())?;
        let passed = boottime::now().saturating_sub(sample.at);
        (sample.epoch >= epoch && passed <= GOOD).then_some(sample.time + passed)
    }

    fn set(&self, sample: Option<Sample>) {
        *self.lock() = sample;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Sample>> {
        // The sample is replaced in one go, so it is sound even if the lock is poisoned.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
