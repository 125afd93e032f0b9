//! A script of faults: the calls that go wrong, and their faults.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use seinpaal_store::StoreErrorKind;

/// A fault of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The request does not arrive. The caller learns that it may have been executed.
    LoseRequest,
    /// The store executes the request, and the answer does not arrive.
    LoseAnswer,
    /// The request arrives later, by this much.
    Delay(Duration),
    /// The request arrives twice. The caller sees the second answer.
    Repeat,
    /// The store refuses the request with this kind of error, and executes nothing.
    Fail(StoreErrorKind),
    /// The store executes the request. For this long the caller hears neither an answer nor an
    /// error. Then the caller gets the error that the request may have been executed.
    Silence(Duration),
}

/// The calls that a fault can hit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SeamCall {
    /// Any of the calls below, but no news.
    Any,
    /// A batch with an acquire in it.
    Acquire,
    /// A batch with a renewal in it.
    Renew,
    /// A batch with a release in it.
    Release,
    /// A batch with a cancel in it.
    Cancel,
    /// A batch that changes the configuration of a name.
    Configure,
    /// A batch that inspects a name, or a list of names or queues.
    Inspect,
    /// A call about several names in one step.
    Together,
    /// A guarded write.
    Guarded,
    /// A batch with a push in it.
    Push,
    /// A batch with a pop in it.
    Pop,
    /// A batch with the end of a delivery in it.
    Finish,
    /// A batch that renews deliveries.
    RenewDeliveries,
    /// News. A fault loses them, delays them, or sends them twice. An error and a silence lose
    /// them, too.
    News,
}

/// One line of the script.
#[derive(Clone, Copy, Debug)]
struct ScriptLine {
    operation: SeamCall,
    fault: Fault,
    is_lasting: bool,
}

/// A script of faults. Stores of several clients can share one.
///
/// # Example
/// ```
/// use seinpaal_rig::{Fault, Faults, SeamCall};
///
/// let faults = Faults::default();
/// faults.next(SeamCall::Acquire, Fault::LoseAnswer); // the next acquire only
/// faults.every(SeamCall::News, Fault::Delay(std::time::Duration::from_secs(1)));
/// assert_eq!((faults.left(), faults.happened()), (1, 0));
/// ```
#[derive(Debug, Default)]
pub struct Faults(Mutex<Script>);

#[derive(Debug, Default)]
struct Script {
    lines: VecDeque<ScriptLine>,
    happened: u64,
}

impl Faults {
    /// Makes the next call of this operation go wrong. If `next` is called several times, the
    /// faults happen one a call, in that order.
    pub fn next(&self, operation: SeamCall, fault: Fault) {
        self.lock().lines.push_back(ScriptLine { operation, fault, is_lasting: false });
    }

    /// Makes every call of this operation go wrong from now on, except where [`next`](Self::next)
    /// has a fault for it.
    pub fn every(&self, operation: SeamCall, fault: Fault) {
        self.lock().lines.push_back(ScriptLine { operation, fault, is_lasting: true });
    }

    /// Removes all faults from the script, except those under way.
    pub fn clear(&self) {
        self.lock().lines.clear();
    }

    /// How many faults of [`next`](Self::next) have not happened. A test that ends with faults left
    /// has not tested what its name says.
    #[must_use]
    pub fn left(&self) -> usize {
        self.lock().lines.iter().filter(|line| !line.is_lasting).count()
    }

    /// How many calls went wrong.
    #[must_use]
    pub fn happened(&self) -> u64 {
        self.lock().happened
    }

    pub(super) fn take(&self, is_about: impl Fn(SeamCall) -> bool) -> Option<Fault> {
        let mut script = self.lock();
        let at = script.find(false, &is_about).or_else(|| script.find(true, &is_about))?;
        script.happened += 1;
        let line = script.lines[at];
        if !line.is_lasting {
            script.lines.remove(at);
        }
        Some(line.fault)
    }

    pub(super) fn expects(&self, is_about: impl Fn(SeamCall) -> bool) -> bool {
        self.lock().lines.iter().any(|line| is_about(line.operation))
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Script {
    fn find(&self, is_lasting: bool, is_about: impl Fn(SeamCall) -> bool) -> Option<usize> {
        self.lines.iter().position(|line| line.is_lasting == is_lasting && is_about(line.operation))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LoseRequest => f.write_str("the request is lost"),
            Self::LoseAnswer => f.write_str("the answer is lost"),
            Self::Delay(time) => write!(f, "the request is {time:?} late"),
            Self::Repeat => f.write_str("the request arrives twice"),
            Self::Fail(kind) => write!(f, "the store refuses it: {kind:?}"),
            Self::Silence(time) => write!(f, "the store says nothing for {time:?}"),
        }
    }
}
