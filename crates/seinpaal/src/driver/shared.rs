//! The driver, shared with its callers. A caller may enter an idle driver and have the one call
//! that it needs made on its own thread, if the store is in this process or its files. That saves
//! waking another thread, which costs more than the call.
//!
//! If another caller is inside, a call is under way, or the store would have to wait, the command
//! goes to the driver's task as usual.

use std::{
    task::Waker,
    time::{Duration, Instant},
};

use seinpaal_proto::{
    session::Call,
    time::{Micros, SECOND},
};

use super::{Driver, DriverCommand, EndedCall, figures};
use crate::room::Room;

/// A call that takes longer than this on its caller's thread shows that the machine or its disk is
/// busy.
const LONG: Duration = Duration::from_millis(20);
/// How long after that no other call is made on a caller's thread.
const PAUSE: Duration = Duration::from_millis(500);

/// The longest sleep of the driver's task while a permit or an item is held. The runtime's timers
/// stand still while the machine sleeps, and leases do not: after a suspend the task looks at them
/// within this time.
const LONGEST_SLEEP_OF_HOLDERS: Micros = SECOND;

/// A driver, with the facts about its task that callers need.
pub(crate) struct SharedDriver {
    pub(super) driver: Driver,
    /// Wakes the task.
    pub(super) waker: Option<Waker>,
    /// The instant of the task's next look.
    pub(super) looks_at: Option<Micros>,
    /// The instant until which no call is made in place.
    pause_until: Option<Instant>,
}

/// Wakes the task when it is dropped.
struct WakeOnDrop(Option<Waker>);

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        if let Some(waker) = self.0.take() {
            waker.wake();
        }
    }
}

/// Executes a command on this thread, or returns it if that is not possible now.
pub(super) fn visit(room: &Room<SharedDriver>, command: DriverCommand) -> Option<DriverCommand> {
    // The waker is dropped after the room is left, even if code inside panics. The task ends then.
    let mut nudge = WakeOnDrop(None);
    let Some(mut shared) = room.try_enter().filter(|shared| shared.is_open()) else {
        return Some(command);
    };
    nudge.0.clone_from(&shared.waker);
    // No work is left, so the task sleeps on. Waking it would cost more than the call.
    if !shared.make(command) {
        nudge.0 = None;
    }
    None
}

impl SharedDriver {
    pub(super) fn new(driver: Driver) -> Self {
        Self { driver, waker: None, looks_at: None, pause_until: None }
    }

    fn is_open(&self) -> bool {
        let driver = &self.driver;
        driver.store.answers_in_place()
            && driver.under_way.is_empty()
            && driver.closing.is_none()
            && self.pause_until.is_none_or(|until| until <= Instant::now())
    }

    /// Executes a command. Returns whether the task has work now.
    fn make(&mut self, command: DriverCommand) -> bool {
        let started = Instant::now();
        self.driver.visit(command);
        let ended = Instant::now();
        self.pause_until = (ended - started > LONG).then_some(ended + PAUSE);
        let is_sooner = |at| self.looks_at.is_none_or(|looks_at| at < looks_at);
        self.driver.has_work() || self.driver.next_timeout_of_task().is_some_and(is_sooner)
    }
}

impl Driver {
    /// Takes a command, after the commands that came before it. If exactly one call is then due,
    /// and the store can answer it at once, the call is made here. The rest is left to the task.
    fn visit(&mut self, command: DriverCommand) {
        let now = self.clock.now();
        self.take_more_commands(now);
        self.take_command(now, command);
        let calls = self.calls(now);
        match calls.as_slice() {
            [call] if self.make_in_place(now, call) => self.step(),
            _ => {
                self.make(calls);
                self.stand(now);
            }
        }
    }

    fn make_in_place(&mut self, now: Micros, call: &Call) -> bool {
        // A call that follows a silence waits until the store is heard from (`make_one`).
        if call.overdue.is_some() {
            return false;
        }
        let timing = figures::CallFigure::begin("permits");
        let Some(result) = self.store.call_in_place(&call.batch) else { return false };
        timing.end(result.as_ref().err());
        self.statistics.called();
        self.pulse.ask(now);
        self.pulse.hear(self.clock.now(), result.as_ref().err());
        self.take_done(EndedCall::Call(call.id, result));
        true
    }

    /// Returns the next timeout, or an earlier instant while the program holds something. A timer
    /// that was set before the grant may be set for later than this, and is set anew then.
    pub(super) fn next_timeout_of_task(&self) -> Option<Micros> {
        let timeout = self.next_timeout()?;
        let soon = self.holds().then(|| self.clock.now() + LONGEST_SLEEP_OF_HOLDERS);
        Some(soon.map_or(timeout, |soon| timeout.min(soon)))
    }

    /// Returns whether there is work that only the task can do.
    fn has_work(&self) -> bool {
        !(self.under_way.is_empty() && self.store_tasks.is_empty() && self.callbacks.is_empty())
    }
}
