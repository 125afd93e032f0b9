//! The tie between CMD and the permit of a `run` around us. When that run ends, or has to end its
//! own CMD, our CMD must end, too.

use std::{io, os::fd::OwnedFd, thread, time::Duration};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::Pid,
};
use tokio::{
    sync::oneshot::{self, error::TryRecvError},
    time::sleep,
};

use super::{
    ending::CmdEnding,
    guard::{GuardTimes, now},
    held::{Claim, CmdGrant},
    sign::Sight,
};
use crate::exit::Failure;

/// How often to look at the sign. A look costs one read of memory.
const PERIOD: Duration = Duration::from_millis(100);

/// The permit of a run around us, under which CMD goes on.
#[derive(Debug)]
pub(super) struct Tie {
    pub(super) grant: CmdGrant,
    sight: Sight,
    /// The process of the run that holds the permit.
    holder: TiedProcess,
    /// The CMD of the run around us.
    cmd: TiedProcess,
}

/// The reason why CMD must end, and how long it may take.
#[derive(Debug)]
pub(super) struct Fall {
    pub(super) ending: CmdEnding,
    pub(super) grace: Duration,
}

impl Tie {
    /// Makes a tie. `None`: the run around us has already ended.
    pub(super) fn new(claim: Claim, grant: CmdGrant) -> Result<Option<Self>, Failure> {
        let process = |pid| {
            TiedProcess::open(pid)
                .map_err(|error| Failure::internal(format!("cannot watch process {pid}: {error}")))
        };
        let (Some(holder), Some(cmd)) = (process(claim.pid)?, process(claim.cmd)?) else {
            return Ok(None);
        };
        Ok(Some(Self { grant, sight: claim.sight, holder, cmd }))
    }

    pub(super) fn sight(&self) -> &Sight {
        &self.sight
    }

    pub(super) fn times(&mut self) -> GuardTimes {
        self.sight.times()
    }

    /// Waits until something may have changed. Cancel safe.
    async fn changed(&mut self) {
        tokio::select! {
            () = self.holder.end() => {}
            () = self.cmd.end() => {}
            () = sleep(PERIOD) => {}
        }
    }

    /// Returns the reason if CMD must end. `kill_after` is how long CMD may take if the lease
    /// leaves that time.
    pub(super) fn fall(&mut self, kill_after: Duration) -> Option<Fall> {
        self.holder.look();
        self.cmd.look();
        let (times, now) = (self.times(), now());
        if !self.holder.is_gone {
            // The run around us still lives, so its own times count.
            let grace = times.kill.saturating_sub(now);
            return (now >= times.term).then(|| Fall { ending: CmdEnding::around_us(), grace });
        }
        let grace = if times != GuardTimes::NEVER {
            kill_after.min(times.end.saturating_sub(now))
        } else if self.cmd.is_gone {
            // The process was the lease. The permit became free as soon as the CMD of that run
            // ended.
            Duration::ZERO
        } else {
            // The process was the lease. The CMD of that run still lives and holds the permit now.
            return None;
        };
        Some(Fall { ending: CmdEnding::killed_around_us(), grace })
    }
}

/// Waits until one of these may have changed. Cancel safe.
pub(super) async fn any_changed(ties: &mut [Tie]) {
    if ties.is_empty() {
        return std::future::pending().await;
    }
    let changes = ties.iter_mut().map(|tie| Box::pin(tie.changed()));
    futures_util::future::select_all(changes).await;
}

/// Opens a descriptor that becomes readable when this process ends.
#[cfg(target_os = "linux")]
fn hold(pid: Pid) -> rustix::io::Result<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())
}

#[cfg(not(target_os = "linux"))]
fn hold(_pid: Pid) -> rustix::io::Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// A process that is not our child.
#[derive(Debug)]
struct TiedProcess {
    /// A thread waits for the end and sends this, because the runtime cannot wait for such a
    /// process.
    ended: oneshot::Receiver<()>,
    is_gone: bool,
}

impl TiedProcess {
    /// Starts to watch a process. `None`: it has already ended.
    fn open(pid: u32) -> io::Result<Option<Self>> {
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(None) };
        let fd = match hold(pid) {
            Ok(fd) => fd,
            Err(Errno::SRCH) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let (tell, ended) = oneshot::channel();
        thread::Builder::new().name("seinpaal-tie".to_owned()).spawn(move || {
            while poll(&mut [PollFd::new(&fd, PollFlags::IN)], None) == Err(Errno::INTR) {}
            // The receiver may be gone.
            let _ = tell.send(());
        })?;
        Ok(Some(Self { ended, is_gone: false }))
    }

    /// Notices the end without waiting for it.
    fn look(&mut self) {
        self.is_gone |= !matches!(self.ended.try_recv(), Err(TryRecvError::Empty));
    }

    /// Completes once, when the process has ended. Cancel safe.
    async fn end(&mut self) {
        if self.is_gone {
            return std::future::pending().await;
        }
        let _ = (&mut self.ended).await;
        self.is_gone = true;
    }
}
