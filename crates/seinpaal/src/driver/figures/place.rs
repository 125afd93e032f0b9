//! The arrivals of this process's waiting requests, to find the oldest of each name.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{LazyLock, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use metrics::{SharedString, gauge};

use super::{SINCE, WAITERS};

/// For each name, the arrivals of its waiting requests, in microseconds of Unix time, and the
/// number of requests that came at each.
type ArrivalsByName = HashMap<SharedString, BTreeMap<u64, u32>>;

static LINES: LazyLock<Mutex<ArrivalsByName>> = LazyLock::new(Mutex::default);

/// A place in line, until the request is over.
pub(super) struct PlaceFigure {
    name: SharedString,
    since: u64,
}

impl PlaceFigure {
    pub(super) fn take(name: &SharedString) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        let since = u64::try_from(now).unwrap_or(u64::MAX);
        gauge!(WAITERS, "name" => name.clone()).increment(1);
        change(name, |line| *line.entry(since).or_default() += 1);
        Self { name: name.clone(), since }
    }
}

impl Drop for PlaceFigure {
    fn drop(&mut self) {
        gauge!(WAITERS, "name" => self.name.clone()).decrement(1);
        change(&self.name, |line| {
            let left = line.remove(&self.since).unwrap_or_default().saturating_sub(1);
            if left > 0 {
                line.insert(self.since, left);
            }
        });
    }
}

/// Changes a line and sets the gauge. The gauge is set while the lines are locked, so that the last
/// change is reported last.
fn change(name: &SharedString, change: impl FnOnce(&mut BTreeMap<u64, u32>)) {
    let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    let line = lines.entry(name.clone()).or_default();
    change(line);
    let oldest = line.keys().next().copied();
    let seconds = oldest.map_or(0.0, |micros| micros as f64 / 1e6);
    gauge!(SINCE, "name" => name.clone()).set(seconds);
}
