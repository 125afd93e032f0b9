//! A running CMD with its guard, and the ways to end it.

use std::{mem, time::Duration};

use rustix::process::Signal;
use seinpaal::{Ended, Lost};
use tokio::{
    signal::unix::{Signal as Stream, SignalKind, signal},
    time::{Instant, sleep_until},
};

use super::{
    group::{has_only_the_dead, reap_strangers},
    guard::{GuardTimes, KillTerms, RunGuard},
    process::{Cmd, CmdChange},
    sign::Sign,
};
use crate::exit::Failure;

/// The time between two KILLs. A process that waits for a disk, for example, does not end at once.
const AGAIN: Duration = Duration::from_secs(1);
/// After this many KILLs we no longer wait for the rest of CMD's group, but only for CMD itself.
const MOST_KILLS: u32 = 2;

/// How often to look whether the processes that CMD left behind have ended.
pub(super) const GLANCE: Duration = Duration::from_millis(20);

/// CMD, and the timers that end it before its lease ends.
#[derive(Debug)]
pub(super) struct Leash {
    pub(super) cmd: Cmd,
    pub(super) terms: KillTerms,
    guard: Option<RunGuard>,
    /// The sign for the runs inside CMD.
    sign: Option<Sign>,
    /// The moment at which a CMD that was told to end is killed.
    kill_at: Option<Instant>,
    /// How often CMD has asked for a terminal that it cannot have.
    refusals: u32,
    /// How often the group has got KILL since CMD was told to end.
    kills: u32,
    /// Whether a signal has come since CMD has ended.
    is_hurried: bool,
}

/// Listens for children that end or stop. Call this before the first child starts.
pub(super) fn children() -> Result<Stream, Failure> {
    signal(SignalKind::child()).map_err(|e| Failure::internal(format!("cannot hear of CMD: {e}")))
}

impl Leash {
    /// Makes a leash. `guard` has heard of CMD before CMD began. `left` is the time that CMD's
    /// lease lasts, if it runs out by time.
    pub(super) fn new(
        cmd: Cmd,
        terms: KillTerms,
        mut guard: Option<RunGuard>,
        left: Option<Duration>,
    ) -> Self {
        if let (Some(guard), Some(left)) = (&mut guard, left) {
            guard.lease(terms.times(left, false));
        }
        Self {
            cmd,
            terms,
            guard,
            sign: None,
            kill_at: None,
            refusals: 0,
            kills: 0,
            is_hurried: false,
        }
    }

    /// Adds the sign that shows the runs inside CMD until when they may go on.
    pub(super) fn show(self, sign: Option<Sign>) -> Self {
        Self { sign, ..self }
    }

    /// Tells the guard the times until which CMD goes on under an ancestor's permit.
    pub(super) fn follow(&mut self, times: GuardTimes) {
        // A CMD that is ending has had its TERM, so the guard may only kill it.
        let is_ending = self.kill_at.is_some();
        let term = if is_ending { times.kill } else { times.term };
        if let Some(guard) = &mut self.guard {
            guard.follow(GuardTimes { term, ..times });
        }
    }

    /// Returns whether no run inside CMD goes on under our permit. If so, none can from then on.
    pub(super) fn is_alone(&self) -> bool {
        self.sign.as_ref().is_none_or(Sign::take_down)
    }

    /// Returns the change of CMD's state since the last call, if there was one.
    pub(super) fn change(&mut self) -> Result<Option<CmdChange>, Failure> {
        if let Some(guard) = &mut self.guard {
            guard.keep();
        }
        let change = self.cmd.change();
        reap_strangers();
        change.map_err(|error| Failure::internal(format!("cannot wait for CMD: {error}")))
    }

    /// Looks after the rest of CMD's group, after CMD has ended. These processes are being ended,
    /// or they are runs that go on under our permit and have guards of their own.
    pub(super) fn look_after_the_rest(&mut self) {
        match &mut self.guard {
            Some(guard) if self.cmd.is_all_gone() => guard.rest(),
            Some(guard) => guard.keep(),
            None => {
                self.cmd.is_all_gone();
            }
        }
        reap_strangers();
    }

