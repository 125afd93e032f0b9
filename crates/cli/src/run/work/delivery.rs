//! One item and the CMD that works on it.

use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

use rustix::process::Signal;
use seinpaal::{GiveBack, Item, PermitState};
use tokio::{signal::unix::Signal as Stream, time::sleep};

use super::slot::{Handled, WorkSlot, left_for_cmd};
use crate::{
    exit::Failure,
    output::NamedStore,
    run::{
        ending::{CmdEnding, Hindrance},
        guard::RunGuard,
        leash::{self, GLANCE, Leash},
        process::CmdChange,
    },
};

/// CMD's status for an item that should come back later.
const LATER: u8 = 75;

/// An item in work.
pub(super) struct CmdDelivery<'a> {
    pub(super) slot: &'a WorkSlot<'a>,
    pub(super) item: &'a Item,
    pub(super) leash: Leash,
    /// Notices of children that ended or stopped.
    pub(super) children: Stream,
    /// Whether CMD was made to end, which is no fault of the item.
    pub(super) is_cut_short: bool,
}

/// The end of CMD.
#[derive(Clone, Copy)]
enum CmdEnd {
    Exit(u8),
    Signal(i32),
}

impl WorkSlot<'_> {
    /// Runs CMD for this item.
    pub(super) async fn work_on(&self, item: Item) -> Handled {
        match self.begin(&item) {
            Ok(delivery) => delivery.finish().await,
            Err(failure) => {
                self.crew.fail(failure);
                Err(GiveBack::now().into())
            }
        }
    }

    fn begin<'a>(&'a self, item: &'a Item) -> Result<CmdDelivery<'a>, Failure> {
        // On a store where the process is the lease, CMD holds the item by living. Otherwise the
        // lease ends by time, so a guard is needed.
        let mut guard = item.remaining().map(|_| self.guard()).transpose()?;
        let children = leash::children()?;
        let cmd = match self.start(item, &mut guard) {
            Ok(cmd) => cmd,
            Err(failure) => {
                guard.map(RunGuard::dismiss);
                return Err(failure);
            }
        };
        self.crew.enter(cmd.pid());
        let leash = Leash::new(cmd, self.terms, guard, left_for_cmd(item));
        Ok(CmdDelivery { slot: self, item, leash, children, is_cut_short: false })
    }
}

