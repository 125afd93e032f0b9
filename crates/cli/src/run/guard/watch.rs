//! The guard itself: the code of the process that guards a `run`.

use std::{io, time::Duration};

use nix::sys::signal::Signal as Number;
use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{Pid, Signal, kill_process_group, setsid, test_kill_process_group},
    time::Timespec,
};

use super::{
    ACTED, ENDED_THE_REST,
    note::{GuardNote, GuardTimes, NEVER, now},
};
use crate::run::{
    group::{GroupLeader, has_only_the_dead},
    raw,
};

/// How often the guard looks whether CMD's group has ended.
const GLANCE: Duration = Duration::from_millis(20);
/// The longest wait. A timer of the kernel stands still while the machine sleeps, so the guard
/// reads the clock at least this often.
const LONGEST_NAP: Duration = Duration::from_secs(1);

/// The state of the guard.
#[derive(Debug)]
struct GuardWatch {
    group: Option<Pid>,
    kill_after: Duration,
    term: Duration,
    kill: Duration,
    end: Duration,
    /// Whether the run is ending CMD.
    is_ending: bool,
    has_termed: bool,
    /// Whether CMD itself had ended before the guard acted.
    has_spared_cmd: bool,
    /// Whether the guard acted for an earlier CMD.
    has_acted: bool,
    is_alone: bool,
}

/// The guard's next step.
enum GuardStep {
    Wait(Duration),
    Go(i32),
}

/// Guards until there is nothing left to guard.
pub(crate) fn main() -> u8 {
    for number in [Number::SIGTERM, Number::SIGINT, Number::SIGHUP, Number::SIGQUIT] {
        raw::ignore(number);
    }
    // In a session of its own, the guard gets no signal to our caller's group or from its terminal.
    let _ = setsid();
    let _ = rustix::io::write(rustix::stdio::stdout(), b"r");
    let code = GuardWatch::new().run();
    u8::try_from(code).unwrap_or(u8::MAX)
}

impl GuardWatch {
    fn new() -> Self {
        Self {
            group: None,
            kill_after: Duration::ZERO,
            term: NEVER,
            kill: NEVER,
            end: NEVER,
            is_ending: false,
            has_termed: false,
            has_spared_cmd: false,
            has_acted: false,
            is_alone: false,
        }
    }

    fn run(mut self) -> i32 {
        let mut text = Vec::new();
        loop {
            let nap = match self.act() {
                GuardStep::Go(code) => return code,
                GuardStep::Wait(nap) => nap,
            };
            if self.is_alone {
                std::thread::sleep(nap);
                continue;
            }
            match hear(&mut text, nap) {
                Ok(true) => {}
                Ok(false) | Err(_) => self.be_alone(),
            }
            while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
                let line = text.drain(..=end).collect::<Vec<_>>();
                match GuardNote::parse(String::from_utf8_lossy(&line).trim_end()) {
                    Some(GuardNote::Bye) => return self.code(),
                    Some(note) => self.take(note),
                    None => {}
                }
            }
        }
    }

    fn take(&mut self, note: GuardNote) {
        match note {
            GuardNote::Cmd { group, kill_after } => {
                (self.group, self.kill_after) = (Some(group), kill_after);
                (self.is_ending, self.has_acted) = (false, false);
            }
            // CMD has had its TERM, so a new lease changes nothing: the end goes on.
            GuardNote::Lease(_) if self.has_termed => {}
            GuardNote::Lease(GuardTimes { term, kill, end }) => {
                (self.term, self.kill, self.end) = (term, kill, end);
            }
            GuardNote::Ending => self.is_ending = true,
            GuardNote::Rest => *self = Self { has_acted: self.code() == ACTED, ..Self::new() },
            GuardNote::Bye => {}
        }
    }

    /// Takes note that the pipe was closed without a goodbye. The run was killed.
    fn be_alone(&mut self) {
        self.is_alone = true;
        let now = now();
        self.term = now;
        self.kill = self.end.min(now.saturating_add(self.kill_after));
    }

    fn code(&self) -> i32 {
        match (self.has_termed, self.has_spared_cmd) {
            (false, _) if self.has_acted => ACTED,
            (false, _) => 0,
            (true, false) => ACTED,
            (true, true) => ENDED_THE_REST,
        }
    }

    /// Returns whether CMD ended by itself, and the run has not seen that yet because it is
    /// stopped. Then the rest of the group may go on. It may not if the run was already ending the
    /// group.
    fn leaves_it_to_the_run(&mut self, group: Pid) -> bool {
        if self.has_termed || self.is_alone {
            return false;
        }
        let leader = GroupLeader::look(group);
        self.has_spared_cmd = leader != GroupLeader::Lives;
        leader == GroupLeader::Ended && !self.is_ending
    }

    /// Does the step that is due.
    fn act(&mut self) -> GuardStep {
        let now = now();
        let Some(group) = self.group else {
            return if self.is_alone { GuardStep::Go(0) } else { GuardStep::Wait(LONGEST_NAP) };
        };
        let is_due = now >= self.term.min(self.kill);
        if is_due && self.leaves_it_to_the_run(group) {
            return GuardStep::Wait(LONGEST_NAP);
        }
        if now >= self.kill {
            self.has_termed = true;
            let _ = kill_process_group(group, Signal::KILL);
            return GuardStep::Go(self.code());
        }
        if is_due && !self.has_termed {
            self.has_termed = true;
            let _ = kill_process_group(group, Signal::TERM);
            let _ = kill_process_group(group, Signal::CONT);
        }
        if !self.has_termed {
            return GuardStep::Wait((self.term.min(self.kill) - now).min(LONGEST_NAP));
        }
        // A living run sees by itself when the group has ended, and says goodbye. Only a guard that
        // is alone has to look.
        if self.is_alone && test_kill_process_group(group).is_err() {
            return GuardStep::Go(self.code());
        }
        if self.is_alone && has_only_the_dead(group) {
            // This kills processes that were started during the look.
            let _ = kill_process_group(group, Signal::KILL);
            return GuardStep::Go(self.code());
        }
        GuardStep::Wait((self.kill - now).min(GLANCE))
    }
}

/// Waits for text, at most for `nap`. `false`: the pipe is closed.
fn hear(text: &mut Vec<u8>, nap: Duration) -> io::Result<bool> {
    let stdin = rustix::stdio::stdin();
    let timeout = Timespec { tv_sec: nap.as_secs() as i64, tv_nsec: nap.subsec_nanos().into() };
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    match poll(&mut fds, Some(&timeout)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(true),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    let mut buffer = [0; 1024];
    let read = rustix::io::read(stdin, &mut buffer)?;
    text.extend_from_slice(&buffer[..read]);
    Ok(read > 0)
}
