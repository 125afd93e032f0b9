//! The time while CMD runs: signals are passed on, the lease is watched, and CMD is ended when that
//! is due.

mod lease;
mod parting;

use std::{
    future::poll_fn,
    mem,
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use rustix::process::Signal;
use seinpaal::{PermitSet, PermitState, Seinpaal};
use tokio::{
    signal::unix::Signal as Stream,
    time::{Instant, sleep},
};

pub(super) use self::lease::{left_at_start, left_for_cmd};
use super::{
    Events, Signals,
    ending::CmdEnding,
    ends_waiting,
    leash::{GLANCE, Leash, until},
    once::Once,
    process::CmdChange,
    terminal::Terminal,
    tie::{Tie, any_changed},
};
use crate::{
    exit::{Exit, Failure},
    output::{NamedStore, Voice},
};

/// A running CMD with its leash, its terminal and its permits.
pub(super) struct HoldOfCmd<'a> {
    pub(super) leash: Leash,
    pub(super) seinpaal: &'a Seinpaal,
    pub(super) subject: NamedStore<'a>,
    pub(super) voice: Voice,
    pub(super) events: &'a Events,
    pub(super) signals: &'a mut Signals,
    pub(super) terminal: Option<Terminal>,
    /// The exit status of this program, if CMD was told to end.
    pub(super) exit: Option<Exit>,
    /// Whether CMD has ended. Runs that it left behind may go on under our permit.
    pub(super) has_ended: bool,
    /// Whether a CONT that will still come out of `signals` has continued us, and CMD has already
    /// had its CONT for it.
    pub(super) is_cont_passed_on: bool,
    /// The moment at which we were last continued after a stop.
    pub(super) continued_at: Option<Instant>,
    /// The permits of runs around us that CMD goes on under.
    pub(super) ties: Vec<Tie>,
    /// The process whose watcher CMD is, for `acquire --while-pid`.
    pub(super) kept_for: Option<i32>,
    /// The job that is noted as done when CMD has ended with 0.
    pub(super) once: Option<&'a Once>,
    /// Whether an event has reported a loss.
    pub(super) loss_is_told: bool,
    /// The moment until which the permits are kept, even if CMD has ended.
    pub(super) min_hold_at: Option<Instant>,
}

