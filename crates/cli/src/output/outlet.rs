//! An outlet for messages that never blocks its callers. A thread writes the lines, and lines that
//! do not fit are dropped.
//!
//! A pipe that nobody reads, or a terminal stopped with ^S, may accept nothing for any length of
//! time. A program that holds permits must not wait for it. `O_NONBLOCK` is no solution, because it
//! belongs to the open file, which CMD and other processes share.

use std::{
    collections::VecDeque,
    fmt, io,
    os::fd::AsFd,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use nix::sys::signal::{SigSet, Signal};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

/// The most lines and bytes that may wait to be written.
const MOST_LINES: usize = 1024;
const MOST_BYTES: usize = 1024 * 1024;
/// How long a caller waits until its line is written, so that the line comes before CMD's output.
/// Callers wait only while lines get through.
const MOMENT: Duration = Duration::from_millis(50);
/// How long the program, at its end, waits for its last lines if nobody reads them.
const PARTING: Duration = Duration::from_millis(500);
/// How long the program, at its end, waits if there is room for the lines, but the machine is too
/// busy to run the writing thread.
const LONG_PARTING: Duration = Duration::from_secs(10);

/// An outlet for lines. It is cheap to clone.
#[derive(Clone)]
pub(crate) struct Outlet {
    shared: Arc<SharedOutlet>,
    to: Arc<dyn AsFd + Send + Sync>,
}

impl fmt::Debug for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outlet").field("shared", &self.shared).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct SharedOutlet {
    state: Mutex<OutletState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct OutletState {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    is_writing: bool,
    /// Whether a line took longer than [`MOMENT`], and has not been written since.
    is_stalled: bool,
    /// Whether the reader has gone. Then nothing is written any more.
    is_over: bool,
    /// How many lines were dropped since the last written line.
    dropped: u64,
}

impl Outlet {
    /// Opens an outlet with a thread that writes to this descriptor. `missed` makes the line that
    /// says how many lines were dropped.
    pub(crate) fn open(to: impl AsFd + Send + Sync + 'static, missed: fn(u64) -> Vec<u8>) -> Self {
        let outlet = Self::shut(to);
        let writer = outlet.clone();
        let thread = thread::Builder::new().name("seinpaal-outlet".into());
        let started = thread.spawn(move || writer.shared.write_on(&*writer.to, missed));
        // Without the thread nothing would ever be written, so nobody must wait for it.
        outlet.shared.state().is_over = started.is_err();
        outlet
    }

    /// Makes an outlet without a writing thread.
    fn shut(to: impl AsFd + Send + Sync + 'static) -> Self {
        Self { shared: Arc::default(), to: Arc::new(to) }
    }

    /// Takes a line to write. Never waits. Drops the line if too many lines wait already.
    pub(crate) fn send(&self, line: Vec<u8>) {
        let mut state = self.shared.state();
        if state.is_over {
            return;
        }
        if state.lines.len() >= MOST_LINES || state.bytes + line.len() > MOST_BYTES {
            state.dropped += 1;
            return;
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        self.shared.changed.notify_all();
    }

    /// Waits a moment until all lines are written. Does not wait if lines do not get through.
    pub(crate) fn settle(&self) {
        if !self.shared.state().is_stalled && !self.settle_within(MOMENT) {
            self.shared.state().is_stalled = true;
        }
    }

    /// Waits longer, because nothing is written after the end of the program. Waits longest if the
    /// descriptor has room, because then only a busy machine can be the cause of the delay.
    pub(crate) fn part(&self) {
        let deadline = Instant::now() + LONG_PARTING;
        while !self.settle_within(PARTING) && self.has_room() && Instant::now() < deadline {}
    }

    fn has_room(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let to = &*self.to;
        let mut fds = [PollFd::new(&to, PollFlags::OUT)];
        poll(&mut fds, Some(&now)).is_ok_and(|ready| ready > 0)
    }

    /// Returns whether no line waits to be written.
    pub(crate) fn is_idle(&self) -> bool {
        self.shared.state().is_idle()
    }

    fn settle_within(&self, most: Duration) -> bool {
        let deadline = Instant::now() + most;
        let mut state = self.shared.state();
        while !state.is_idle() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

impl OutletState {
    fn is_idle(&self) -> bool {
        self.is_over || self.lines.is_empty() && !self.is_writing
    }
}

impl SharedOutlet {
    /// Locks the state. No code here panics while it holds the lock, so a poisoned lock is still
    /// good.
    fn state(&self) -> MutexGuard<'_, OutletState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_on(&self, to: &(impl AsFd + ?Sized), missed: fn(u64) -> Vec<u8>) {
        // On a terminal with `tostop`, a write from the background would stop the whole process
        // group.
        let _ = SigSet::from(Signal::SIGTTOU).thread_block();
        loop {
            let line = self.next(missed);
            let result = write_all(to, &line);
            let mut state = self.state();
            state.is_writing = false;
            state.is_stalled = false;
            state.is_over = result.is_err();
            self.changed.notify_all();
            if state.is_over {
                return;
            }
        }
    }

    /// Waits for a line. The line about dropped lines comes after the lines that came before them.
    fn next(&self, missed: fn(u64) -> Vec<u8>) -> Vec<u8> {
        let mut state = self.state();
        loop {
            if let Some(line) = state.lines.pop_front() {
                state.bytes -= line.len();
                state.is_writing = true;
                return line;
            }
            if state.dropped > 0 {
                state.is_writing = true;
                return missed(std::mem::take(&mut state.dropped));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Writes all bytes, even if another process made the open file non-blocking.
fn write_all(to: &(impl AsFd + ?Sized), mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_for_room(to)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn wait_for_room(to: &(impl AsFd + ?Sized)) -> io::Result<()> {
    match poll(&mut [PollFd::new(&to, PollFlags::OUT)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
