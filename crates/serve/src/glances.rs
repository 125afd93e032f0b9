//! The holders of the names that a list shows. The list itself has only their number.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use seinpaal::{Holder, Seinpaal, Snapshot};

use crate::history::NameHistories;

/// A name is read again when what is known of it is older than this. A holder is late only after
/// seconds.
const FRESH: Duration = Duration::from_secs(3);
/// After this time a name is forgotten, since nobody looks at a list that has it.
const LASTS: Duration = Duration::from_secs(30);

/// The holders of the names that somebody looks at, as they were read last.
#[derive(Debug, Default)]
pub(crate) struct Glances(Mutex<HashMap<String, Glance>>);

#[derive(Clone, Debug)]
struct Glance {
    holders: Vec<Holder>,
    read_at: Instant,
}

impl Glances {
    /// Returns these rows of a list with their holders, as far as the store tells. Each name is
    /// read about every 3 s, however many look. A name that nobody holds is read once more after
    /// its last holder has gone, which tells whether that hold was lost.
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

    /// Those of these names, and of the names that somebody held at the last reading, that are to
    /// be read now.
    fn due(&self, mut names: BTreeSet<String>) -> BTreeSet<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let were_held = all.iter().filter(|(_, glance)| !glance.holders.is_empty());
        names.extend(were_held.map(|(name, _)| name.clone()));
        names.retain(|name| all.get(name).is_none_or(|glance| glance.read_at.elapsed() >= FRESH));
        names
    }

    /// The holders of a row, as they were a moment ago.
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
