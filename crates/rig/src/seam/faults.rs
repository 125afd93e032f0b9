//! A script of faults: which call goes wrong next, and how.

use std::{
    collections::VecDeque,
    fmt,
    future::{Future, pending},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use seinpaal_proto::{Batch, Inbox, Name, Replies, Request, Snapshot, queue};
use seinpaal_store::{
    Certainty, GuardedError, GuardedWrite, News, NewsSender, Store, StoreError, StoreErrorKind,
    Together, Written,
};

use super::{Answer, Between, in_one_step};

/// What goes wrong with a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The request does not arrive. The caller learns that it may have been executed.
    LoseRequest,
    /// The store executes the request, and the answer does not arrive.
    LoseAnswer,
    /// The request arrives so much later.
    Delay(Duration),
    /// The request arrives twice. The caller sees the second answer.
    Repeat,
    /// The store refuses the request with this kind of error, and executes nothing.
    Fail(StoreErrorKind),
    /// The store executes the request, and for so long the caller hears neither an answer nor an
    /// error. Then it learns that nobody knows whether the request was executed.
    Silence(Duration),
}

/// Which calls a fault is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    /// Any of those below.
    Any,
    /// A batch with an acquire in it.
    Acquire,
    /// A batch with a renewal in it.
    Renew,
    /// A batch with a release in it.
    Release,
    /// A batch with a cancel in it.
    Cancel,
    /// A batch with a change of what is configured in it.
    Configure,
    /// A batch that inspects a name, or a list of names or queues.
    Inspect,
    /// Several names in one step.
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
    /// News. They are lost, late, or told twice; an error and silence lose them, too.
    News,
}

/// One line of the script.
#[derive(Clone, Copy, Debug)]
struct Line {
    operation: Operation,
    fault: Fault,
    is_lasting: bool,
}

/// A script of faults. Stores of several clients can share one.
///
/// # Example
/// ```
/// use seinpaal_rig::{Fault, Faults, Operation};
///
/// let faults = Faults::default();
/// faults.next(Operation::Acquire, Fault::LoseAnswer); // the next acquire only
/// faults.every(Operation::News, Fault::Delay(std::time::Duration::from_secs(1)));
/// assert_eq!((faults.left(), faults.happened()), (1, 0));
/// ```
#[derive(Debug, Default)]
pub struct Faults(Mutex<Script>);

#[derive(Debug, Default)]
struct Script {
    lines: VecDeque<Line>,
    happened: u64,
}

impl Faults {
    /// The next such call goes wrong. Several of these for one operation happen in this order, a
    /// call each.
    pub fn next(&self, operation: Operation, fault: Fault) {
        self.lock().lines.push_back(Line { operation, fault, is_lasting: false });
    }

    /// Every such call goes wrong from now on, where nothing is said about the next one.
    pub fn every(&self, operation: Operation, fault: Fault) {
        self.lock().lines.push_back(Line { operation, fault, is_lasting: true });
    }

    /// Nothing goes wrong any more, except for what is under way.
    pub fn clear(&self) {
        self.lock().lines.clear();
    }

    /// How many of the faults that are to happen once have not happened. A test that ends with
    /// some of them left has not tested what it says.
    #[must_use]
    pub fn left(&self) -> usize {
        self.lock().lines.iter().filter(|line| !line.is_lasting).count()
    }

    /// How often something went wrong.
    #[must_use]
    pub fn happened(&self) -> u64 {
        self.lock().happened
    }

    fn take(&self, is_about: impl Fn(Operation) -> bool) -> Option<Fault> {
        let mut script = self.lock();
        let at = script.find(false, &is_about).or_else(|| script.find(true, &is_about))?;
        script.happened += 1;
        let line = script.lines[at];
        if !line.is_lasting {
            script.lines.remove(at);
        }
        Some(line.fault)
    }

