//! Chooses the worker that a fault hits. Half of the time it is a worker that holds a permit at
//! that moment, because a fault does most harm there.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use super::TortureRig;
use crate::{
    check::worker_of,
    history::{HistoryEvent, TortureWhat},
};

/// How many bytes at the end of the history cover the last seconds.
const RECENT: u64 = 256 * 1024;

impl TortureRig<'_> {
    pub(super) fn victim(&mut self) -> usize {
        let holders = holders(&self.plan.history).unwrap_or_default();
        if !holders.is_empty() && self.scene.rng.bool() {
            return *self.scene.rng.choice(&holders).unwrap();
        }
        self.scene.rng.usize(..self.plan.workers)
    }
}

/// Returns the workers that hold a permit, as far as the recent lines of the history tell.
fn holders(history: &Path) -> io::Result<Vec<usize>> {
    let mut holds = BTreeMap::new();
    for line in recent(history)?.lines() {
        // The first line may lack its beginning, and the last one its end. Both are skipped.
        let Ok(event) = serde_json::from_str::<HistoryEvent>(line) else { continue };
        match event.what {
            TortureWhat::Granted { req, .. } => drop(holds.insert(req, event.who)),
            TortureWhat::Releasing { req } | TortureWhat::Lost { req, .. } => {
                drop(holds.remove(&req));
            }
            TortureWhat::Killing { life } => holds.retain(|_, who| *who != life),
            _ => {}
        }
    }
    Ok(holds.values().filter_map(|who| worker_of(who)).collect())
}

fn recent(history: &Path) -> io::Result<String> {
    let mut file = File::open(history)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(RECENT)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Pen;

    #[test]
    fn a_client_that_gave_back_or_was_killed_does_not_hold() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history");
        for (worker, req) in [(0, "a"), (1, "b"), (2, "c")] {
            let (ticket, slots) = (req.to_owned(), vec![0]);
            let granted =
                TortureWhat::Granted { req: req.into(), ticket, fence: 1, slots, until: None };
            Pen::open(&path, &format!("w{worker}.1")).unwrap().write(granted);
        }
        let rig = Pen::open(&path, "rig").unwrap();
        rig.write(TortureWhat::Releasing { req: "a".into() });
        rig.write(TortureWhat::Killing { life: "w1.1".into() });
        assert_eq!(holders(&path).unwrap(), [2]);
    }
}
