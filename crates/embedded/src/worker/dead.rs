//! Burials of dead clients: those that a waiter found, those whose files a newcomer looks at, and
//! all others in a sweep that one process at a time makes.

use std::{collections::BTreeSet, mem};

use seinpaal_proto::{Inbox, time};

use super::{Instant, StoreThread};
use crate::turn::Turn;

/// How often dead clients are cleared away that nobody happens to find.
const SWEEP_PAUSE: time::Micros = 300 * time::SECOND;
/// The most dead that one turn buries.
const MOST_BURIED: usize = 16;
/// The most files of each folder that a newcomer looks at after its own call.
const MOST_LOOKED_AT: usize = 64;

impl StoreThread {
    /// Clears away the files of dead clients when the store is dropped and its thread never began,
    /// as the thread would have done. It waits for nobody.
    pub(crate) fn part(&mut self) {
        if !self.was_asked || mem::replace(&mut self.has_looked_around, true) {
            return;
        }
        let dead = self.dead_among(MOST_LOOKED_AT);
        for some in dead.chunks(MOST_BURIED) {
            let bury =
                |turn: &mut Turn<'_>| some.iter().try_for_each(|inbox| turn.bury(*inbox)).map(Some);
            self.parts.try_turn(bury); // others will find them, too
        }
    }

    /// Buries dead clients. Returns whether all of them are buried.
    pub(super) fn bury(&mut self, dead: &[Inbox]) -> bool {
        let mut are_buried = true;
        for some in dead.chunks(MOST_BURIED) {
            let buried = self.turn(|turn| some.iter().try_for_each(|inbox| turn.bury(*inbox)));
            match buried {
                Ok(((), tell)) => self.pass_on(tell),
                Err(error) => {
                    are_buried = false;
                    tracing::warn!(target: crate::TARGET, %error, "the dead could not be cleared away");
                }
            }
        }
        are_buried
    }

    /// Tidies up if there has been no request for a while: writes the log back, looks for dead
    /// clients, and sweeps once.
    pub(super) fn tidy_if_due(&mut self) {
        if self.tidy_at.is_none_or(|at| at > Instant::now()) {
            return;
        }
        self.tidy_at = None;
        let need = self.backlog.note_idle(self.parts.log_pages());
        self.see_to_log(need);
        self.look_around();
        if !self.is_swept {
            self.is_swept = true;
            self.sweep();
        }
    }

    /// Clears away the files of dead clients, as many as one newcomer looks at. So programs that
    /// come and go leave no more behind than the files of those that were killed last.
    pub(super) fn look_around(&mut self) {
        if mem::replace(&mut self.has_looked_around, true) {
            return;
        }
        let dead = self.dead_among(MOST_LOOKED_AT);
        self.bury(&dead);
    }

    /// Returns the dead clients among the first `most` files of each folder.
    fn dead_among(&self, most: usize) -> Vec<Inbox> {
        let (presences, socket) = (&self.parts.presences, &self.parts.socket);
        let files: BTreeSet<Inbox> =
            presences.all().take(most).chain(socket.all().take(most)).collect();
        let is_dead = |inbox: &Inbox| *inbox != self.parts.me && presences.is_dead(*inbox);
        files.into_iter().filter(is_dead).collect()
    }

    fn sweep(&mut self) {
        if !matches!(self.turn(|turn| turn.take_sweep(SWEEP_PAUSE)), Ok((true, _))) {
            return;
        }
        let dead = self.dead_among(usize::MAX);
        self.bury(&dead);
        self.forget_queues();
    }
}
