//! The threshold at which CMD waits before it begins. It waits until the guard knows of it, and the
//! store's directory if CMD counts as the holder there. If we are killed before that, CMD never
//! begins.

use std::{
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    process::{Child, Command},
    thread,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{Pid, getpid, getppid},
    time::Timespec,
};

/// How often a waiting CMD looks whether we are still there.
const GLANCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Our end of the threshold.
#[derive(Debug)]
pub(super) struct Threshold(UnixStream);

impl Threshold {
    /// Returns our end, and the end at which CMD [waits](wait).
    pub(super) fn new() -> io::Result<(Self, UnixStream)> {
        let (ours, its) = UnixStream::pair()?;
        Ok((Self(ours), its))
    }

    /// Starts CMD from this thread, and lets it begin once `note` has been called with its process
    /// id. Another thread calls `note`, because this one waits until CMD has begun.
    pub(super) fn start(
        self,
        command: &mut Command,
        note: &mut (impl FnMut(Pid) + Send + ?Sized),
    ) -> io::Result<Child> {
        let ours = &self.0;
        thread::scope(|scope| {
            thread::Builder::new().spawn_scoped(scope, move || admit(ours, note))?;
            let child = command.spawn();
            // If CMD could not be started, no byte comes, and this ends the other thread's wait.
            let _ = ours.shutdown(Shutdown::Both);
            child
        })
    }
}

fn admit(mut ours: &UnixStream, mut note: impl FnMut(Pid)) {
    let mut number = [0; 4];
    if ours.read_exact(&mut number).is_err() {
        return;
    }
    if let Some(pid) = Pid::from_raw(i32::from_ne_bytes(number)) {
        note(pid);
        // If CMD is gone, the caller that started it learns that in another way.
        let _ = ours.write_all(b"g");
    }
}

/// Sends CMD's process id, and waits until CMD may begin. For use between fork and exec. Fails if
/// `parent` is gone.
pub(super) fn wait(its: &UnixStream, parent: Pid) -> io::Result<()> {
    rustix::io::write(its, &getpid().as_raw_pid().to_ne_bytes())?;
    loop {
        let mut fds = [PollFd::new(its, PollFlags::IN)];
        match poll(&mut fds, Some(&GLANCE)) {
            Ok(0) | Err(Errno::INTR) if getppid() == Some(parent) => {}
            Ok(0) | Err(Errno::INTR) => return Err(Errno::SRCH.into()),
            Ok(_) => return enter(its),
            Err(error) => return Err(error.into()),
        }
    }
}

fn enter(its: &UnixStream) -> io::Result<()> {
    match rustix::io::read(its, &mut [0; 1])? {
        0 => Err(Errno::SRCH.into()),
        _ => Ok(()),
    }
}
