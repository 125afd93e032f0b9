//! CMD: a process in a group of its own, with its changes and signals.

use std::{
    ffi::OsString,
    io,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command},
};

use nix::sys::signal::{SigSet, SigmaskHow, pthread_sigmask};
use rustix::{
    io::Errno,
    process::{
        Pid, Signal, WaitOptions, kill_process, kill_process_group, test_kill_process_group,
        waitpid,
    },
};

use seinpaal::store::ChildRecord;

#[cfg(target_os = "linux")]
use super::in_place;
use super::{
    group::AwaitedChild,
    raw,
    setup::{CmdStart, setup, sign},
    threshold::{self, Threshold},
    unstarted::cannot_start,
};
use crate::{exit::Failure, settings::STORE_VARIABLE};

/// The program that reads a script whose first line names none.
const SHELL: &str = "/bin/sh";

impl CmdStart<'_> {
    /// Starts this command with the environment, group and input of CMD.
    fn spawn(&self, command: &mut Command, note: &mut BeforeCmd<'_>) -> io::Result<Child> {
        command.process_group(0);
        self.withheld.iter().for_each(|key| {
            command.env_remove(key);
        });
        command.envs(self.variables.iter().map(|(key, value)| (key, value)));
        if self.hides_store {
            command.env_remove(STORE_VARIABLE);
        }
        if let Some(stdin) = &self.stdin {
            command.stdin(stdin.try_clone()?);
        }
        match note {
            BeforeCmd::Us(note) => {
                let (threshold, its) = Threshold::new()?;
                raw::before_exec(command, setup(self, move |parent| threshold::wait(&its, parent)));
                threshold.start(command, note)
            }
            BeforeCmd::Store(record) => {
                let record = record.clone();
                raw::before_exec(command, setup(self, move |parent| sign(record.as_ref(), parent)));
                command.spawn()
            }
        }
    }
}

/// Returns whether the kernel refused the file as it refuses a script whose first line names no
/// program.
fn has_no_first_line(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::NOEXEC)
}

/// The party that hears of CMD before CMD begins.
pub(super) enum BeforeCmd<'a> {
    /// This process. The function is called with CMD's process id, on another thread.
    Us(Box<dyn FnMut(Pid) + Send + 'a>),
    /// Only the store's directory, if it has a record. CMD signs the record by itself.
    Store(Option<ChildRecord>),
}

/// A change of CMD's state, as the kernel reports it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum CmdChange {
    /// CMD exited with this status.
    Ended(u8),
    /// This signal ended it.
    Killed(i32),
    /// This signal stopped it.
    Stopped(i32),
}

/// CMD, started and not yet reaped.
#[derive(Debug)]
pub(super) struct Cmd {
    pid: Pid,
    _awaited: AwaitedChild,
    /// Whether nothing is left of the group. Its number may soon belong to another group.
    is_gone: bool,
}

impl Cmd {
    /// Starts CMD, which begins once the party of `note` has heard of it. The calling thread must
    /// live as long as the process, because the kernel sends the parent-death signal when the
    /// *thread* that forked ends.
    pub(super) fn start(start: CmdStart<'_>, mut note: BeforeCmd<'_>) -> Result<Self, Failure> {
        let name = &start.command[0];
        // Without a guard and a payload, CMD can start without a copy of this process. A script
        // without a first line still takes the way below, which tries a shell.
        #[cfg(target_os = "linux")]
        if let (BeforeCmd::Store(record), None) = (&note, &start.stdin) {
            match in_place::start(&start, record.clone()) {
                Err(error) if has_no_first_line(&error) => {}
                started => {
                    return Self::numbered(started.map_err(|error| cannot_start(name, &error))?);
                }
            }
        }
        let words = &start.command[1..];
        let mut command = Command::new(start.program);
        let mut child = start.spawn(command.arg0(name).args(words), &mut note);
        // Some C libraries do not run such a script with a shell. Then we do it, as other C
        // libraries and every shell do.
        if child.as_ref().is_err_and(has_no_first_line) {
            child = start.spawn(Command::new(SHELL).arg(start.program).args(words), &mut note);
        }
        let child = child.map_err(|error| cannot_start(name, &error))?;
        Self::numbered(i32::try_from(child.id()).unwrap_or_default())
    }

    /// Makes a CMD that is reaped by its number from here on, because std cannot report a stop.
    fn numbered(pid: i32) -> Result<Self, Failure> {
        Pid::from_raw(pid)
            .map(|number| Self { pid: number, _awaited: AwaitedChild::new(pid), is_gone: false })
            .ok_or_else(|| Failure::internal("CMD has no process id"))
    }

    /// Returns CMD's process id, which is also the id of its group.
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Returns the change of CMD's state since the last call, if there was one.
    pub(super) fn change(&self) -> io::Result<Option<CmdChange>> {
        let options = WaitOptions::NOHANG | WaitOptions::UNTRACED;
        // This waits for CMD alone, because the guard is a child, too, and is reaped elsewhere.
        let Some((_, status)) = waitpid(Some(self.pid), options)? else {
            return Ok(None);
        };
        let change = if let Some(code) = status.exit_status() {
            CmdChange::Ended(u8::try_from(code).unwrap_or(u8::MAX))
        } else if let Some(signal) = status.terminating_signal() {
            CmdChange::Killed(signal)
        } else if let Some(signal) = status.stopping_signal() {
            CmdChange::Stopped(signal)
        } else {
            return Ok(None);
        };
        Ok(Some(change))
    }

    /// Sends a signal to CMD alone. It is no error if CMD has already ended.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = kill_process(self.pid, signal);
    }

    /// Sends a signal to all processes of CMD's group.
    pub(super) fn signal_group(&self, signal: Signal) {
        if !self.is_gone {
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// Asks every process of the group to end, even stopped ones.
    pub(super) fn terminate(&self) {
        self.signal_group(Signal::TERM);
        // CONT follows TERM, because a stopped process receives TERM only when it goes on.
        self.signal_group(Signal::CONT);
    }

    /// Returns whether a process of the group is left, CMD itself or one that it started.
    pub(super) fn group_lives(&self) -> bool {
        !self.is_gone && test_kill_process_group(self.pid).is_ok()
    }

    /// Returns whether no process of the group is left. If so, no more signals are sent to the
    /// group.
    pub(super) fn is_all_gone(&mut self) -> bool {
        self.is_gone = !self.group_lives();
        self.is_gone
    }
}

/// Replaces this process by CMD (exec). Returns only if that fails, with the reason.
pub(super) fn become_cmd(
    program: &Path,
    words: &[OsString],
    mask: SigSet,
    hides_store: bool,
) -> Failure {
    let exec = |command: &mut Command| {
        if hides_store {
            command.env_remove(STORE_VARIABLE);
        }
        raw::before_exec(command, move || {
            raw::ignore_what_our_caller_does();
            pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&mask), None).map_err(io::Error::from)
        });
        command.exec()
    };
    let mut error = exec(Command::new(program).arg0(&words[0]).args(&words[1..]));
    if has_no_first_line(&error) {
        error = exec(Command::new(SHELL).arg(program).args(&words[1..]));
    }
    cannot_start(&words[0], &error)
}
