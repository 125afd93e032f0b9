//! `acquire --while-pid`: permits that a keeper holds until a process ends.
//!
//! Three processes work together. `acquire` itself starts the keeper, waits until the keeper has
//! the permits, prints the ticket and ends. The *keeper* is a `run` in a session of its own. So it
//! renews, hears of losses, and has a guard if leases run out by time. Its CMD is the *watcher*,
//! which ends when the process ends. On the embedded store the watcher is the holder for as long as
//! it lives, even if the keeper dies. All three share a descriptor of the process, because the
//! number of an ended process may be given to another.

mod order;
mod watcher;

use std::{
    io::{BufRead, BufReader, PipeReader, PipeWriter, Write},
    os::fd::{AsRawFd, OwnedFd},
    process::{Child, Command, Stdio},
    thread,
};

use nix::sys::signal::{SigSet, Signal as Mask};
use rustix::{
    io::{Errno, FdFlags, fcntl_setfd},
    process::{Pid, Signal, kill_process, setsid},
};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{
    args::{AcquireArgs, EntryArgs, Global, OnLost, RunArgs},
    connection::on_runtime,
    exit::{Exit, Failure},
    output::{self, Voice, json},
    run::{self, Signals, ends_waiting},
};
pub(crate) use order::KeeperOrder;
pub(crate) use watcher::{ARGUMENT as WATCHER, main as watch};

/// Starts a keeper that takes the permits, and prints their ticket.
pub(crate) fn start(
    global: &Global,
    args: &AcquireArgs,
    pid: i32,
    voice: Voice,
) -> Result<Exit, Failure> {
    let process = open(pid)?;
    let (exit, kept) = on_runtime(async {
        let mut signals = Signals::listen()?;
        let mut keeper = KeeperProcess::spawn(&process)
            .map_err(|error| Failure::internal(format!("cannot start the keeper: {error}")))?;
        let Some(acquired) = keeper.acquired(&mut signals).await else {
            return Ok((keeper.status()?, false));
        };
        if let Err(error) = output::write(&text(global, args, &acquired)) {
            // Closing the pipe ends the watcher, and then the keeper gives the permits back.
            drop(keeper.stays);
            let _ = keeper.child.wait();
            let words =
                format!("cannot write the ticket to stdout: {error}; the permits were given back");
            return Err(Failure::new(output::exit_for(&error), words));
        }
        // This fails if the keeper has just ended, so it has given the permits back or lost them. A
        // later `renew` reports that.
        let _ = keeper.stays.write_all(b"k");
        Ok((Exit::Success, true))
    })?;
    if kept {
        voice.explain(format!("{}: kept until process {pid} ends", args.entry.name));
    }
    Ok(exit)
}

/// Holds the permits, as the keeper that `start` has started.
pub(crate) fn keep(
    global: &Global,
    args: &AcquireArgs,
    order: &KeeperOrder,
    voice: Voice,
) -> Result<Exit, Failure> {
    // In a new session, no key of our caller's terminal and no signal to its group reaches the
    // keeper.
    let _ = setsid();
    let KeeperOrder { events, process } = *order;
    let action = args.on_lost.map_or("none", OnLost::word);
    let words = ["/proc/self/exe", WATCHER, &process.to_string(), action];
    let command = words.into_iter().map(Into::into).collect();
    let run = RunArgs {
        kept_for: args.while_pid,
        // TERM only informs the watcher, which then sends the wanted signal to the process.
        on_lost: args.on_lost.map_or(OnLost::Warn, |_| OnLost::Term),
        events: Some(events),
        hide_store: true,
        // A permit that is shared with a run around us would end with that run, and not with the
        // process.
        no_reenter: true,
        ..RunArgs::plain(args.entry.clone(), command)
    };
    // TERM stays blocked for the watcher, which may get it before it has begun to listen. The
    // keeper itself unblocks it when it listens.
    SigSet::from(Mask::SIGTERM).thread_block().map_err(Failure::internal)?;
    run::run(global, &run, voice)
}

