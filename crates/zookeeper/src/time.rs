//! The leader's clock, as its writes show it.
//!
//! Every write comes back with the leader's time. Between two of them a client counts on by its own
//! monotonic clock, for a second at most, and never over a change of leader: so no client's clock
//! decides anything, only how fast it runs for a second.

use std::sync::Mutex;

use seinpaal_proto::time::{MILLISECOND, Micros, SECOND};
use zookeeper_client::Stat;

use seinpaal_store::boottime;

/// How long a sample is good.
const GOOD: Micros = SECOND;

#[derive(Debug, Default)]
pub(super) struct LeaderTime(Mutex<Option<Sample>>);

#[derive(Clone, Copy, Debug)]
struct Sample {
    /// The leader's clock at the write.
    time: Micros,
    /// Which leader: they are numbered.
    epoch: i64,
    /// When the answer was here, so the leader's time is never overestimated.
    at: Micros,
}

/// The number of the leader that did the last write of a znode.
pub(super) fn epoch(stat: &Stat) -> i64 {
    stat.mzxid >> 32
}

impl LeaderTime {
    /// A write of this client was answered now.
    pub(super) fn learn(&self, stat: &Stat) {
        // Some servers answer a creation within a transaction without a stat.
        if stat.mtime <= 0 {
            return;
        }
        let time = stat.mtime.unsigned_abs() * MILLISECOND;
        self.set(Some(Sample { time, epoch: epoch(stat), at: boottime::now() }));
    }

    /// The connection was lost: there may be another leader.
    pub(super) fn forget(&self) {
        self.set(None);
    }

    /// The leader's time, unless it must be asked for. `epoch`: a leader that is known to have
    /// been.
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
