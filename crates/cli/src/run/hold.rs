//! While CMD runs: pass on signals, watch the lease, end what must end.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use rustix::process::Signal;
use seinpaal::{Lost, Permit, PermitSet, PermitState};
use tokio::{
    signal::unix::Signal as Stream,
    time::{Instant, timeout},
};

use super::{
    Event, Events, Signals,
    guard::Guard,
    leash::{Leash, until},
    process::Change,
    terminal::Terminal,
};
use crate::{
    args::OnLost,
    exit::{Exit, Failure},
    output::{Voice, text::age},
};

/// How long to wait for the store to confirm the release: CMD is gone, and our caller waits.
const PARTING: Duration = Duration::from_secs(3);

/// CMD, and everything around it.
pub(super) struct Hold<'a> {
    pub(super) leash: Leash,
    pub(super) voice: Voice,
    pub(super) events: &'a mut Events,
    pub(super) signals: &'a mut Signals,
    pub(super) terminal: Option<Terminal>,
    /// CMD was told to end, and this is why.
    pub(super) exit: Option<Exit>,
}

impl Hold<'_> {
    /// Looks after CMD until it is gone, and gives the permit back.
    pub(super) async fn watch(
        mut self,
        permits: PermitSet,
        max_hold: Option<Duration>,
        mut children: Stream,
    ) -> Result<Exit, Failure> {
        let max_hold_at = max_hold.and_then(|most| Instant::now().checked_add(most));
        let mut seen = PermitState::Held;
        let status = loop {
            // Subscribed before the state is read, so that no change falls in between.
            let mut changed = pin!(permits.changed());
            if subscribe(changed.as_mut()).await {
                continue;
            }
            self.look_at_lease(&permits, &mut seen);
            if let Some(status) = self.look_at_cmd()? {
                break status;
            }
            let (kill_due, is_ending) = (self.leash.kill_due(), self.leash.is_ending());
            tokio::select! {
                biased;
                _ = children.recv() => {}
                signal = self.signals.next() => self.pass_on(signal),
                () = changed => {}
                () = kill_due => self.leash.kill(),
                () = until(max_hold_at), if !is_ending => self.reach_max_hold(max_hold, &permits),
            }
        };
        self.finish(permits, status).await
    }

    /// What became of CMD: its status, or 128+n, if it ended. If it was stopped, we stop, too.
    fn look_at_cmd(&mut self) -> Result<Option<u8>, Failure> {
        loop {
            match self.leash.change()? {
                None => return Ok(None),
                Some(Change::Ended(status)) => return Ok(Some(status)),
                Some(Change::Killed(signal)) => {
                    return Ok(Some(u8::try_from(128 + signal).unwrap_or(u8::MAX)));
                }
                Some(Change::Stopped(signal)) => self.stop_with_cmd(signal),
            }
        }
    }

    fn stop_with_cmd(&mut self, number: i32) {
        let wants_terminal = number == Signal::TTIN.as_raw() || number == Signal::TTOU.as_raw();
        // STOP is meant for CMD alone: if we stopped, too, nobody would renew.
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
        if was_lent || wants_terminal {
            self.lend_terminal();
        }
        // Nobody will ever bring us to the foreground: what the kernel does to such a group is this.
        if wants_terminal && !has_stopped {
            self.leash.cmd.signal_group(Signal::HUP);
        }
        self.leash.cmd.signal_group(Signal::CONT);
    }

    fn lend_terminal(&mut self) -> bool {
        let group = self.leash.cmd.pid();
        self.terminal.as_mut().is_some_and(|terminal| terminal.lend(group))
    }

    /// USR1 and USR2 mean something to CMD only; the rest is for all that it started.
    fn pass_on(&mut self, signal: Signal) {
        match signal {
            Signal::USR1 | Signal::USR2 => self.leash.cmd.signal(signal),
            _ => self.leash.cmd.signal_group(signal),
        }
    }

    fn look_at_lease(&mut self, permits: &PermitSet, seen: &mut PermitState) {
        let state = permits.state();
        if state != *seen {
            *seen = state;
            match state {
                PermitState::Danger => self.meet_danger(permits),
                PermitState::Lost(lost) => self.meet_loss(permits, lost),
                _ => {}
            }
        }
        if !matches!(state, PermitState::Lost(_)) {
            self.leash.lease(permits.remaining());
        }
    }

    fn meet_danger(&mut self, permits: &PermitSet) {
        let left = permits.remaining().unwrap_or_default();
        let valid_for_ms = permits.remaining().map(|left| left.as_millis() as u64);
        self.events.emit(&Event::Danger { name: worst(permits), valid_for_ms });
        let why =
            format!("{}: the lease was not renewed and ends in {}", worst(permits), age(left));
        self.act(&why, self.leash.grace_in_danger(left));
    }

    fn meet_loss(&mut self, permits: &PermitSet, lost: Lost) {
        self.events.emit(&Event::Lost { name: worst(permits), cause: lost.to_string() });
        let why = format!("{}: the lease is lost: {lost}", worst(permits));
        self.act(&why, self.leash.grace_after(lost));
    }

    fn act(&mut self, why: &str, grace: Duration) {
        match self.leash.terms.on_lost {
            OnLost::Warn => self.voice.say(format!("{why}; going on")),
            OnLost::Term => self.end(why, Exit::Lost, grace),
            OnLost::Kill => self.end(why, Exit::Lost, Duration::ZERO),
        }
    }

    fn reach_max_hold(&mut self, max_hold: Option<Duration>, permits: &PermitSet) {
        let most = age(max_hold.unwrap_or_default());
        let why = format!("{}: held for {most}, as long as --max-hold allows", first(permits));
        self.end(&why, Exit::MaxHold, self.leash.terms.kill_after);
    }

    fn end(&mut self, why: &str, exit: Exit, grace: Duration) {
        if self.leash.end(grace) {
            self.exit = Some(exit);
            self.voice.say(format!("{why}; stopping the command"));
        }
    }

    /// CMD is gone.
    async fn finish(mut self, permits: PermitSet, status: u8) -> Result<Exit, Failure> {
        self.leash.sweep().await;
        if let Some(terminal) = &mut self.terminal {
            terminal.take_back(self.leash.cmd.pid());
        }
        let guard_acted = self.leash.take_guard().is_some_and(Guard::dismiss);
        let name = first(&permits).to_owned();
        match timeout(PARTING, permits.release()).await {
            Ok(Ok(())) => self.events.emit(&Event::Released { name: &name }),
            Ok(Err(error)) => self.voice.explain(format!("{name}: {error}")),
            Err(_) => self.voice.explain(format!("{name}: the store did not confirm the release")),
        }
        self.events.emit(&Event::Exited { name: &name, status });
        Ok(match self.exit {
            Some(exit) => exit,
            None if guard_acted => Exit::Lost,
            None => Exit::Status(status),
        })
    }
}

/// The name that `run` was given.
fn first(permits: &PermitSet) -> &str {
    permits.permits().first().map_or("", Permit::name)
}

fn worst(permits: &PermitSet) -> &str {
    permits.worst().map_or("", Permit::name)
}

/// Polls once, which subscribes. `true`: it has happened already.
async fn subscribe(mut changed: Pin<&mut impl Future<Output = ()>>) -> bool {
    poll_fn(|context| Poll::Ready(changed.as_mut().poll(context).is_ready())).await
}