    fn expects(&self, is_about: impl Fn(Operation) -> bool) -> bool {
        self.lock().lines.iter().any(|line| is_about(line.operation))
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Script {
    fn find(&self, is_lasting: bool, is_about: impl Fn(Operation) -> bool) -> Option<usize> {
        self.lines.iter().position(|line| line.is_lasting == is_lasting && is_about(line.operation))
    }
}

/// Whether a batch about permits is such a call.
fn is_in(batch: &Batch, operation: Operation) -> bool {
    let any = |is_it: fn(&Request) -> bool| batch.requests.iter().any(is_it);
    match operation {
        Operation::Any => true,
        Operation::Acquire => any(|it| matches!(it, Request::Acquire(_) | Request::Attach(_))),
        Operation::Renew => any(|it| matches!(it, Request::Renew(_))),
        Operation::Release => any(|it| matches!(it, Request::Release { .. })),
        Operation::Cancel => any(|it| matches!(it, Request::Cancel { .. })),
        Operation::Configure => any(|it| matches!(it, Request::Configure(_))),
        Operation::Inspect => any(|it| matches!(it, Request::Inspect { .. })),
        _ => false,
    }
}

/// Whether a batch about a queue is such a call.
fn is_in_queue(batch: &queue::Batch, operation: Operation) -> bool {
    use queue::Request;
    let any = |is_it: fn(&Request) -> bool| batch.requests.iter().any(is_it);
    match operation {
        Operation::Any => true,
        Operation::Push => any(|it| matches!(it, Request::Push(_))),
        Operation::Pop => any(|it| matches!(it, Request::Pop(_))),
        Operation::Finish => any(|it| matches!(it, Request::Finish { .. })),
        Operation::RenewDeliveries => any(|it| matches!(it, Request::Renew(_))),
        Operation::Configure => any(|it| matches!(it, Request::Configure(_))),
        Operation::Inspect => any(|it| matches!(it, Request::Inspect { .. })),
        _ => false,
    }
}

fn is_one_of(operation: Operation, wanted: Operation) -> bool {
    operation == wanted || operation == Operation::Any
}

/// An error of this script. It says so, because it may show up in the output of a test.
fn error(kind: StoreErrorKind, certainty: Certainty) -> StoreError {
    StoreError::new(kind, certainty, format!("the script of faults says {kind:?}, {certainty:?}"))
}

fn unheard() -> StoreError {
    error(StoreErrorKind::Unreachable, Certainty::Unknown)
}

/// Makes a call go wrong. `call` sends it; each time that it is called the request arrives once more.
async fn spoil<T, E, F>(
    fault: Option<Fault>,
    call: impl Fn() -> F,
    says: fn(StoreError) -> E,
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
{
    match fault {
        None => call().await,
        Some(Fault::LoseRequest) => Err(says(unheard())),
        Some(Fault::LoseAnswer) => call().await.and_then(|_| Err(says(unheard()))),
        Some(Fault::Delay(time)) => {
            tokio::time::sleep(time).await;
            call().await
        }
        Some(Fault::Repeat) => {
            call().await?;
            call().await
        }
        Some(Fault::Fail(kind)) => Err(says(error(kind, Certainty::NotExecuted))),
        Some(Fault::Silence(time)) => {
            let _ = call().await; // nobody hears what it was
            tokio::time::sleep(time).await;
            Err(says(unheard()))
        }
    }
}

/// What a guarded write says of an error of the store.
fn unwritten(error: StoreError) -> GuardedError {
    match error.certainty() {
        Certainty::Unknown => GuardedError::Unknown(error),
        Certainty::NotExecuted => GuardedError::from(error),
    }
}

impl Between for Faults {
    fn call<'a>(&'a self, store: &'a dyn Store, batch: &'a Batch) -> Answer<'a, Replies> {
        let fault = self.take(|operation| is_in(batch, operation));
        Box::pin(spoil(fault, move || store.call(batch), |error| error))
    }

    /// What is to go wrong is left to [`call`](Between::call), which can wait.
    fn call_in_place(
        &self,
        store: &dyn Store,
        batch: &Batch,
    ) -> Option<Result<Replies, StoreError>> {
        if self.expects(|operation| is_in(batch, operation)) {
            return None;
        }
        store.call_in_place(batch)
    }

    fn call_together<'a>(
        &'a self,
        store: &'a dyn Store,
        batches: &'a [Batch],
    ) -> Answer<'a, Together> {
        let fault = self.take(|operation| is_one_of(operation, Operation::Together));
        Box::pin(spoil(fault, move || in_one_step(store, batches), |error| error))
    }

    fn call_queue<'a>(
        &'a self,
        store: &'a dyn Store,
        batch: &'a queue::Batch,
    ) -> Answer<'a, queue::Replies> {
        let fault = self.take(|operation| is_in_queue(batch, operation));
        Box::pin(spoil(fault, move || store.call_queue(batch), |error| error))
    }

    fn guarded<'a>(&'a self, store: &'a dyn Store, write: &'a GuardedWrite) -> Option<Written<'a>> {
        let first = store.guarded(write)?;
        let Some(fault) = self.take(|operation| is_one_of(operation, Operation::Guarded)) else {
            return Some(first);
        };
        drop(first); // it was not polled, so nothing was sent
        let again = move || store.guarded(write).unwrap_or_else(|| Box::pin(pending()));
        Some(Box::pin(spoil(Some(fault), again, unwritten)))
    }

    fn list<'a>(
        &'a self,
        store: &'a dyn Store,
        prefix: &'a str,
    ) -> Answer<'a, Vec<(Name, Snapshot)>> {
        let fault = self.take(|operation| is_one_of(operation, Operation::Inspect));
        Box::pin(spoil(fault, move || store.list(prefix), |error| error))
    }

    fn list_queues<'a>(
        &'a self,
        store: &'a dyn Store,
        prefix: &'a str,
    ) -> Answer<'a, Vec<(Name, queue::Snapshot)>> {
        let fault = self.take(|operation| is_one_of(operation, Operation::Inspect));
        Box::pin(spoil(fault, move || store.list_queues(prefix), |error| error))
    }

    fn tell(&self, _inbox: Inbox, client: &NewsSender, news: News) {
        let times = match self.take(|operation| operation == Operation::News) {
            None => 1,
            Some(Fault::Repeat) => 2,
            Some(Fault::Delay(time)) => {
                let client = client.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(time).await;
                    let _ = client.send(news); // a client that is gone hears nothing
                });
                return;
            }
            Some(_) => 0,
        };
        for _ in 0..times {
            let _ = client.send(news.clone()); // a client that is gone hears nothing
        }
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