impl CmdDelivery<'_> {
    /// Looks after CMD until it is gone, and decides how the delivery ends.
    pub(super) async fn finish(mut self) -> Handled {
        match self.watch().await {
            Ok(end) => self.judge(end),
            Err(failure) => {
                self.slot.crew.leave(self.leash.cmd.pid());
                self.slot.crew.fail(failure);
                Err(GiveBack::now().into())
            }
        }
    }

    async fn watch(&mut self) -> Result<CmdEnd, Failure> {
        let mut seen = PermitState::Held;
        let mut end = None;
        loop {
            let item = self.item;
            // The subscription comes before the state is read, so that no change is missed in
            // between.
            let mut changed = pin!(item.changed());
            if poll_fn(|context| Poll::Ready(changed.as_mut().poll(context).is_ready())).await {
                continue;
            }
            if end.is_none() {
                end = self.look_at_cmd()?;
                if end.is_some() {
                    // CMD's number may soon belong to another process.
                    self.slot.crew.leave(self.leash.cmd.pid());
                }
            }
            if let Some(end) = end
                && self.leash.is_swept()
            {
                return Ok(end);
            }
            self.look_at_lease(&mut seen);
            tokio::select! {
                biased;
                _ = self.children.recv() => {}
                () = changed => {}
                () = self.leash.kill_due() => self.leash.kill(),
                () = sleep(GLANCE), if end.is_some() => self.leash.look_after_the_rest(),
            }
        }
    }

    fn look_at_cmd(&mut self) -> Result<Option<CmdEnd>, Failure> {
        loop {
            match self.leash.change()? {
                None => return Ok(None),
                Some(CmdChange::Ended(status)) => return Ok(Some(CmdEnd::Exit(status))),
                Some(CmdChange::Killed(signal)) => return Ok(Some(CmdEnd::Signal(signal))),
                Some(CmdChange::Stopped(signal)) => self.answer_stop(signal),
            }
        }
    }

    /// Answers a stop of CMD. A command that wants the terminal would wait for ever, because none
    /// can have it while several run.
    fn answer_stop(&mut self, signal: i32) {
        let wants_terminal = signal == Signal::TTIN.as_raw() || signal == Signal::TTOU.as_raw();
        if wants_terminal && self.leash.refuse_terminal() {
            self.say("the command wants the terminal, which it cannot have; hanging up");
        }
    }

    fn look_at_lease(&mut self, seen: &mut PermitState) {
        let state = self.item.state();
        let is_news = state != *seen;
        *seen = state;
        match state {
            PermitState::Danger if is_news => {
                let left = self.item.remaining().unwrap_or_default();
                let ending = CmdEnding::danger(left, &self.hindrance());
                self.cut_short(&ending, self.leash.grace_in_danger(left));
            }
            PermitState::Lost(lost) if is_news => {
                let ending = CmdEnding::loss(lost, &self.hindrance(), self.slot.store);
                self.cut_short(&ending, self.leash.grace_after(lost));
            }
            _ => {}
        }
        self.leash.lease(left_for_cmd(self.item));
    }

    fn hindrance(&self) -> Hindrance {
        let ttl = self.leash.terms.schedule.ttl();
        Hindrance::new(self.slot.seinpaal.outage(), self.slot.crew.continued(), ttl)
    }

    fn cut_short(&mut self, ending: &CmdEnding, grace: Duration) {
        self.is_cut_short = true;
        if self.leash.end(grace) {
            self.say_cut_short(ending, "stopping the command, and the item comes again");
        }
    }

    fn say_cut_short(&self, ending: &CmdEnding, then: &str) {
        let words = format!("item {}: {}; {then}; {}", self.item.id(), ending.what, ending.remedy);
        let subject = NamedStore::new(self.item.queue(), self.slot.store);
        self.slot.crew.voice.say(subject.line(&words));
    }

    /// Decides how the worker ends the delivery. If the delivery is lost, this has no effect.
    fn judge(mut self, end: CmdEnd) -> Handled {
        let is_usual = matches!(end, CmdEnd::Exit(0 | LATER)) && !self.is_cut_short;
        let guard_acted = self.let_guard_go(is_usual);
        if guard_acted && !self.is_cut_short && !matches!(end, CmdEnd::Exit(0)) {
            let ending = CmdEnding::by_guard(&self.hindrance());
            self.say_cut_short(&ending, "the command was stopped, and the item comes again");
        }
        match end {
            CmdEnd::Exit(0) => Ok(()),
            _ if guard_acted || self.is_cut_short || self.slot.crew.is_ending() => {
                Err(GiveBack::now().into())
            }
            CmdEnd::Exit(LATER) => Err(GiveBack::after(self.slot.args.give_back_after).into()),
            CmdEnd::Exit(status) => Err(self.failed(format!("exit status {status}"))),
            CmdEnd::Signal(number) => Err(self.failed(format!("killed by signal {number}"))),
        }
    }

    /// Keeps the guard for another command, unless it may have acted. Returns whether it has acted.
    fn let_guard_go(&mut self, is_usual: bool) -> bool {
        let Some(mut guard) = self.leash.take_guard() else { return false };
        if is_usual && self.item.is_held() {
            guard.rest();
            self.slot.guards.borrow_mut().push(guard);
            return false;
        }
        RunGuard::dismiss(guard)
    }

    fn failed(&self, reason: String) -> Box<dyn std::error::Error + Send + Sync> {
        let (attempt, most) = (self.item.attempt(), self.item.deliveries());
        if attempt >= most {
            self.say(&format!(
                "{reason}; that was delivery {attempt} of {most}: a dead letter now"
            ));
        } else {
            let words = format!("{reason}; that was delivery {attempt} of {most}");
            self.slot.crew.voice.explain(format!("{}: {words}", self.of()));
        }
        reason.into()
    }

    fn say(&self, words: &str) {
        self.slot.crew.voice.say(format!("{}: {words}", self.of()));
    }

    fn of(&self) -> String {
        format!("{}: item {}", self.item.queue(), self.item.id())
    }
}
