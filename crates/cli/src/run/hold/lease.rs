//! The leases while CMD runs: our own, and those of runs around us. CMD is ended before a lease
//! runs out, or when one is lost.

use std::{mem, time::Duration};

use seinpaal::{Ended, Lost, Permit, PermitSet, PermitState};
use tokio::time::Instant;

use super::{
    super::{
        RunEvent,
        ending::{CmdEnding, Hindrance},
        guard::GuardTimes,
    },
    HoldOfCmd,
};
use crate::{args::OnLost, exit::Exit};

impl HoldOfCmd<'_> {
    pub(super) fn look_at_ties(&mut self) {
        let kill_after = self.leash.terms.kill_after;
        let mut times = GuardTimes::NEVER;
        let mut falls = Vec::new();
        for tie in &mut self.ties {
            times = times.or_earlier(tie.times());
            falls.extend(tie.fall(kill_after).map(|fall| (tie.grant.name.clone(), fall)));
        }
        if !self.ties.is_empty() {
            self.leash.follow(times);
        }
        for (name, fall) in falls {
            self.tell_loss(&name, &fall.ending.what);
            self.end(&name, &fall.ending, Exit::Lost, fall.grace);
        }
    }

    fn note_stops(&mut self) {
        if self.signals.take_continued() {
            self.continued_at = Some(Instant::now());
        }
    }

    pub(super) fn look_at_lease(&mut self, permits: &PermitSet, seen: &mut PermitState) {
        self.note_stops();
        let state = permits.state();
        if state != *seen {
            *seen = state;
            match state {
                PermitState::Danger => self.meet_danger(permits),
                PermitState::Lost(lost) => self.meet_loss(permits, lost),
                _ => {}
            }
        }
        self.leash.lease(left_for_cmd(permits));
    }

    fn meet_danger(&mut self, permits: &PermitSet) {
        // A watcher without a signal to send has nobody to warn.
        let is_for_nobody = self.kept_for.is_some() && self.leash.terms.on_lost == OnLost::Warn;
        if is_for_nobody {
            return;
        }
        let left = permits.remaining().unwrap_or_default();
        let valid_for_ms = permits.remaining().map(|left| left.as_millis() as u64);
        self.events.emit(&RunEvent::Danger { name: worst(permits), valid_for_ms });
        let ending = CmdEnding::danger(left, &self.hindrance());
        self.act(worst(permits), &ending, self.leash.grace_in_danger(left));
    }

    fn meet_loss(&mut self, permits: &PermitSet, lost: Lost) {
        self.tell_loss(worst(permits), &lost.to_string());
        let ending = CmdEnding::loss(lost, &self.hindrance(), self.subject.store);
        match self.kept_for {
            Some(_) => self.end_watcher(worst(permits), &ending, lost),
            None => self.act(worst(permits), &ending, self.leash.grace_after(lost)),
        }
    }

    /// Ends the watcher. If it gets TERM, it informs its process. It gets KILL at once if the
    /// process is not to be informed, as after a release on purpose.
    fn end_watcher(&mut self, name: &str, ending: &CmdEnding, lost: Lost) {
        let is_told =
            self.leash.terms.on_lost == OnLost::Term && lost != Lost::Ended(Ended::Released);
        let grace = if is_told { self.leash.terms.spare } else { Duration::ZERO };
        self.end(name, ending, Exit::Lost, grace);
    }

    pub(super) fn hindrance(&mut self) -> Hindrance {
        self.note_stops();
        let since = self.continued_at.map(|at| at.elapsed());
        Hindrance::new(self.seinpaal.outage(), since, self.leash.terms.schedule.ttl())
    }

    fn act(&mut self, name: &str, ending: &CmdEnding, grace: Duration) {
        match self.leash.terms.on_lost {
            OnLost::Warn => self.say_of(name, ending, "going on, as --on-lost says"),
            OnLost::Term => self.end(name, ending, Exit::Lost, grace),
            OnLost::Kill => self.end(name, ending, Exit::Lost, Duration::ZERO),
        }
    }

    pub(super) fn tell_loss(&mut self, name: &str, cause: &str) {
        if !mem::replace(&mut self.loss_is_told, true) {
            self.events.emit(&RunEvent::Lost { name, cause: cause.to_owned() });
        }
    }
}

/// Returns how long a CMD that is about to begin may go on. If its permits are lost, that is no
/// time at all. Otherwise the guard would have no time at which to act, and CMD would go on without
/// a lease if we were stopped or killed now. Only the process of an `acquire --while-pid` goes on
/// after its permits were given back on purpose. `is_watcher` says that CMD watches such a process.
pub(in crate::run) fn left_at_start(permits: &PermitSet, is_watcher: bool) -> Option<Duration> {
    let goes_on = is_watcher && permits.state() == PermitState::Lost(Lost::Ended(Ended::Released));
    permits.remaining().filter(|_| !goes_on)
}

/// Returns how long CMD may go on. `None`: its permits do not run out by time, or they are lost. If
/// the guard were told that a lost lease has no time left, it would send TERM at once, even where
/// the cause of the loss asks for another end.
pub(in crate::run) fn left_for_cmd(permits: &PermitSet) -> Option<Duration> {
    let left = permits.remaining();
    // The time is read first. Permits that are not lost afterwards were not lost when the time was
    // read.
    left.filter(|_| !matches!(permits.state(), PermitState::Lost(_)))
}

fn worst(permits: &PermitSet) -> &str {
    permits.worst().map_or("", Permit::name)
}

#[cfg(test)]
mod tests {
    use seinpaal::Seinpaal;

    use super::*;

    #[tokio::test]
    async fn a_release_before_cmd_began_leaves_a_run_no_time_and_a_watcher_all() {
        let seinpaal = Seinpaal::in_memory();
        let semaphore = seinpaal.semaphore("n");
        let permits = PermitSet::from(semaphore.acquire().await.unwrap());
        let ticket = permits.permits()[0].ticket();
        let is_some_time = |left: Option<Duration>| left.is_some_and(|left| !left.is_zero());
        assert!(is_some_time(left_at_start(&permits, false)));
        assert!(is_some_time(left_at_start(&permits, true)));
        semaphore.release_ticket(ticket).await.unwrap();
        permits.permits()[0].lost().await;
        assert_eq!(left_at_start(&permits, false), Some(Duration::ZERO));
        assert_eq!(left_at_start(&permits, true), None);
    }
}
