//! The holders of the names that a list shows, since a list has only their number.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use seinpaal::{Holder, Seinpaal, Snapshot};

use crate::history::NameHistories;

/// A name is read again when what is known of it is older than this. A holder is late only after seconds.
const FRESH: Duration = Duration::from_secs(3);
/// Then it is forgotten: nobody looks at a list that has it.
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
    /// These rows of a list with their holders, as far as the store tells. Each name is read at most every 3 s, however many
    /// look, and one that nobody holds is not read.
    pub(crate) async fn fill(
        &self,
        (seinpaal, history): (&Seinpaal, &NameHistories),
        rows: &[&Snapshot],
    ) -> Vec<Snapshot> {
        let due = rows.iter().filter(|row| row.holders_total > 0 && self.holders(row).is_none());
        let read = join_all(due.map(|row| read(seinpaal, history, row))).await;
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, glance| glance.read_at.elapsed() < LASTS);
        all.extend(read.into_iter().flatten());
        drop(all);
        rows.iter().map(|row| self.filled(row)).collect()
    }

    /// The holders of a moment ago.
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
    row: &Snapshot,
) -> Option<(String, Glance)> {
    let mut seen = seinpaal.semaphore(&row.name).snapshot().await.ok()?;
    history.learn(&mut seen);
    let glance = Glance { holders: seen.holders, read_at: Instant::now() };
    Some((row.name.to_string(), glance))
}