#[cfg(target_os = "linux")]
fn open(pid: i32) -> Result<OwnedFd, Failure> {
    use rustix::process::{PidfdFlags, pidfd_open};
    let number = Pid::from_raw(pid);
    let opened = number.ok_or(Errno::SRCH).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()));
    opened.map_err(|error| match error {
        Errno::SRCH => Failure::usage(format!("--while-pid {pid}: there is no such process")),
        Errno::NOSYS => Failure::usage("--while-pid needs Linux 5.3 or newer"),
        error => Failure::internal(format!("--while-pid {pid}: {error}")),
    })
}

#[cfg(not(target_os = "linux"))]
fn open(_pid: i32) -> Result<OwnedFd, Failure> {
    let _ = Errno::SRCH;
    Err(Failure::usage("--while-pid needs Linux"))
}

/// The keeper, as `acquire` sees it.
struct KeeperProcess {
    child: Child,
    /// Receives the event that the keeper has the permits. Nothing comes if the keeper ends before.
    told: oneshot::Receiver<Value>,
    /// A pipe to the stdin of the keeper, which is also that of the watcher. A byte says that the
    /// ticket was printed. If the pipe closes without a byte, the ticket was never printed.
    stays: PipeWriter,
}

impl KeeperProcess {
    fn spawn(process: &OwnedFd) -> std::io::Result<Self> {
        let (events, its_events) = std::io::pipe()?;
        let (its_stays, stays) = std::io::pipe()?;
        // The keeper inherits both descriptors, and its order has their numbers.
        fcntl_setfd(process, FdFlags::empty())?;
        fcntl_setfd(&its_events, FdFlags::empty())?;
        let order = KeeperOrder { events: its_events.as_raw_fd(), process: process.as_raw_fd() };
        let mut command = Command::new("/proc/self/exe");
        command.args(order.words()).args(std::env::args_os().skip(1));
        let child = command.stdin(its_stays).stdout(Stdio::null()).spawn()?;
        // Otherwise the pipe would stay open after the end of a keeper without permits.
        drop(its_events);
        Ok(Self { child, told: told(events), stays })
    }

    /// Waits for the permits. Signals that end the wait are passed to the keeper, because the
    /// keeper is the waiter.
    async fn acquired(&mut self, signals: &mut Signals) -> Option<Value> {
        loop {
            tokio::select! {
                biased;
                told = &mut self.told => return told.ok(),
                signal = signals.next() => {
                    if ends_waiting(signal) {
                        self.send(signal);
                    } else if signal == Signal::TSTP {
                        signals.stop(signal.as_raw());
                    }
                }
            }
        }
    }

    fn send(&self, signal: Signal) {
        // It is no error if the keeper has already ended.
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let _ = pid.map(|pid| kill_process(pid, signal));
    }

    /// Returns the status of a keeper that ended without permits. The keeper has printed the reason
    /// itself.
    fn status(&mut self) -> Result<Exit, Failure> {
        let status = self.child.wait().map_err(Failure::internal)?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        code.map(Exit::Status)
            .ok_or_else(|| Failure::internal("the keeper was killed before it had the permits"))
    }
}

/// Reads in a separate thread, so that signals are heard meanwhile.
fn told(events: PipeReader) -> oneshot::Receiver<Value> {
    let (tell, told) = oneshot::channel();
    thread::spawn(move || {
        let lines = BufReader::new(events).lines().map_while(Result::ok);
        let mut events = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        if let Some(acquired) = events.find(|event| event["event"] == "acquired") {
            let _ = tell.send(acquired);
        }
    });
    told
}

fn text(global: &Global, args: &AcquireArgs, acquired: &Value) -> String {
    let ticket = acquired["ticket"].as_str().unwrap_or_default();
    if !global.json {
        return format!("{ticket}\n");
    }
    let number = |key: &str| acquired[key].as_u64().unwrap_or_default();
    let count = |key| u32::try_from(number(key)).unwrap_or_default();
    let listed = |key: &str| acquired[key].as_array().into_iter().flatten();
    let EntryArgs { name, .. } = &args.entry;
    json::line(&json::Acquired {
        name,
        ticket: ticket.to_owned(),
        fence: number("fence"),
        slots: listed("slots").filter_map(|slot| u32::try_from(slot.as_u64()?).ok()).collect(),
        slot_names: listed("slot_names")
            .filter_map(|name| Some(name.as_str()?.to_owned()))
            .collect(),
        permits: count("permits"),
        limit: count("limit"),
        valid_for_ms: None,
    })
}
