//! Counts waits, holds and losses of the names that the options list, for `/metrics`.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::{Registry, Unit},
};
use seinpaal::EndedHold;

/// How many names may be counted. Each is read once a second, and has 31 series.
pub(crate) const MOST: usize = 100;

/// The upper bounds of the buckets, in seconds. The lowest is what a reading each second can
/// resolve, and the highest is a day.
const BOUNDS: [f64; 12] =
    [1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0, 600.0, 1800.0, 7200.0, 28_800.0, 86_400.0];

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(crate) struct NameLabel {
    pub(crate) name: String,
}

type Histograms = Family<NameLabel, Histogram, fn() -> Histogram>;

/// The counts since the program started.
#[derive(Clone, Debug)]
pub(crate) struct ServeTally {
    names: HashSet<String>,
    waits: Histograms,
    holds: Histograms,
    losses: Family<NameLabel, Counter>,
    is_begun: Arc<AtomicBool>,
}

impl Default for ServeTally {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl ServeTally {
    pub(crate) fn new(names: &[String]) -> Self {
        let tally = Self {
            names: names.iter().cloned().collect(),
            waits: Family::new_with_constructor(histogram),
            holds: Family::new_with_constructor(histogram),
            losses: Family::default(),
            is_begun: Arc::default(),
        };
        // Each series begins with 0, so that its first increase is seen.
        for name in names {
            let of = NameLabel { name: name.clone() };
            drop(tally.waits.get_or_create(&of));
            drop(tally.holds.get_or_create(&of));
            drop(tally.losses.get_or_create(&of));
        }
        tally
    }

    /// Notes the waits, holds and losses that ended between two readings of this name, if it is
    /// counted.
    pub(crate) fn count(
        &self,
        name: &str,
        waits: impl Iterator<Item = Duration>,
        holds: &[EndedHold],
    ) {
        if !self.names.contains(name) {
            return;
        }
        let of = NameLabel { name: name.to_owned() };
        waits.for_each(|wait| self.waits.get_or_create(&of).observe(wait.as_secs_f64()));
        for hold in holds {
            self.holds.get_or_create(&of).observe(hold.held_for.as_secs_f64());
            self.losses.get_or_create(&of).inc_by(u64::from(hold.is_lost));
        }
    }

    /// Returns the names that are counted, at the first call only.
    pub(crate) fn begin(&self) -> Option<&HashSet<String>> {
        let is_first = !self.is_begun.swap(true, Ordering::Relaxed);
        (is_first && !self.names.is_empty()).then_some(&self.names)
    }

    pub(crate) fn register(&self, registry: &mut Registry) {
        if self.names.is_empty() {
            return;
        }
        let about = "Waits that ended with a grant, of the names that are counted";
        registry.register_with_unit("wait", about, Unit::Seconds, self.waits.clone());
        let about = "Holds that ended, of the names that are counted";
        registry.register_with_unit("hold", about, Unit::Seconds, self.holds.clone());
        let about =
            "Holds that ended because nobody renewed the lease, of the names that are counted";
        registry.register("losses", about, self.losses.clone());
    }
}

fn histogram() -> Histogram {
    Histogram::new(BOUNDS)
}
