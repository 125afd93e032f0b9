//! Signals that are sent to us.

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

/// The signals that we handle, unless our caller ignores them. The first six end a wait. While CMD
/// runs, `run` passes all of them on, but for a CONT that has continued `run` itself. `queue work`
/// keeps the first four to itself.
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
/// How often to see whether it has.
const NAP: Duration = Duration::from_millis(1);

/// Bit n: signal n has a handler of ours.
static HANDLED: AtomicU32 = AtomicU32::new(0);

/// The signals that have handlers of ours once somebody [listens](Signals::listen), but for those
/// of which [CMD ignores what our caller does](raw::ignore_what_our_caller_does).
pub(super) fn handled() -> impl Iterator<Item = Number> {
    let handled = HANDLED.load(Ordering::Relaxed);
    let has_handler = move |it: &Number| *it != Number::SIGCONT && handled & 1 << (*it as u32) != 0;
    let number = |heard: &Signal| Number::try_from(heard.as_raw()).ok();
    HEARD.iter().filter_map(number).filter(has_handler)
}

/// Lets these signals do to us what they do to any program. Nobody listens any more, and our
/// handlers would swallow them.
pub(super) fn stop_handling() {
    handled().for_each(raw::take_default);
}

/// The signals sent to us, in order. What our caller had us ignore stays ignored, for CMD and for
/// us.
#[derive(Debug)]
pub(crate) struct Signals {
    inbox: mpsc::UnboundedReceiver<Signal>,
    /// The signals that were blocked when we were started.
    pub(super) mask: SigSet,
    /// Set by the handler of CONT, to tell a stop that happened from one that did not.
    continued: Arc<AtomicBool>,
    /// As above, until a caller [asks](Self::take_continued).
    continued_since: Arc<AtomicBool>,
}

impl Signals {
    /// Starts to listen; call it before anything starts a thread.
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

    /// Returns whether somebody continued us since the last call: we may have been stopped for
    /// long. Known at once, before the signal comes out of [`next`](Self::next).
    pub(super) fn take_continued(&self) -> bool {
        self.continued_since.swap(false, Ordering::SeqCst)
    }

    /// The next signal. Cancel safe.
    pub(crate) async fn next(&mut self) -> Signal {
        match self.inbox.recv().await {
            Some(signal) => signal,
            // Everything was ignored as our caller wants.
            None => std::future::pending().await,
        }
    }

    /// Stops us as this signal does, until somebody continues us. `false` if the kernel would not
    /// stop us, because nobody could continue us: our process group is orphaned.
    pub(crate) fn stop(&self, number: i32) -> bool {
        let Ok(number) = Number::try_from(number) else { return false };
        self.continued.store(false, Ordering::SeqCst);
        raw::stop(number);
        self.was_continued()
    }

    /// The kernel may give the CONT to another thread of ours. Then that thread runs the handler,
    /// and this one may go on before the handler has begun.
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

/// `SIGINT`, for people.
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

/// All signals are let through to us while we look after CMD; returns what was blocked before. TTOU
/// stays blocked, so that we can say something while CMD has the terminal.
fn unblock_signals() -> SigSet {
    let before = SigSet::thread_get_mask().unwrap_or_else(|_| SigSet::empty());
    let _ = SigSet::from(Number::SIGTTOU).thread_set_mask();
    before
}
