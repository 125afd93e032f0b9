//! The watcher: a process that runs for as long as the watched process does.

use std::{env, os::fd::OwnedFd, os::unix::net::UnixStream};

use nix::sys::signal::{SigSet, Signal as Mask};
use rustix::{
    event::{PollFd, PollFlags, poll},
    process::Signal,
    stdio::stdin,
};
use signal_hook::{consts::SIGTERM, low_level::pipe};

use crate::raw;

/// The argument that makes this program a watcher. No command has this name.
pub(crate) const ARGUMENT: &str = "--watcher";

/// The reason why the watch is over.
enum WatchEnd {
    /// The process has ended, or the ticket was never printed.
    Over,
    /// The permits are lost, or about to be.
    Lost,
}

/// Watches until the process ends. If the permits are lost before that, sends the process the
/// wanted signal.
pub(crate) fn main() -> u8 {
    let Some((process, signal)) = order() else { return 1 };
    if let Ok(WatchEnd::Lost) = watch(&process)
        && let Some(signal) = signal
    {
        send(&process, signal);
    }
    0
}

fn order() -> Option<(OwnedFd, Option<Signal>)> {
    let mut words = env::args().skip(2);
    let process = raw::duplicate(words.next()?.parse().ok()?).ok()?;
    let signal = match words.next()?.as_str() {
        "term" => Some(Signal::TERM),
        "kill" => Some(Signal::KILL),
        _ => None,
    };
    Some((process, signal))
}

fn watch(process: &OwnedFd) -> std::io::Result<WatchEnd> {
    let (told, tell) = UnixStream::pair()?;
    pipe::register(SIGTERM, tell)?;
    // The keeper has started us with TERM blocked. A TERM that came before this is delivered now.
    SigSet::from(Mask::SIGTERM).thread_unblock()?;
    let mut stays = false;
    loop {
        let input = stdin();
        let mut watched = vec![
            PollFd::new(process, PollFlags::IN),
            PollFd::new(&told, PollFlags::IN),
            PollFd::new(&input, PollFlags::IN),
        ];
        watched.truncate(if stays { 2 } else { 3 });
        match poll(&mut watched, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |at: usize| watched.get(at).is_some_and(|fd| !fd.revents().is_empty());
        if is_ready(0) {
            return Ok(WatchEnd::Over);
        }
        if is_ready(1) {
            return Ok(WatchEnd::Lost);
        }
        if is_ready(2) {
            // The pipe was closed without a byte, so the process that should have printed the
            // ticket is gone.
            if rustix::io::read(stdin(), &mut [0; 1])? == 0 {
                return Ok(WatchEnd::Over);
            }
            stays = true;
        }
    }
}

#[cfg(target_os = "linux")]
fn send(process: &OwnedFd, signal: Signal) {
    // It is no error if the process has ended meanwhile.
    let _ = rustix::process::pidfd_send_signal(process, signal);
}

#[cfg(not(target_os = "linux"))]
fn send(_process: &OwnedFd, _signal: Signal) {}
