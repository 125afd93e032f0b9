//! The end of a run. All workers leave, and then nothing of them may remain at the store.

use std::{io, thread, time::Duration};

use seinpaal::{Seinpaal, Snapshot, blocking::wait};

use super::TortureRig;
use crate::{history::TortureWhat, queue};

/// How long workers may take to give back their permits and to end.
const GOING: Duration = Duration::from_secs(60);
/// How long things of dead workers may remain: leases, places in line, and the store's records of
/// the workers.
const FADING: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

impl TortureRig<'_> {
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.scene.wait(self.plan.calm, self.plan.calm + self.plan.ttl);
        self.crew.finish(GOING);
        let url = self.site.url(&self.site.upstreams());
        let opening = seinpaal::Seinpaal::builder(&url).ttl(self.plan.ttl).connect();
        let seinpaal = wait(opening).map_err(io::Error::other)?;
        if self.plan.queue {
            return queue::end::empty(&seinpaal, &self.pen, &self.plan.history);
        }
        for (name, _) in &self.plan.names {
            self.note_left(&seinpaal, name)?;
        }
        self.site.outlast_fences(self.scene.clocks);
        self.note_kept(&seinpaal)
    }

    fn note_left(&self, seinpaal: &Seinpaal, name: &str) -> io::Result<()> {
        let look = || wait(seinpaal.semaphore(name).snapshot()).map_err(io::Error::other);
        let is_empty = |seen: &Snapshot| seen.permits_held == 0 && seen.waiting_total == 0;
        let Snapshot { permits_held: permits, waiting_total: waiting, .. } =
            looked_until(look, is_empty)?;
        self.pen.write(TortureWhat::Left { name: name.to_owned(), permits, waiting });
        Ok(())
    }

    fn note_kept(&self, seinpaal: &Seinpaal) -> io::Result<()> {
        let look = || {
            let listed = wait(seinpaal.list(""));
            let mut kept = self.site.kept()?;
            kept.extend(listed.map_err(io::Error::other)?.iter().map(|seen| seen.name.to_string()));
            Ok(kept)
        };
        for what_is_kept in looked_until(look, Vec::is_empty)? {
            self.pen.write(TortureWhat::Kept { what_is_kept });
        }
        Ok(())
    }
}

/// Looks until the result is as wanted or the time is up, and returns the last result.
fn looked_until<T>(
    look: impl Fn() -> io::Result<T>,
    is_as_wanted: impl Fn(&T) -> bool,
) -> io::Result<T> {
    let looks = FADING.as_millis() / BETWEEN_LOOKS.as_millis();
    for _ in 0..looks {
        let seen = look()?;
        if is_as_wanted(&seen) {
            return Ok(seen);
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    look()
}
