//! The guard: a small process beside us that ends CMD before the lease does if we cannot.
//!
//! There is one where a lease runs out by time, and where CMD goes on under the permit of a run
//! around us. It hears from us over a pipe whom to guard and how long the lease lasts. When the
//! pipe closes without a goodbye we were killed; when the time is up and nothing was heard we were
//! stopped. Either way CMD's whole group gets TERM, then KILL, both before the lease ends. There
//! are two exceptions. If we were killed and the permit is that of a run around us, CMD gets KILL
//! at once. If we were stopped and CMD has ended by itself, what it left behind goes on.

mod note;
pub(crate) mod watch;

use std::{
    ffi::OsString,
    io::{self, PipeWriter, Read, Write},
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use rustix::{
    io::{FdFlags, fcntl_setfd},
    process::Pid,
};
use seinpaal::Schedule;

use crate::{args::OnLost, exit::Failure};
pub(crate) use note::ARGUMENT;
use note::{GuardNote, NEVER};

use super::group::AwaitedChild;
pub(super) use note::{GuardTimes, duration, nanos, now};

/// The guard's exit status when it had to act.
const ACTED: i32 = 1;
/// Its exit status when CMD had ended before, and it only had to end what CMD left behind.
const ENDED_THE_REST: i32 = 2;

/// How to end CMD.
#[derive(Clone, Copy, Debug)]
pub(super) struct KillTerms {
    pub(super) on_lost: OnLost,
    pub(super) kill_after: Duration,
    /// When the guard acts if we do not.
    pub(super) schedule: Schedule,
    /// How long CMD may go on beyond the end of its lease. Only the watcher of `acquire
    /// --while-pid` may: it does nothing under the lease, and ends by itself.
    pub(super) spare: Duration,
}

impl KillTerms {
    /// When the guard ends CMD whose lease lasts that long; `is_ending`: we are already ending CMD
    /// ourselves.
    pub(super) fn times(self, left: Duration, is_ending: bool) -> GuardTimes {
        let end = now() + left.saturating_sub(self.schedule.slack());
        let grace = self.kill_after.min(self.schedule.most_grace());
        let term = match self.on_lost {
            OnLost::Term if !is_ending => end.saturating_sub(grace),
            OnLost::Term | OnLost::Kill => end,
            OnLost::Warn => NEVER,
        };
        let end = end.saturating_add(self.spare);
        GuardTimes { term, kill: if term == NEVER { NEVER } else { end }, end }
    }
}

/// Descriptors that show that CMD goes on under an ancestor's permit: the guard keeps them open,
/// too.
pub(super) type Bonds = Arc<[OwnedFd]>;

/// Our end of the guard.
///
/// It looks after one CMD at a time.
#[derive(Debug)]
pub(super) struct RunGuard {
    terms: KillTerms,
    bonds: Bonds,
    child: Child,
    _awaited: AwaitedChild,
    pipe: PipeWriter,
    cmd: Option<GuardNote>,
    /// We are ending CMD.
    is_ending: bool,
    own: GuardTimes,
    ancestors: GuardTimes,
}

impl RunGuard {
    /// Starts a guard, and waits until no signal to our group can end it.
    pub(super) fn start(terms: KillTerms) -> Result<Self, Failure> {
        Self::start_under(terms, Arc::new([]))
    }

    /// As above, for a CMD under an ancestor's permit: if we are killed, CMD is killed at once.
    pub(super) fn start_under(terms: KillTerms, bonds: Bonds) -> Result<Self, Failure> {
        Self::spawn(terms, bonds, &[])
            .map_err(|error| Failure::internal(format!("cannot start the guard: {error}")))
    }

    /// The first notes are in the pipe before there is anybody to read them: if we are killed right
    /// after this, they are found there.
    fn spawn(terms: KillTerms, bonds: Bonds, first: &[GuardNote]) -> io::Result<Self> {
        let (reader, mut pipe) = io::pipe()?;
        // A guard that does not read must not hold us up.
        rustix::io::ioctl_fionbio(&pipe, true)?;
        for note in first {
            pipe.write_all(note.line().as_bytes())?;
        }
        let mut command = Command::new(ourselves()?);
        // The guard may outlive us: it must not keep a directory busy, and needs no secrets of the
        // environment.
        command.arg0("seinpaal").arg(ARGUMENT).env_clear().current_dir("/");
        command.stdin(reader).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = with_inherited(&bonds, || command.spawn())?;
        let awaited = AwaitedChild::new(i32::try_from(child.id()).unwrap_or_default());
        if let Some(mut ready) = child.stdout.take() {
            // One byte says that the guard is in a group of its own. A signal to our group misses
            // it from now on.
            ready.read_exact(&mut [0])?;
        }
        Ok(Self {
            terms,
            bonds,
            child,
            _awaited: awaited,
            pipe,
            cmd: None,
            is_ending: false,
            own: GuardTimes::NEVER,
            ancestors: GuardTimes::NEVER,
        })
    }

    /// Says whom to guard, and until when, if its lease runs out by time.
    pub(super) fn look_after(&mut self, group: Pid, times: Option<GuardTimes>) {
        if let Some(times) = times {
            self.lease(times);
        }
        self.protect(group);
    }

    fn protect(&mut self, group: Pid) {
        // Only we know when an ancestor gives back: without us, CMD goes at once.
        let is_under = !self.bonds.is_empty();
        let KillTerms { kill_after, spare, .. } = self.terms;
        let kill_after = if is_under { Duration::ZERO } else { kill_after + spare };
        let note = GuardNote::Cmd { group, kill_after };
        (self.cmd, self.is_ending) = (Some(note), false);
        self.tell(note);
    }

    /// Says that we are ending CMD, and with it all that CMD has started in its group.
    pub(super) fn end(&mut self) {
        self.is_ending = true;
        self.tell(GuardNote::Ending);
    }

    /// Says when to act for the lease of our own.
    pub(super) fn lease(&mut self, times: GuardTimes) {
        self.own = times;
        self.tell(self.note());
    }

    /// Says when to act for the leases of ancestors.
    pub(super) fn follow(&mut self, times: GuardTimes) {
        if std::mem::replace(&mut self.ancestors, times) != times {
            self.tell(self.note());
        }
    }

    fn note(&self) -> GuardNote {
        GuardNote::Lease(self.own.or_earlier(self.ancestors))
    }

    /// Starts another guard if somebody killed this one.
    pub(super) fn keep(&mut self) {
        let has_gone = |code| !matches!(code, Some(ACTED | ENDED_THE_REST));
        if !matches!(self.child.try_wait(), Ok(Some(status)) if has_gone(status.code())) {
            return;
        }
        let Self { cmd, is_ending, own, ancestors, .. } = *self;
        let ending = is_ending.then_some(GuardNote::Ending);
        let first = cmd.into_iter().chain(ending).chain([self.note()]).collect::<Vec<_>>();
        if let Ok(next) = Self::spawn(self.terms, Arc::clone(&self.bonds), &first) {
            *self = Self { cmd, is_ending, own, ancestors, ..next };
        }
    }

    /// CMD is gone, and the guard did not have to act: it may look after another.
    pub(super) fn rest(&mut self) {
        (self.cmd, self.is_ending) = (None, false);
        (self.own, self.ancestors) = (GuardTimes::NEVER, GuardTimes::NEVER);
        self.tell(GuardNote::Rest);
    }

    /// Returns whether the guard can take another command: it has not been killed.
    pub(super) fn is_there(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends the guard home. Returns whether it had to act.
    pub(super) fn dismiss(mut self) -> bool {
        self.tell(GuardNote::Bye);
        // The guard ends when the pipe is closed, also if the goodbye did not fit into it.
        drop(self.pipe);
        self.child.wait().is_ok_and(|status| status.code() == Some(ACTED))
    }

    fn tell(&mut self, note: GuardNote) {
        // A guard that is gone is noticed by `keep`.
        let _ = self.pipe.write_all(note.line().as_bytes());
    }
}

/// No other code of this program starts a process in the meantime: all such code runs on the main
/// thread.
fn with_inherited<T>(bonds: &[OwnedFd], start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    for bond in bonds {
        fcntl_setfd(bond, FdFlags::empty())?;
    }
    let started = start();
    for bond in bonds {
        fcntl_setfd(bond, FdFlags::CLOEXEC)?;
    }
    started
}

/// Our own program, also if its file was replaced meanwhile.
fn ourselves() -> io::Result<OsString> {
    if cfg!(target_os = "linux") {
        return Ok(OsString::from("/proc/self/exe"));
    }
    std::env::current_exe().map(Into::into)
}