impl HoldOfCmd<'_> {
    /// Looks after CMD until it is gone, and then gives back our own permits, unless runs around us
    /// hold all of them.
    pub(super) async fn watch(
        mut self,
        permits: Option<PermitSet>,
        max_hold: Option<Duration>,
        mut children: Stream,
    ) -> Result<Exit, Failure> {
        let max_hold_at = max_hold.and_then(|most| Instant::now().checked_add(most));
        let mut seen = PermitState::Held;
        let mut status = None;
        let status = loop {
            // The subscription comes before the state is read, so that no change is missed in
            // between.
            let mut changed = pin!(changed(permits.as_ref()));
            if subscribe(changed.as_mut()).await {
                continue;
            }
            // CMD is looked at before the lease, so that a loss noticed later does not change the
            // status of a CMD that has ended.
            if status.is_none() {
                status = self.look_at_cmd()?;
                self.has_ended = status.is_some();
            }
            if let Some(status) = status
                && self.leash.is_alone()
                && self.leash.is_swept()
            {
                break status;
            }
            if let Some(permits) = &permits {
                self.look_at_lease(permits, &mut seen);
            }
            self.look_at_ties();
            let (kill_due, is_ending) = (self.leash.kill_due(), self.leash.is_ending());
            tokio::select! {
                biased;
                _ = children.recv() => {}
                signal = self.signals.next() => self.take(signal, status.is_none()),
                () = changed => {}
                () = kill_due => self.leash.kill(),
                () = until(max_hold_at), if !is_ending => self.reach_max_hold(max_hold),
                () = any_changed(&mut self.ties) => {}
                () = sleep(GLANCE), if status.is_some() => self.leash.look_after_the_rest(),
            }
        };
        self.finish(permits, status).await
    }

    /// Takes a signal. If CMD is gone, the signal is for the runs that it left behind, which go on
    /// under our permit, and for processes that are being ended.
    fn take(&mut self, signal: Signal, cmd_is_there: bool) {
        if signal == Signal::CONT && mem::take(&mut self.is_cont_passed_on) {
            return;
        }
        match signal {
            _ if cmd_is_there => self.pass_on(signal),
            Signal::USR1 | Signal::USR2 => {
                self.leash.end(self.leash.terms.kill_after);
            }
            _ if ends_waiting(signal) => self.leash.hurry(signal),
            _ => {}
        }
    }

    /// Returns the status of CMD, or 128+n, if it has ended. If CMD was stopped, this process
    /// stops, too.
    fn look_at_cmd(&mut self) -> Result<Option<u8>, Failure> {
        loop {
            match self.leash.change()? {
                None => return Ok(None),
                Some(CmdChange::Ended(status)) => return Ok(Some(status)),
                Some(CmdChange::Killed(signal)) => {
                    return Ok(Some(u8::try_from(128 + signal).unwrap_or(u8::MAX)));
                }
                Some(CmdChange::Stopped(signal)) => self.stop_with_cmd(signal),
            }
        }
    }

    fn stop_with_cmd(&mut self, number: i32) {
        let wants_terminal = number == Signal::TTIN.as_raw() || number == Signal::TTOU.as_raw();
        // STOP is meant for CMD alone. If `run` stopped, too, the lease would not be renewed.
        if !wants_terminal && number != Signal::TSTP.as_raw() {
            return;
        }
        if wants_terminal && self.lend_terminal() {
            return self.leash.cmd.signal_group(Signal::CONT);
        }
        let was_lent = self.terminal.as_ref().is_some_and(Terminal::is_lent);
        if let Some(terminal) = &mut self.terminal {
            terminal.take_back(self.leash.cmd.pid());
        }
        let has_stopped = self.signals.stop(number);
        self.is_cont_passed_on = has_stopped;
        let is_lent = (was_lent || wants_terminal) && self.lend_terminal();
        // If the kernel did not stop us and the terminal is not ours to lend, our group is
        // orphaned, and no shell can ever bring us to the foreground. The kernel itself sends HUP
        // to stopped groups of that kind.
        if !wants_terminal || has_stopped || is_lent {
            self.leash.cmd.signal_group(Signal::CONT);
        } else if self.leash.refuse_terminal() {
            self.say("the command wants the terminal, which nobody can give it: hanging up; redirect its input");
        }
    }

    fn lend_terminal(&mut self) -> bool {
        let group = self.leash.cmd.pid();
        self.terminal.as_mut().is_some_and(|terminal| terminal.lend(group))
    }

    /// Passes a signal on. USR1 and USR2 go to CMD only. All other signals go to its whole group.
    fn pass_on(&mut self, signal: Signal) {
        match signal {
            Signal::USR1 | Signal::USR2 => self.leash.cmd.signal(signal),
            _ => self.leash.cmd.signal_group(signal),
        }
    }

    fn reach_max_hold(&mut self, max_hold: Option<Duration>) {
        let ending = CmdEnding::max_hold(max_hold.unwrap_or_default());
        self.end(self.subject.name, &ending, Exit::MaxHold, self.leash.terms.kill_after);
    }

    fn end(&mut self, name: &str, ending: &CmdEnding, exit: Exit, grace: Duration) {
        if !self.leash.end(grace) {
            return;
        }
        // A CMD that has ended by itself keeps its status.
        if self.has_ended {
            self.say_of(name, ending, "stopping the processes that the command left behind");
        } else {
            self.exit = Some(exit);
            self.say_of(name, ending, "stopping the command");
        }
    }

    fn say_of(&self, name: &str, ending: &CmdEnding, then: &str) {
        let words = format!("{}; {then}; {}", ending.what, ending.remedy);
        self.voice.say(NamedStore { name, ..self.subject }.line(&words));
    }

    fn say(&self, words: &str) {
        self.voice.say(self.subject.line(words));
    }
}

async fn changed(permits: Option<&PermitSet>) {
    match permits {
        Some(permits) => permits.changed().await,
        None => std::future::pending().await,
    }
}

/// Polls once, which subscribes. `true`: the change has already happened.
async fn subscribe(mut changed: Pin<&mut impl Future<Output = ()>>) -> bool {
    poll_fn(|context| Poll::Ready(changed.as_mut().poll(context).is_ready())).await
}