    /// Tells the guard how long the lease lasts.
    pub(super) fn lease(&mut self, left: Option<Duration>) {
        let Some(left) = left else { return };
        let times = self.terms.times(left, self.kill_at.is_some());
        if let Some(guard) = &mut self.guard {
            guard.lease(times);
        }
        if let Some(sign) = &mut self.sign {
            sign.show(times);
        }
    }

    /// Returns how long CMD may take to end with this much left of its lease. An eighth of the rest
    /// is kept for the KILL itself.
    pub(super) fn grace_in_danger(&self, left: Duration) -> Duration {
        self.terms.kill_after.min(left - left / 8) + self.terms.spare
    }

    /// Returns how long CMD may take to end after its lease is lost.
    pub(super) fn grace_after(&self, lost: Lost) -> Duration {
        match lost {
            // The lease ran out, so CMD now works without a lease and must end at once.
            Lost::Silence | Lost::Ended(Ended::Expired) => Duration::ZERO,
            _ => self.terms.kill_after,
        }
    }

    /// Sends TERM now, and KILL after `grace`. A CMD that is already ending may get less time by
    /// this, but never more. Returns whether CMD was not ending before.
    pub(super) fn end(&mut self, grace: Duration) -> bool {
        let now = Instant::now();
        let kill_at = now.checked_add(grace).unwrap_or(now);
        if let Some(sign) = &mut self.sign {
            sign.show_end(grace);
        }
        if let Some(at) = &mut self.kill_at {
            *at = kill_at.min(*at);
            return false;
        }
        self.kill_at = Some(kill_at);
        if let Some(guard) = &mut self.guard {
            guard.end();
        }
        // Without time to end, CMD gets no TERM, but only the KILL, which is due at once.
        if !grace.is_zero() {
            self.cmd.terminate();
        }
        true
    }

    /// Answers a CMD that has stopped because it wants a terminal that it cannot have. It gets HUP
    /// the first time, then TERM, then KILL. Otherwise a CMD that ignores HUP would ask for ever.
    /// Returns whether this is the first time.
    pub(super) fn refuse_terminal(&mut self) -> bool {
        self.refusals = self.refusals.saturating_add(1);
        self.cmd.signal_group(match self.refusals {
            1 => Signal::HUP,
            2 => Signal::TERM,
            _ => Signal::KILL,
        });
        // A stopped process receives HUP and TERM only when it goes on.
        self.cmd.signal_group(Signal::CONT);
        self.refusals == 1
    }

    pub(super) fn is_ending(&self) -> bool {
        self.kill_at.is_some()
    }

    /// Waits until CMD must be [killed](Self::kill).
    pub(super) fn kill_due(&self) -> impl Future<Output = ()> + use<> {
        until(self.kill_at)
    }

    pub(super) fn kill(&mut self) {
        self.cmd.signal_group(Signal::KILL);
        self.kills = self.kills.saturating_add(1);
        self.kill_at = self.kill_at.map(|_| Instant::now() + AGAIN);
    }

    /// Returns, once CMD has ended, whether nothing is left of its group that must be ended, too.
    /// That is so if CMD ended by itself. Otherwise look again after a [`GLANCE`], and
    /// [kill](Self::kill) in time.
    pub(super) fn is_swept(&self) -> bool {
        if self.kill_at.is_none() || self.kills >= MOST_KILLS || !self.cmd.group_lives() {
            return true;
        }
        let is_over = has_only_the_dead(self.cmd.pid());
        if is_over {
            // This kills processes that were started during the check.
            self.cmd.signal_group(Signal::KILL);
        }
        is_over
    }

    /// Passes a signal that came after CMD's end to the processes that CMD left behind. The first
    /// signal asks them to end, and the second kills them.
    pub(super) fn hurry(&mut self, signal: Signal) {
        if mem::replace(&mut self.is_hurried, true) {
            self.kill();
        } else if !self.end(self.terms.kill_after) {
            self.cmd.signal_group(signal);
            self.cmd.signal_group(Signal::CONT);
        }
    }

    /// Takes the guard, which is free for another CMD once this one is gone.
    pub(super) fn take_guard(&mut self) -> Option<RunGuard> {
        self.guard.take()
    }
}

pub(super) async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
