//! The guard: a small process beside this one that ends CMD before its lease ends, if this process
//! cannot.
//!
//! There is a guard if the lease runs out by time, or if CMD goes on under the permit of a run
//! around us. We tell the guard over a pipe which group to guard and how long the lease lasts. If
//! the pipe closes without a goodbye, we were killed. If the time is up and the guard has heard
//! nothing, we were stopped. In both cases CMD's whole group gets TERM and then KILL, both before
//! the lease ends. There are two exceptions. If we were killed and the permit is that of a run
//! around us, CMD gets KILL at once. If we were stopped and CMD has ended by itself, the processes
//! that it left behind go on.

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
/// The guard's exit status when CMD had ended by itself, and the guard only had to end the
/// processes that CMD left behind.
const ENDED_THE_REST: i32 = 2;

/// The terms on which CMD is ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct KillTerms {
    pub(super) on_lost: OnLost,
    pub(super) kill_after: Duration,
    /// The schedule of renewals, which says when the guard acts.
    pub(super) schedule: Schedule,
    /// How long CMD may go on beyond the end of its lease. It is zero except for the watcher of
    /// `acquire --while-pid`, which does nothing under the lease and ends by itself.
    pub(super) spare: Duration,
}

impl KillTerms {
    /// Returns when the guard ends a CMD whose lease lasts for `left`. `is_ending` says that we are
    /// already ending CMD ourselves.
    pub(super) fn times(self, left: Duration, is_ending: bool) -> GuardTimes {
        let end = now() + left.saturating_sub(self.schedule.slack());
        let grace = self.kill_after.min(self.schedule.most_grace());
        let term = match self.on_lost {
            OnLost::Term if !is_ending => end.saturating_sub(grace),
            // A CMD that is already ending has had its TERM, so only the KILL is left.
            OnLost::Term | OnLost::Kill => end,
            OnLost::Warn => NEVER,
        };
        let end = end.saturating_add(self.spare);
        GuardTimes { term, kill: if term == NEVER { NEVER } else { end }, end }
    }
}

/// Descriptors that show that CMD goes on under an ancestor's permit. The guard keeps them open,
/// too.
pub(super) type Bonds = Arc<[OwnedFd]>;

/// The guard, as this process sees it.
///
/// A guard looks after one CMD at a time.
#[derive(Debug)]
pub(super) struct RunGuard {
    terms: KillTerms,
    bonds: Bonds,
    child: Child,
    _awaited: AwaitedChild,
    pipe: PipeWriter,
    cmd: Option<GuardNote>,
    /// Whether we are ending CMD.
    is_ending: bool,
    own: GuardTimes,
    ancestors: GuardTimes,
}

impl RunGuard {
    /// Starts a guard, and waits until no signal to our group can end it.
    pub(super) fn start(terms: KillTerms) -> Result<Self, Failure> {
        Self::start_under(terms, Arc::new([]))
    }

    /// Starts a guard for a CMD under an ancestor's permit. If we are killed, CMD is killed at
    /// once.
    pub(super) fn start_under(terms: KillTerms, bonds: Bonds) -> Result<Self, Failure> {
        Self::spawn(terms, bonds, &[])
            .map_err(|error| Failure::internal(format!("cannot start the guard: {error}")))
    }

    /// Starts a guard. The first notes are in the pipe before the guard runs. So it finds them even
    /// if we are killed right after this.
    fn spawn(terms: KillTerms, bonds: Bonds, first: &[GuardNote]) -> io::Result<Self> {
        let (reader, mut pipe) = io::pipe()?;
        // A guard that does not read must not delay us.
        rustix::io::ioctl_fionbio(&pipe, true)?;
        for note in first {
            pipe.write_all(note.line().as_bytes())?;
        }
        let mut command = Command::new(ourselves()?);
        // The guard may outlive us. So it must not keep a directory busy, and it gets no secrets of
        // the environment.
        command.arg0("seinpaal").arg(ARGUMENT).env_clear().current_dir("/");
        command.stdin(reader).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = with_inherited(&bonds, || command.spawn())?;
        let awaited = AwaitedChild::new(i32::try_from(child.id()).unwrap_or_default());
        if let Some(mut ready) = child.stdout.take() {
            // One byte says that the guard is in a group of its own. From now on a signal to our
            // group does not reach it.
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

    /// Tells the guard which group to guard, and until when, if the lease runs out by time.
    pub(super) fn look_after(&mut self, group: Pid, times: Option<GuardTimes>) {
        if let Some(times) = times {
            self.lease(times);
        }
        self.protect(group);
    }

    fn protect(&mut self, group: Pid) {
        // Only this process knows when an ancestor gives back its permit. So if this process is
        // killed, CMD must be killed at once.
        let is_under = !self.bonds.is_empty();
        let KillTerms { kill_after, spare, .. } = self.terms;
        let kill_after = if is_under { Duration::ZERO } else { kill_after + spare };
        let note = GuardNote::Cmd { group, kill_after };
        (self.cmd, self.is_ending) = (Some(note), false);
        self.tell(note);
    }

    /// Tells the guard that we are ending CMD, and with it all processes of its group.
    pub(super) fn end(&mut self) {
        self.is_ending = true;
        self.tell(GuardNote::Ending);
    }

    /// Tells the guard when to act for our own lease.
    pub(super) fn lease(&mut self, times: GuardTimes) {
        self.own = times;
        self.tell(self.note());
    }

    /// Tells the guard when to act for the leases of ancestors.
    pub(super) fn follow(&mut self, times: GuardTimes) {
        if std::mem::replace(&mut self.ancestors, times) != times {
            self.tell(self.note());
        }
    }

    fn note(&self) -> GuardNote {
        GuardNote::Lease(self.own.or_earlier(self.ancestors))
    }

    /// Starts another guard if this one was killed.
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

    /// Tells the guard that CMD is gone. It may then look after another CMD.
    pub(super) fn rest(&mut self) {
        (self.cmd, self.is_ending) = (None, false);
        (self.own, self.ancestors) = (GuardTimes::NEVER, GuardTimes::NEVER);
        self.tell(GuardNote::Rest);
    }

    /// Returns whether the guard still runs, and so can take another command.
    pub(super) fn is_there(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends the guard. Returns whether it had to act.
    pub(super) fn dismiss(mut self) -> bool {
        self.tell(GuardNote::Bye);
        // The guard ends when the pipe closes, even if the goodbye did not fit into it.
        drop(self.pipe);
        self.child.wait().is_ok_and(|status| status.code() == Some(ACTED))
    }

    fn tell(&mut self, note: GuardNote) {
        // `keep` notices a guard that is gone, so a failure here needs no action.
        let _ = self.pipe.write_all(note.line().as_bytes());
    }
}

/// Runs `start` while its child inherits these descriptors. No other child can inherit them
/// meanwhile, because all code that starts processes runs on the main thread.
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

/// Returns the path of our own program, which works even if its file was replaced meanwhile.
fn ourselves() -> io::Result<OsString> {
    if cfg!(target_os = "linux") {
        return Ok(OsString::from("/proc/self/exe"));
    }
    std::env::current_exe().map(Into::into)
}
