//! The signals that are sent to this program.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use nix::sys::signal::{SigSet, Signal as Number};
use rustix::process::Signal;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

use super::raw;
use crate::exit::Failure;

/// The signals that this program handles, unless our caller ignores them. The first six end a wait.
/// While CMD runs, `run` passes all of them on, except a CONT that has continued `run` itself.
/// `queue work` obeys the first four itself.
const HEARD: [Signal; 9] = [
    Signal::TERM,
    Signal::INT,
    Signal::HUP,
    Signal::QUIT,
    Signal::USR1,
    Signal::USR2,
    Signal::CONT,
    Signal::TSTP,
    Signal::WINCH,
];

/// How long another thread may take to run the handler of the CONT that has continued us.
const HANDLER_DELAY: Duration = Duration::from_millis(50);
/// How often to look whether the handler has run.
const NAP: Duration = Duration::from_millis(1);

/// Bit n is set if signal n has a handler of ours.
static HANDLED: AtomicU32 = AtomicU32::new(0);

/// Returns the signals that have handlers of ours after [`Signals::listen`], except CONT, which
/// [`raw::ignore_what_our_caller_does`] sets for CMD.
pub(super) fn handled() -> impl Iterator<Item = Number> {
    let handled = HANDLED.load(Ordering::Relaxed);
    let has_handler = move |it: &Number| *it != Number::SIGCONT && handled & 1 << (*it as u32) != 0;
    let number = |heard: &Signal| Number::try_from(heard.as_raw()).ok();
    HEARD.iter().filter_map(number).filter(has_handler)
}

/// Gives these signals their default effect again. Nobody listens any more, and our handlers would
/// swallow them.
pub(super) fn stop_handling() {
    handled().for_each(raw::take_default);
}

/// The signals sent to us, in order. Signals that our caller ignores stay ignored, for CMD and for
/// us.
#[derive(Debug)]
pub(crate) struct Signals {
    inbox: mpsc::UnboundedReceiver<Signal>,
    /// The signals that were blocked when this program started.
    pub(super) mask: SigSet,
    /// Set by the handler of CONT. It tells whether a stop really happened.
    continued: Arc<AtomicBool>,
    /// Set by the handler of CONT, and cleared by [`take_continued`](Self::take_continued).
    continued_since: Arc<AtomicBool>,
}

impl Signals {
    /// Starts to listen. Call this before the program starts a thread.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let mask = unblock_signals();
        let (sender, inbox) = mpsc::unbounded_channel();
        for heard in HEARD.into_iter().filter(|heard| !is_ignored(*heard)) {
            let mut stream = signal(SignalKind::from_raw(heard.as_raw())).map_err(no_signals)?;
            HANDLED.fetch_or(1 << heard.as_raw(), Ordering::Relaxed);
            let sender = sender.clone();
            tokio::spawn(async move {
                while stream.recv().await.is_some() && sender.send(heard).is_ok() {}
            });
        }
        let [continued, continued_since] = [flag_of_cont()?, flag_of_cont()?];
        Ok(Self { inbox, mask, continued, continued_since })
    }

    /// Returns whether we were continued since the last call, perhaps after a long stop. This is
    /// known at once, before the signal comes out of [`next`](Self::next).
    pub(super) fn take_continued(&self) -> bool {
        self.continued_since.swap(false, Ordering::SeqCst)
    }

    /// Waits for the next signal. Cancel safe.
    pub(crate) async fn next(&mut self) -> Signal {
        match self.inbox.recv().await {
            Some(signal) => signal,
            // Our caller ignores all of these signals.
            None => std::future::pending().await,
        }
    }

    /// Stops us as this signal does, until we are continued. Returns `false` if the kernel does not
    /// stop us, because our process group is orphaned and nobody could continue us.
    pub(crate) fn stop(&self, number: i32) -> bool {
        let Ok(number) = Number::try_from(number) else { return false };
        self.continued.store(false, Ordering::SeqCst);
        raw::stop(number);
        self.was_continued()
    }

    /// Returns whether the handler of CONT has run. The kernel may give the CONT to another thread
    /// of ours. Then this thread may go on before the handler has begun, so it waits a little.
    fn was_continued(&self) -> bool {
        let most = Instant::now() + HANDLER_DELAY;
        while !self.continued.load(Ordering::SeqCst) {
            if Instant::now() >= most {
                return false;
            }
            thread::sleep(NAP);
        }
        true
    }
}

/// Returns whether this signal ends a wait.
pub(crate) fn ends_waiting(signal: Signal) -> bool {
    HEARD[..6].contains(&signal)
}

/// Returns the name of a signal, such as `SIGINT`.
pub(crate) fn name(signal: Signal) -> &'static str {
    Number::try_from(signal.as_raw()).map_or("a signal", Number::as_str)
}

fn flag_of_cont() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(Signal::CONT.as_raw(), Arc::clone(&flag)).map_err(no_signals)?;
    Ok(flag)
}

fn is_ignored(signal: Signal) -> bool {
    Number::try_from(signal.as_raw()).is_ok_and(raw::is_ignored)
}

fn no_signals(error: std::io::Error) -> Failure {
    Failure::internal(format!("cannot listen to signals: {error}"))
}

/// Unblocks all signals while we look after CMD, and returns the signals that were blocked before.
/// TTOU stays blocked, so that we can print a message while CMD has the terminal.
fn unblock_signals() -> SigSet {
    let before = SigSet::thread_get_mask().unwrap_or_else(|_| SigSet::empty());
    let _ = SigSet::from(Number::SIGTTOU).thread_set_mask();
    before
}
