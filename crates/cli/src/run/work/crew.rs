//! All running commands, and the signals that are meant for them.

use std::{
    cell::{Cell, RefCell},
    mem,
    time::{Duration, Instant},
};

use nix::sys::signal::SigSet;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::sync::watch;

use super::super::{Signals, ends_waiting};
use crate::{
    exit::{Exit, Failure},
    output::Voice,
};

/// The running commands, and how often they were told to stop.
pub(super) struct CmdCrew {
    pub(super) voice: Voice,
    /// The signals that were blocked when this program started.
    pub(super) mask: SigSet,
    /// The commands, each of which leads a group of its own. A number is added when the command
    /// starts and removed when it is reaped, both on one thread. So no number here belongs to
    /// another process.
    running: RefCell<Vec<Pid>>,
    stop: watch::Sender<bool>,
    /// How many signals have told us to stop, and the last of them.
    told: Cell<(u32, i32)>,
    failure: RefCell<Option<Failure>>,
    /// The moment at which we were last continued after a stop.
    continued_at: Cell<Option<Instant>>,
}

impl CmdCrew {
    pub(super) fn new(mask: SigSet, voice: Voice) -> Self {
        Self {
            voice,
            mask,
            running: RefCell::default(),
            stop: watch::Sender::new(false),
            told: Cell::default(),
            failure: RefCell::default(),
            continued_at: Cell::default(),
        }
    }

    pub(super) fn enter(&self, pid: Pid) {
        self.running.borrow_mut().push(pid);
    }

    pub(super) fn leave(&self, pid: Pid) {
        self.running.borrow_mut().retain(|running| *running != pid);
    }

    /// Makes the workers take no more items.
    pub(super) fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until the workers are told to take no more items.
    pub(super) fn is_stopped(&self) -> impl Future<Output = ()> + use<> {
        let mut stop = self.stop.subscribe();
        async move { drop(stop.wait_for(|stop| *stop).await) }
    }

    /// Stops the workers for a reason that ends the program.
    pub(super) fn fail(&self, failure: Failure) {
        self.failure.borrow_mut().get_or_insert(failure);
        self.stop();
    }

    pub(super) fn take_failure(&self) -> Option<Failure> {
        self.failure.take()
    }

    /// Returns whether the running commands were told to end. After a first signal they only are
    /// the last ones.
    pub(super) fn is_ending(&self) -> bool {
        self.told.get().0 > 1
    }

    /// Returns the exit status. A worker without an end succeeds when it is told to stop. It fails
    /// if its commands were ended, or if it had to empty the queue.
    pub(super) fn exit(&self, until_empty: bool) -> Exit {
        match self.told.get() {
            (0, _) => Exit::Success,
            (1, _) if !until_empty => Exit::Success,
            (_, number) => Exit::signal(number),
        }
    }

    /// Returns how long ago we were continued after a stop.
    pub(super) fn continued(&self) -> Option<Duration> {
        self.continued_at.get().map(|at| at.elapsed())
    }

    /// Obeys the signals that are sent to us, for as long as there is work.
    pub(super) async fn command<T>(&self, signals: &mut Signals) -> T {
        let mut is_cont_passed_on = false;
        loop {
            match signals.next().await {
                signal @ (Signal::USR1 | Signal::USR2) => self.each(|pid| {
                    let _ = kill_process(pid, signal);
                }),
                signal if ends_waiting(signal) => self.obey(signal),
                // The commands stop with us and go on here. So the CONT that has continued us is
                // not passed on to them a second time.
                Signal::TSTP => {
                    self.signal_groups(Signal::TSTP);
                    is_cont_passed_on = signals.stop(Signal::TSTP.as_raw());
                    self.signal_groups(Signal::CONT);
                }
                Signal::CONT => {
                    self.continued_at.set(Some(Instant::now()));
                    if !mem::take(&mut is_cont_passed_on) {
                        self.signal_groups(Signal::CONT);
                    }
                }
                signal => self.signal_groups(signal),
            }
        }
    }

    /// Obeys a signal to stop. After the first, no command begins. The second sends TERM to the
    /// running commands, and each further one sends KILL.
    fn obey(&self, signal: Signal) {
        let times = self.told.get().0.saturating_add(1);
        self.told.set((times, signal.as_raw()));
        match times {
            1 => self.begin_to_stop(),
            2 => {
                self.signal_groups(Signal::TERM);
                // A stopped command receives TERM only when it goes on.
                self.signal_groups(Signal::CONT);
            }
            _ => self.signal_groups(Signal::KILL),
        }
    }

    fn begin_to_stop(&self) {
        // The workers stop before the message is printed, because a reader may rely on it.
        self.stop();
        match self.running.borrow().len() {
            0 => {}
            1 => self.voice.say("finishing the item in work (another signal stops it)"),
            items => self.voice.say(format!("finishing {items} items (another signal stops them)")),
        }
    }

    fn signal_groups(&self, signal: Signal) {
        self.each(|pid| {
            let _ = kill_process_group(pid, signal);
        });
    }

    fn each(&self, act: impl Fn(Pid)) {
        self.running.borrow().iter().for_each(|pid| act(*pid));
    }
}
