//! The holders of the names that a list shows. The store's list has only their number.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use seinpaal::{Holder, Seinpaal, Snapshot};

use crate::history::NameHistories;

/// A name is read again when its last reading is older than this. That is often enough, because a
/// holder counts as late only after seconds.
const FRESH: Duration = Duration::from_secs(3);
/// A name is forgotten after this time, because nobody looks at a list that has it.
const LASTS: Duration = Duration::from_secs(30);

/// The holders of the names on open lists, as they were last read.
#[derive(Debug, Default)]
pub(crate) struct Glances(Mutex<HashMap<String, Glance>>);

#[derive(Clone, Debug)]
struct Glance {
    holders: Vec<Holder>,
    read_at: Instant,
}

impl Glances {
    /// Returns these rows of a list with their holders, as far as the store tells. Each name is
    /// read about every 3 s, independent of the number of visitors. A name is read once more after
    /// its last holder has gone, to see whether that hold was lost.
    pub(crate) async fn fill(
        &self,
        (seinpaal, history): (&Seinpaal, &NameHistories),
        rows: &[&Snapshot],
    ) -> Vec<Snapshot> {
        let held = rows.iter().filter(|row| row.holders_total > 0).map(|row| row.name.to_string());
        let due = self.due(held.collect());
        let read = join_all(due.iter().map(|name| read(seinpaal, history, name))).await;
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, glance| glance.read_at.elapsed() < LASTS);
        all.extend(read.into_iter().flatten());
        // `filled` takes the lock again, for each row.
        drop(all);
        rows.iter().map(|row| self.filled(row)).collect()
    }

    /// Returns the names to read now, among these names and the names that were held at their last
    /// reading.
    fn due(&self, mut names: BTreeSet<String>) -> BTreeSet<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let were_held = all.iter().filter(|(_, glance)| !glance.holders.is_empty());
        names.extend(were_held.map(|(name, _)| name.clone()));
        names.retain(|name| all.get(name).is_none_or(|glance| glance.read_at.elapsed() >= FRESH));
        names
    }

    /// Returns the holders of a row, if they were read a moment ago.
    fn holders(&self, row: &Snapshot) -> Option<Vec<Holder>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let glance = all.get(row.name.as_str())?;
        (glance.read_at.elapsed() < FRESH).then(|| glance.holders.clone())
    }

    fn filled(&self, row: &Snapshot) -> Snapshot {
        let mut row = row.clone();
        if row.holders_total > 0 {
            row.holders = self.holders(&row).unwrap_or_default();
        }
        row
    }
}

async fn read(
    seinpaal: &Seinpaal,
    history: &NameHistories,
    name: &str,
) -> Option<(String, Glance)> {
    let mut seen = seinpaal.semaphore(name).snapshot().await.ok()?;
    history.learn(&mut seen);
    let glance = Glance { holders: seen.holders, read_at: Instant::now() };
    Some((name.to_owned(), glance))
}
